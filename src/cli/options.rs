//! Options that set variables: what is wrong with a value is said of the option that gave it.

use super::Failure;
use crate::selection::{ConfigurationError, ConfigurationErrors, Location};

/// The errors, with the option in place of each variable that an option of the command line has set, be it what is
/// wrong or named in the message; `options` holds variables, each with its option.
pub fn blamed(errors: ConfigurationErrors, options: &[(String, String)]) -> ConfigurationErrors {
    let option_of = |name: &str| options.iter().find(|(variable, _)| variable == name).map(|(_, option)| &**option);
    let blamed = |error: ConfigurationError| {
        let place = match error.place {
            Location::Variable(name) => Location::Variable(option_of(&name).map_or(name, str::to_owned)),
            place => place,
        };
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        // Names and what stands between them, in turn.
        let parts = error.message.split_inclusive(|character| !is_of_name(character)).map(|part| {
            let name = part.trim_end_matches(|character| !is_of_name(character));
            option_of(name).map_or_else(|| part.to_owned(), |option| part.replacen(name, option, 1))
        });
        ConfigurationError { message: parts.collect(), place }
    };
    ConfigurationErrors(errors.0.into_iter().map(blamed).collect())
}

/// What is said of an option without a value: an environment's value would give way to nothing.
pub fn empty(option: &str) -> Failure {
    Failure::usage(format!("{option}: found nothing; accepted: a value, or no {option} at all"))
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

    #[test]
    fn options_are_named_in_messages_as_well() {
        let error = ConfigurationError::variable("COLLIE_TRACE", "'a_COLLIE_REPORT' is the file of COLLIE_REPORT; é");
        let options = [("COLLIE_REPORT".to_owned(), "--report".to_owned())];
        let errors = blamed(ConfigurationErrors(vec![error]), &options);
        assert_eq!(errors.to_string(), "COLLIE_TRACE: 'a_COLLIE_REPORT' is the file of --report; é");
    }
}
