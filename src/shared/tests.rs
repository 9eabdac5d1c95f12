//! Tests of what needs the atomics of the standard library: where files are compiled against loom, these are not.

use super::chunks::Chunks;

/// Bytes of a message, and of its chunks, of which there are sixteen.
const LENGTH: usize = 16 * CHUNK;
const CHUNK: usize = 256 << 10;

#[test]
fn each_chunk_is_taken_once_and_only_of_the_message_that_is_open() {
    let (chunks, length) = (Chunks::new(), LENGTH);
    assert_eq!(chunks.take(7, length, 1), None);
    chunks.open(7, 4096);
    assert_eq!((chunks.take(6, length, 1), chunks.take(8, length, 1), chunks.wanted_at()), (None, None, 4096));
    let taken: Vec<_> = std::iter::from_fn(|| chunks.take(7, length, 1)).map(|chunk| chunk.at).collect();
    assert!(taken.into_iter().eq((0..16).map(|number| number * CHUNK)));
    assert_eq!(chunks.take(7, length, 1), None);

    chunks.open(8, 4096);
    let [some, one, rest] = [5, 1, 20].map(|most| chunks.take(8, length, most).unwrap());
    assert!(one.follows(some) && rest.follows(one) && !rest.follows(some));
    assert_eq!([some.at, one.at, rest.at], [0, 5 * CHUNK, 6 * CHUNK]);
    assert_eq!([some.length, one.length, rest.length], [5 * CHUNK, CHUNK, 10 * CHUNK]);
    assert_eq!((rest.number, chunks.take(8, length, 1)), (10, None));
}

#[test]
fn what_is_not_written_is_told() {
    let (chunks, length) = (Chunks::new(), LENGTH);
    for message in [7, 9] {
        chunks.open(message, 4096);
        let [first, second, third] = std::array::from_fn(|_| chunks.take(message, length, 1).unwrap());
        assert!(!chunks.are_written(message, length, 15) && chunks.are_written(message, length, 16));
        chunks.tell(message, second, true);
        assert!(chunks.are_written(message, length, 15) && !chunks.are_written(message, length, 14));
        assert_eq!(chunks.failed(message, length), None);
        chunks.tell(message, first, false);
        assert_eq!(chunks.failed(message, length), Some(first));
        chunks.tell(message, third, true);
        assert!(chunks.are_written(message, length, 14));
    }
}
