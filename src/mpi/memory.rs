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

/// Calls that a pool looks back on: what none of them needed is given back.
const REMEMBERED: u32 = 64;

/// What a pool holds at most between calls: longer ones are rare, and take long beside what getting memory anew costs them.
const KEPT: usize = 64 << 20;

/// A thread's pool. Pieces stay where they are until [`Pool::clear`].
#[derive(Default)]
pub struct Pool {
    chunks: Vec<Chunk>,
    /// Most bytes that a call needed of late, and over how many calls.
    most: usize,
    calls: u32,
}

impl Pool {
    /// An empty pool.
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), most: 0, calls: 0 }
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

    /// Takes all pieces back. What was spread over several chunks becomes one, so that the next such call needs one;
    /// and of a chunk of which the last calls needed less than half, the other half goes.
    pub fn clear(&mut self) {
        let needed = self.chunks.iter().map(|chunk| chunk.used).sum();
        self.most = self.most.max(needed);
        self.calls += 1;
        let total: usize = self.chunks.iter().map(|chunk| chunk.bytes).sum();
        if self.calls == REMEMBERED {
            let most = self.most.max(SMALLEST);
            (self.most, self.calls) = (0, 0);
            if total / 2 > most {
                return self.replace(most);
            }
        }
        if self.chunks.len() > 1 {
            return self.replace(total);
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.used = 0;
        }
    }

    /// The call is over: what a program could do without between its calls is given back, all pieces with it.
    #[inline]
    pub fn settle(&mut self) {
        if self.chunks.iter().map(|chunk| chunk.bytes).sum::<usize>() > KEPT {
            self.chunks.clear();
        }
    }

    /// One chunk in place of all; the old ones go first, so that the two are not there at once.
    #[cold]
    fn replace(&mut self, bytes: usize) {
        self.chunks.clear();
        self.chunks.push(Chunk::new(bytes));
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

    #[test]
    fn what_a_very_long_call_needed_is_given_back_at_its_end() {
        let mut pool = Pool::new();
        pool.take(KEPT);
        pool.settle();
        assert_eq!(pool.chunks.len(), 1, "no more than may be kept");
        pool.take(1);
        pool.settle();
        assert!(pool.chunks.is_empty());
        pool.take(8);
        pool.settle();
        assert_eq!(pool.chunks[0].bytes, SMALLEST);
    }

    #[test]
    fn what_calls_no_longer_need_is_given_back() {
        let mut pool = Pool::new();
        let held = |pool: &Pool| pool.chunks.iter().map(|chunk| chunk.bytes).sum::<usize>();
        let call = |pool: &mut Pool, bytes: &[usize]| {
            pool.clear();
            for bytes in bytes {
                pool.take(*bytes);
            }
        };
        call(&mut pool, &[1 << 28]);
        for _ in 0..REMEMBERED {
            call(&mut pool, &[1000, 1 << 20]);
        }
        assert_eq!(held(&pool), 1 << 28, "the long call is one of those looked back on");
        for _ in 0..REMEMBERED {
            call(&mut pool, &[1000, 1 << 20]);
        }
        assert!(held(&pool) <= 2 << 20, "{}", held(&pool));
        // A long call now and then keeps its room.
        for round in 0..4 * REMEMBERED {
            call(&mut pool, &[if round % REMEMBERED == 0 { 1 << 24 } else { 8 }]);
            assert!(held(&pool) >= 1 << 20);
        }
        assert!((1 << 24..2 << 24).contains(&held(&pool)), "{}", held(&pool));
    }
}
