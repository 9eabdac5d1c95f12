//! Reading another rank's memory (`process_vm_readv`), where the system lets this process.

use std::mem::size_of;

/// What a rank shows of itself in the segment, so that others find out whether they can read its memory.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Shown {
    process: u64,
    /// Where the words are that they have to find there.
    at: u64,
}

/// Words that nobody else has, at one place in memory as long as this lasts.
#[derive(Debug)]
pub struct Proof(Box<[u64; 2]>);

/// The words of a rank of the segment with this token. Each rank has its own: where ranks share `/dev/shm` but number
/// processes apart, another rank may be meant by a number, and may have its words at the same address.
const fn words(token: [u64; 2], rank: usize) -> [u64; 2] {
    [token[0], token[1].wrapping_add(rank as u64)]
}

impl Proof {
    /// Of rank `rank` of the segment with this token.
    pub fn of(token: [u64; 2], rank: usize) -> Self {
        Self(Box::new(words(token, rank)))
    }

    /// What others are shown.
    pub fn shown(&self) -> Shown {
        Shown { process: std::process::id().into(), at: self.0.as_ptr() as u64 }
    }
}

/// How a rank reads what another one lends it.
#[derive(Clone, Copy, Debug)]
pub struct Borrower {
    /// The other process; 0 if its memory cannot be read.
    process: libc::pid_t,
}

impl Borrower {
    /// Of rank `rank` of the segment with this token, which shows this, if its memory can be read: by its number
    /// another process may be meant in this namespace, which does not have that rank's words there.
    pub fn of(shown: &Shown, token: [u64; 2], rank: usize) -> Self {
        let borrower = Self { process: shown.process as libc::pid_t };
        let mut found = [0u64; 2];
        // SAFETY: there is room for as many bytes.
        let read = unsafe { borrower.read(shown.at, found.as_mut_ptr().cast(), size_of::<[u64; 2]>()) };
        if read && found == words(token, rank) { borrower } else { Self { process: 0 } }
    }

    /// Whether it is.
    pub const fn can_read(&self) -> bool {
        self.process != 0
    }

    /// Reads `length` bytes at `from` in the other rank's memory; whether all of them were read.
    ///
    /// # Safety
    /// There is room for as many bytes at `into`.
    pub unsafe fn read(&self, from: u64, into: *mut u8, length: usize) -> bool {
        if !self.can_read() {
            return false;
        }
        let mut done = 0;
        while done < length {
            let own = libc::iovec { iov_base: into.wrapping_add(done).cast(), iov_len: length - done };
            let other = libc::iovec { iov_base: (from as usize + done) as *mut libc::c_void, iov_len: length - done };
            // SAFETY: the caller's promise; the other process's memory is only read.
            let read = unsafe { libc::process_vm_readv(self.process, &own, 1, &other, 1, 0) };
            match usize::try_from(read) {
                Ok(read) if read > 0 => done += read,
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_rank_of_the_segment_is_not_taken_for_the_one_that_is_meant() {
        let (token, ranks) = ([5, u64::MAX], 0..4);
        let proofs: Vec<_> = ranks.clone().map(|rank| Proof::of(token, rank)).collect();
        for (number, proof) in proofs.iter().enumerate() {
            for rank in ranks.clone() {
                // As if that rank showed this process and this address.
                assert_eq!(Borrower::of(&proof.shown(), token, rank).can_read(), rank == number);
            }
        }
    }

    #[test]
    fn own_memory_is_read_and_that_of_others_only_with_the_right_words() {
        let proof = Proof::of([5, 6], 3);
        let borrower = Borrower::of(&proof.shown(), [5, 6], 3);
        assert!(borrower.can_read(), "a process may read its own memory");
        let (from, mut into) = ([1u8, 2, 3], [0u8; 3]);
        // SAFETY: there is room for three bytes.
        assert!(unsafe { borrower.read(from.as_ptr() as u64, into.as_mut_ptr(), 3) });
        assert_eq!(into, from);
        // SAFETY: as above.
        assert!(!unsafe { borrower.read(8, into.as_mut_ptr(), 3) });
        assert!(!Borrower::of(&proof.shown(), [5, 7], 3).can_read());
        assert!(!Borrower::of(&Shown { process: u64::from(u32::MAX >> 1), at: 8 }, [5, 6], 3).can_read());
    }
}
