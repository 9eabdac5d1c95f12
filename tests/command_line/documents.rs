//! What `scripts/docs` writes is as the command prints it now.

use crate::started::{collie, printed};

/// A file of the repository.
fn page(name: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_page_of_algorithms_is_current() {
    let current = printed(&mut collie(&["list", "--markdown"]));
    assert!(page("docs/algorithms.md") == current, "docs/algorithms.md is out of date; scripts/docs writes it anew");
}

#[test]
fn the_pictures_are_current() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed(&mut collie(&["list", "--pictures", &folder.path().to_string_lossy()])), "");
    let names = |folder: &std::path::Path| {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.collect::<std::collections::BTreeSet<_>>()
    };
    let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    assert_eq!(names(&kept), names(folder.path()), "scripts/docs writes docs/pictures anew");
    for name in names(folder.path()) {
        let current = std::fs::read_to_string(folder.path().join(&name)).unwrap();
        assert!(
            page(&format!("docs/pictures/{name}")) == current,
            "{name} is out of date; scripts/docs writes it anew"
        );
        assert!(page("docs/algorithms.md").contains(&format!("(pictures/{name})")), "{name} is not shown");
    }
}

#[test]
fn the_variables_in_the_readme_are_current() {
    let readme = page("README.md");
    let (_, rest) = readme.split_once("<!-- variables -->\n").expect("the README has a section of variables");
    let (section, _) = rest.split_once("<!-- /variables -->").expect("the section of variables ends");
    let current = printed(&mut collie(&["help", "env", "--markdown"]));
    assert!(section.trim() == current.trim(), "the README's variables are out of date; scripts/docs writes them anew");
}
