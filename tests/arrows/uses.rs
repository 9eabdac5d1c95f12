//! Which file needs which.

use crate::modules::{Modules, Names};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result};

/// One file needs another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The file, relative to `src`.
    pub from: String,
    /// The file that it needs.
    pub to: String,
    /// One of the paths by which it does.
    pub because: String,
}

impl Display for Arrow {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} -> {}: {}", self.from, self.to, self.because)
    }
}

/// All arrows between different files, each pair of files once.
pub fn arrows(modules: &Modules) -> Vec<Arrow> {
    let mut all = BTreeSet::new();
    for (path, module) in &modules.0 {
        let mut named = module.used.clone();
        module.items.iter().for_each(|item| paths(item, &mut named));
        for name in named {
            let outside = modules.defining(path, &name).filter(|file| **file != module.file);
            if let Some(to) = outside {
                let (from, because) = (module.file.clone(), name.join("::"));
                all.insert(Arrow { from, to: to.to_owned(), because });
            }
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.dedup_by(|one, other| (&one.from, &one.to) == (&other.from, &other.to));
    all
}

/// Every path of several names in a row of tokens, the arguments of macros and their definitions included.
fn paths(tokens: &TokenStream, found: &mut BTreeSet<Names>) {
    let mut path = Names::new();
    // Colons since the last name.
    let mut colons = 0;
    let mut end = |path: &mut Names| {
        if path.len() > 1 {
            found.insert(std::mem::take(path));
        }
        path.clear();
    };
    let mut groups = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    end(&mut path);
                }
                // What begins with colons is of another crate.
                if colons != 2 || !path.is_empty() {
                    path.push(name.to_string());
                }
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
            other => {
                end(&mut path);
                colons = 0;
                if let TokenTree::Group(group) = other {
                    groups.push(group.stream());
                }
            }
        }
    }
    end(&mut path);
    groups.iter().for_each(|group| paths(group, found));
}
