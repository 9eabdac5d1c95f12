//! Every set of kernels gives the same bits as one element at a time, for every length, misalignment and overlap.

use super::values;
use crate::{Element, Kernel, Op, arch};

/// Which operand `out` is.
#[derive(Clone, Copy, Debug)]
enum Out {
    Apart,
    Left,
    Right,
    Both,
}

/// Bytes in front of and behind every buffer; they must stay as they are.
const GUARD: usize = 64;
const UNTOUCHED: u8 = 0x5a;

/// A buffer that starts `offset` bytes after a multiple of 64, with guards around it.
struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    fn new(contents: &[u8], offset: usize) -> Self {
        let mut memory = vec![UNTOUCHED; contents.len() + 3 * GUARD + offset];
        let start = memory.as_ptr().align_offset(64) + GUARD + offset;
        memory[start..start + contents.len()].copy_from_slice(contents);
        Self { memory, start, len: contents.len() }
    }

    fn contents(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    fn pointer(&mut self) -> *mut u8 {
        self.memory[self.start..].as_mut_ptr()
    }

    fn guards_untouched(&self) -> bool {
        let (front, behind) = (&self.memory[..self.start], &self.memory[self.start + self.len..]);
        front.iter().chain(behind).all(|byte| *byte == UNTOUCHED)
    }
}

/// What the kernel makes of the operands, each as far from alignment as `offsets` says.
fn run(kernel: Kernel, element: Element, left: &[u8], right: &[u8], out: Out, offsets: [usize; 3]) -> Vec<u8> {
    let elements = left.len() / element.size();
    let mut left = Buffer::new(left, offsets[0]);
    let mut right = Buffer::new(right, offsets[1]);
    let mut apart = Buffer::new(&vec![0; left.len], offsets[2]);
    let (first, second) = (left.pointer(), right.pointer());
    let (second, target) = match out {
        Out::Apart => (second, apart.pointer()),
        Out::Left => (second, first),
        Out::Right => (second, second),
        Out::Both => (first, first),
    };
    // SAFETY: each buffer holds `elements` elements; the target is an operand or a buffer of its own.
    unsafe { kernel(first, second, target, elements) };
    assert!(left.guards_untouched() && right.guards_untouched() && apart.guards_untouched());
    match out {
        Out::Apart => apart,
        Out::Left | Out::Both => left,
        Out::Right => right,
    }
    .contents()
    .to_vec()
}

/// The baseline kernel on one element at a time, which leaves the compiler nothing to vectorise.
fn one_by_one(op: Op, element: Element, left: &[u8], right: &[u8]) -> Vec<u8> {
    let baseline = arch::available().last().expect("the baseline").table.get(op, element).expect("MPI allows it");
    let mut out = vec![0; left.len()];
    let size = element.size();
    for ((left, right), out) in left.chunks(size).zip(right.chunks(size)).zip(out.chunks_mut(size)) {
        // SAFETY: three separate elements.
        unsafe { baseline(left.as_ptr(), right.as_ptr(), out.as_mut_ptr(), 1) };
    }
    out
}

fn assert_same(element: Element, found: &[u8], wanted: &[u8], context: &dyn std::fmt::Debug) {
    let size = element.size();
    assert_eq!(found.len(), wanted.len());
    // The common case, much faster than element by element; padding may still differ.
    if found == wanted {
        return;
    }
    for (i, (found, wanted)) in found.chunks(size).zip(wanted.chunks(size)).enumerate() {
        assert!(values::same(element, found, wanted), "{context:?}: element {i} is {found:x?}, not {wanted:x?}");
    }
}

/// Words that look random, the same in every run (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014).
fn words(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// Every short length, and those around the widths that unrolled vector loops step by.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=130).chain([191, 192, 193, 255, 256, 257, 383, 511, 512, 513, 1023, 1025])
}

#[test]
fn every_set_agrees_with_one_element_at_a_time() {
    let longest = lengths().max().expect("some");
    for (op, element) in super::combinations() {
        let mut word = words(op as u64 * 64 + element as u64);
        let mut fill = || -> Vec<u8> { (0..longest).flat_map(|_| values::element(element, &mut word)).collect() };
        let (left, right) = (fill(), fill());
        let wanted = one_by_one(op, element, &left, &right);
        let squared = one_by_one(op, element, &left, &left);
        for set in arch::available() {
            let kernel = set.table.get(op, element).expect("MPI allows it");
            for bytes in lengths().map(|length| length * element.size()) {
                for out in [Out::Apart, Out::Left, Out::Right, Out::Both] {
                    let wanted = if matches!(out, Out::Both) { &squared } else { &wanted };
                    for offsets in [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 4], [8, 24, 40], [3, 5, 7], [63, 31, 17]] {
                        let found = run(kernel, element, &left[..bytes], &right[..bytes], out, offsets);
                        let context = (set.name, op, element, bytes / element.size(), out, offsets);
                        assert_same(element, &found, &wanted[..bytes], &context);
                    }
                }
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn every_set_agrees_on_any_values(
        seed: u64,
        length in 0usize..200,
        offsets in proptest::array::uniform3(0usize..64),
        out in proptest::sample::select(vec![Out::Apart, Out::Left, Out::Right]),
    ) {
        let mut word = words(seed);
        for (op, element) in super::combinations() {
            let mut fill = || -> Vec<u8> { (0..length).flat_map(|_| values::element(element, &mut word)).collect() };
            let (left, right) = (fill(), fill());
            let wanted = one_by_one(op, element, &left, &right);
            for set in arch::available() {
                let kernel = set.table.get(op, element).expect("MPI allows it");
                let found = run(kernel, element, &left, &right, out, offsets);
                assert_same(element, &found, &wanted, &(set.name, op, element, out));
            }
        }
    }
}
