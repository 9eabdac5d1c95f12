//! Options that set variables: what is wrong with a value is said of the option that gave it.

use crate::selection::{ConfigurationError, ConfigurationErrors, Location};

/// The errors, those of a variable that an option of the command line has set as that option's; `options` holds
/// variables, each with its option.
pub fn blamed(errors: ConfigurationErrors, options: &[(String, String)]) -> ConfigurationErrors {
    let blamed = |error: ConfigurationError| {
        let Location::Variable(found) = &error.place else { return error };
        let option = options.iter().find(|(variable, _)| variable == found);
        option.map(|(_, option)| ConfigurationError::variable(option, &*error.message)).unwrap_or(error)
    };
    ConfigurationErrors(errors.0.into_iter().map(blamed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_options_set_is_blamed_on_them() {
        let errors = ["COLLIE_RULES", "COLLIE_MODE"].map(|name| ConfigurationError::variable(name, "wrong"));
        let options = [("COLLIE_RULES".to_owned(), "--rules".to_owned())];
        let errors = blamed(ConfigurationErrors(errors.to_vec()), &options);
        assert_eq!(errors.to_string(), "--rules: wrong\nCOLLIE_MODE: wrong");
    }
}
