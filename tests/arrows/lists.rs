//! What the documentation of a module says of the modules inside.

use crate::modules::is_for_tests;
use syn::{Expr, ExprLit, Item, Lit, Meta};

/// The modules that a file declares and that its documentation, where it lists modules, does not name. Those of tests
/// need no name.
pub fn left_out(text: &str) -> Vec<String> {
    let file = syn::parse_file(text).expect("it is Rust");
    let lines = file.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value()),
            _ => None,
        },
        _ => None,
    });
    let documentation = lines.collect::<Vec<_>>().join("\n");
    let declared: Vec<String> = file.items.iter().filter_map(declared).collect();
    let is_named = |name: &String| ["", "mod@"].iter().any(|is| documentation.contains(&format!("`{is}{name}`")));
    // Lists say that they are one, or have a line for each module or several.
    let is_list = documentation.contains("odules in reading order")
        || declared.iter().any(|name| documentation.contains(&format!("\n * [`{name}`]")));
    if is_list { declared.into_iter().filter(|name| !is_named(name)).collect() } else { Vec::new() }
}

/// The name of a module that is in a file of its own and not for tests.
fn declared(item: &Item) -> Option<String> {
    match item {
        Item::Mod(inner) if inner.content.is_none() && !is_for_tests(&inner.attrs) => Some(inner.ident.to_string()),
        _ => None,
    }
}

#[test]
fn a_module_that_a_list_leaves_out_is_found() {
    let modules = "pub mod a; mod b; mod c; #[cfg(test)] mod tests; mod inner { }";
    assert_eq!(left_out(&format!("//! Text.\n//!\n//! * [`a`]: one; `b`: two.\n{modules}")), ["c"]);
    assert_eq!(left_out(&format!("//! Modules in reading order: [`mod@a`], then `c`.\n{modules}")), ["b"]);
    assert!(left_out(&format!("//! What `a` is for.\n{modules}")).is_empty());
}
