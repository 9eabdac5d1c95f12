//! The modules of a crate, and what their names stand for.

use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Item, UseTree};

/// Names, outermost first; those of a module's path begin below the crate.
pub type Names = Vec<String>;

/// A module: that of a file, or one inside a file.
#[derive(Default)]
pub struct Module {
    /// The file that it is in, relative to `src`.
    pub file: String,
    /// What it brings into scope by another path: the name, and the path as written.
    pub aliases: BTreeMap<String, Names>,
    /// Modules that it brings all names of into scope.
    pub globs: Vec<Names>,
    /// What its `use` lines name, each in full.
    pub used: BTreeSet<Names>,
    /// What it holds besides modules and `use` lines.
    pub items: Vec<proc_macro2::TokenStream>,
}

/// All modules of a crate by their paths.
pub struct Modules(pub BTreeMap<Names, Module>);

impl Modules {
    /// Of these files, by their paths relative to `src`.
    ///
    /// # Panics
    /// If one of them is not Rust.
    pub fn of(sources: &BTreeMap<String, String>) -> Self {
        let mut modules = Self(BTreeMap::new());
        let mut exempt = Vec::new();
        for (name, text) in sources {
            let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            modules.add(path_of(name), name, &file.items, &mut exempt);
        }
        modules.0.retain(|path, _| !exempt.iter().any(|exempt: &Names| path.starts_with(exempt)));
        modules
    }

    fn add(&mut self, path: Names, file: &str, items: &[Item], exempt: &mut Vec<Names>) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items {
            match item {
                Item::Mod(inner) => {
                    let below = [path.as_slice(), &[inner.ident.to_string()]].concat();
                    if is_for_tests(&inner.attrs) {
                        exempt.push(below.clone());
                    }
                    if let Some((_, items)) = &inner.content {
                        self.add(below, file, items, exempt);
                    }
                }
                Item::Use(item) => {
                    let is_public = !matches!(item.vis, syn::Visibility::Inherited);
                    if !is_for_tests(&item.attrs) {
                        module.bring(&item.tree, &mut Vec::new(), is_public);
                    }
                }
                Item::Fn(function) if is_for_tests(&function.attrs) => {}
                item => module.items.push(item.to_token_stream()),
            }
        }
        self.0.insert(path, module);
    }

    /// The module that a path means in module `at`.
    fn module(&self, at: &Names, path: &[String]) -> Option<Names> {
        let (mut module, mut path) = (at.clone(), path);
        while let [first, rest @ ..] = path {
            match first.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => _ = module.pop()?,
                name => module.push(name.to_owned()),
            }
            path = rest;
        }
        self.0.contains_key(&module).then_some(module)
    }

    /// The file that defines what a path means in module `at`; `None` for what is of another crate, or is a module.
    pub fn defining(&self, at: &Names, path: &[String]) -> Option<&str> {
        let mut search = Search { modules: self, tried: BTreeSet::new() };
        search.find(at, path, false)
    }
}

struct Search<'a> {
    modules: &'a Modules,
    /// Names may stand for each other, and modules may bring each other's names into scope.
    tried: BTreeSet<(Names, Names)>,
}

impl<'a> Search<'a> {
    /// `named`: the path has named module `at`, so that what is not found there must be made there by a macro.
    fn find(&mut self, at: &Names, path: &[String], named: bool) -> Option<&'a str> {
        if !self.tried.insert((at.clone(), path.to_vec())) {
            return None;
        }
        let module = &self.modules.0[at];
        let [first, rest @ ..] = path else { return None };
        match first.as_str() {
            "*" => return Some(&module.file),
            // By its name in the programs.
            "crate" | "collie" => return self.find(&Names::new(), rest, true),
            "self" => return self.find(at, rest, true),
            "super" => return self.find(&at[..at.len().checked_sub(1)?].to_vec(), rest, true),
            _ => {}
        }
        let below = [at.as_slice(), std::slice::from_ref(first)].concat();
        // A function may have the name of the module that it comes out of.
        let is_module = self.modules.0.contains_key(&below);
        if is_module && !(rest.is_empty() && module.aliases.contains_key(first)) {
            return self.find(&below, rest, true);
        }
        if let Some(meant) = module.aliases.get(first) {
            return match meant.as_slice() {
                // A macro that is made visible under its own name is the module's own.
                [own] if own == first => Some(&module.file),
                // Out of another crate, by the name of that crate.
                [own, ..] if own == first && !is_module => None,
                meant => self.find(at, &[meant, rest].concat(), false),
            };
        }
        if module.defines(first) {
            return Some(&module.file);
        }
        let brought = module.globs.iter().find_map(|glob| self.brought(at, glob, path));
        brought.or(named.then_some(module.file.as_str()))
    }

    /// The same for a name that may be one of those that a glob brings into scope.
    fn brought(&mut self, at: &Names, glob: &Names, path: &[String]) -> Option<&'a str> {
        let from = self.modules.module(at, glob)?;
        self.find(&from, path, false)
    }
}

impl Module {
    /// Whether an item of that name stands in it.
    fn defines(&self, name: &str) -> bool {
        self.items.iter().any(|item| {
            let mut tokens = item.clone().into_iter().skip_while(|token| {
                // Attributes and visibility, up to the word that says what it is; then the name.
                !matches!(token, proc_macro2::TokenTree::Ident(word) if KINDS.contains(&word.to_string().as_str()))
            });
            tokens.any(|token| matches!(token, proc_macro2::TokenTree::Ident(word) if word == name))
        })
    }

    /// Brings what a `use` line names into scope.
    fn bring(&mut self, tree: &UseTree, before: &mut Names, is_public: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.bring(&path.tree, before, is_public);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.bring(tree, before, is_public)),
            UseTree::Glob(_) => {
                if !is_public {
                    self.used.insert([before.as_slice(), &["*".to_owned()]].concat());
                }
                self.globs.push(before.clone());
            }
            UseTree::Name(name) => self.alias(&name.ident.to_string(), &name.ident.to_string(), before, is_public),
            UseTree::Rename(name) => self.alias(&name.rename.to_string(), &name.ident.to_string(), before, is_public),
        }
    }

    fn alias(&mut self, name: &str, meant: &str, before: &Names, is_public: bool) {
        let (name, meant) = match meant {
            // `use a::{self, b}`
            "self" => {
                (before.last().map_or(name, |last| if name == "self" { last } else { name }).to_owned(), before.clone())
            }
            _ => (name.to_owned(), [before.as_slice(), &[meant.to_owned()]].concat()),
        };
        if !is_public {
            self.used.insert(meant.clone());
        }
        self.aliases.insert(name, meant);
    }
}

const KINDS: [&str; 10] =
    ["const", "enum", "fn", "macro_rules", "static", "struct", "trait", "type", "union", "extern"];

/// `call/mod.rs` and `call.rs` are module `call`, `lib.rs` the crate.
fn path_of(file: &str) -> Names {
    let mut names: Names = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if names.last().is_some_and(|last| last == "mod") || names == ["lib"] {
        names.pop();
    }
    names
}

/// Whether something is there in tests only: `#[test]`, or `test` in what it is compiled for.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.to_token_stream().to_string();
        text == "test"
            || text.starts_with("cfg") && text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
    })
}
