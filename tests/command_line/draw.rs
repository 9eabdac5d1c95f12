//! `collie draw`: a picture, or why there is none.

use crate::started::{collie, failed, file, printed};

#[test]
fn draw_writes_a_picture_or_says_why_not() {
    let (_folder, path) = file("fibonacci.svg", "");
    assert_eq!(printed(&mut collie(&["draw", "reduce", "fibonacci", "--ranks", "7", "-o", &path])), "");
    let drawing = std::fs::read_to_string(&path).unwrap();
    assert!(
        drawing.starts_with("<svg ") && drawing.contains("Fibonacci") && drawing.ends_with("</svg>\n"),
        "{drawing}"
    );
    let same = printed(&mut collie(&["draw", "reduce", "fibonacci", "--ranks", "7"]));
    assert_eq!(same, drawing);
    let (code, why) = failed(&mut collie(&["draw", "allgather", "neighbor_exchange", "--ranks", "7"]));
    assert_eq!(code, 1);
    assert!(why.contains("needs an even number of ranks, not 7"), "{why}");
}
