//! `include/collie.h` is what cbindgen makes of the functions that the library exports for programs.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let configuration = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml can be read");
    let bindings = cbindgen::Builder::new()
        .with_config(configuration)
        .with_src(root.join("src/entry/control.rs"))
        .generate()
        .expect("the functions for programs can be told in C");
    let mut made = Vec::new();
    bindings.write(&mut made);
    let path = root.join("include/collie.h");
    if std::env::var_os("COLLIE_TEST_WRITE").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let found = std::fs::read(&path).expect("include/collie.h is there");
    let advice = "include/collie.h is not current; run COLLIE_TEST_WRITE=1 cargo test --test header";
    assert!(found == made, "{advice}");
}
