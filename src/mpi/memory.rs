//! Working memory of a call: taken from a pool that each thread keeps, so that after the first calls nothing is
//! allocated and no page is touched for the first time.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Cache lines are not shared between pieces, and vector loads of scratch are aligned.
const ALIGNMENT: usize = 64;
/// The first chunk: enough for the small calls that make up most of a program.
const SMALLEST: usize = 64 << 10;

struct Chunk {
    memory: NonNull<u8>,
    bytes: usize,
    used: usize,
}

impl Chunk {
    fn new(bytes: usize) -> Self {
        let layout = Self::layout(bytes);
        // SAFETY: the layout has a non-zero size.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        Self { memory, bytes, used: 0 }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGNMENT).expect("no call needs half the address space")
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, freed once.
        unsafe { dealloc(self.memory.as_ptr(), Self::layout(self.bytes)) }
    }
}

/// A thread's pool. Pieces stay where they are until [`Pool::clear`].
#[derive(Default)]
pub struct Pool {
    chunks: Vec<Chunk>,
}

impl Pool {
    /// An empty pool.
    pub const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    /// `bytes` bytes, contents undefined, aligned to a cache line, valid until the pool is cleared.
    pub fn take(&mut self, bytes: usize) -> *mut u8 {
        let bytes = bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        if self.chunks.last().is_none_or(|chunk| chunk.bytes - chunk.used < bytes) {
            self.chunks.push(Chunk::new(bytes.max(SMALLEST)));
        }
        let chunk = self.chunks.last_mut().expect("just made sure of");
        // SAFETY: the chunk has that many bytes left.
        let piece = unsafe { chunk.memory.as_ptr().add(chunk.used) };
        chunk.used += bytes;
        piece
    }

    /// Takes all pieces back. What was spread over several chunks becomes one, so that the next such call needs one.
    pub fn clear(&mut self) {
        if self.chunks.len() > 1 {
            let total = self.chunks.iter().map(|chunk| chunk.bytes).sum();
            self.chunks.clear();
            self.chunks.push(Chunk::new(total));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_are_aligned() {
        let mut pool = Pool::new();
        for round in 0..3 {
            let pieces: Vec<_> = [1, 64, 100_000, 3, 1 << 20].map(|bytes| (pool.take(bytes) as usize, bytes)).into();
            for (place, (start, bytes)) in pieces.iter().enumerate() {
                assert_eq!(start % ALIGNMENT, 0, "round {round}");
                for (other, other_bytes) in &pieces[..place] {
                    assert!(start + bytes <= *other || other + other_bytes <= *start);
                }
            }
            pool.clear();
            assert_eq!(pool.chunks.len(), 1);
        }
    }
}
