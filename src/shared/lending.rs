//! Reading another rank's memory and writing to it (`process_vm_readv`, `process_vm_writev`), where the system lets this
//! process.

use std::io::Error;
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

/// Another rank's memory.
#[derive(Clone, Copy, Debug)]
pub struct PeerMemory {
    /// The other process; 0 if its memory cannot be read.
    process: libc::pid_t,
    /// Where it has its proof.
    at: u64,
}

/// Why something was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The process has ended, whether or not its parent has asked for that.
    Ended,
    /// Nothing of that process's memory is.
    Refused,
    /// This was not: memory that the system copies nothing out of or into, as a device's, or none was free.
    NotThis,
}

/// `process_vm_readv` or `process_vm_writev`.
type Copies = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> isize;

impl Failure {
    /// By what the system says.
    fn of(error: &Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EFAULT | libc::ENOMEM) => Self::NotThis,
            Some(libc::ESRCH) => Self::Ended,
            _ => Self::Refused,
        }
    }
}

impl PeerMemory {
    /// Of rank `rank` of the segment with this token, which shows this, if its memory can be read: by its number
    /// another process may be meant in this namespace, which does not have that rank's words there.
    pub fn of(shown: &Shown, token: [u64; 2], rank: usize) -> Self {
        let memory = Self { process: shown.process as libc::pid_t, at: shown.at };
        let mut found = [0u64; 2];
        // SAFETY: there is room for as many bytes.
        let read = unsafe { memory.read(shown.at, found.as_mut_ptr().cast(), size_of::<[u64; 2]>()) };
        if read.is_ok() && found == words(token, rank) { memory } else { Self { process: 0, at: 0 } }
    }

    /// Whether it is.
    pub const fn can_read(&self) -> bool {
        self.process != 0
    }

    /// Reads `length` bytes at `from` in the other rank's memory.
    ///
    /// # Errors
    /// Not all of them were read.
    ///
    /// # Safety
    /// There is room for as many bytes at `into`.
    pub unsafe fn read(&self, from: u64, into: *mut u8, length: usize) -> Result<(), Failure> {
        // SAFETY: the caller's promise; the other process's memory is only read.
        unsafe { self.copy(libc::process_vm_readv, into, from, length) }
    }

    /// Writes `length` bytes from `from` to `into` in the other rank's memory.
    ///
    /// # Errors
    /// Not all of them were written.
    ///
    /// # Safety
    /// There are as many bytes at `from`, and the other rank, which lives, has given the room at `into` to be written.
    pub unsafe fn write(&self, from: *const u8, into: u64, length: usize) -> Result<(), Failure> {
        // SAFETY: the caller's promise; the own memory is only read.
        unsafe { self.copy(libc::process_vm_writev, from.cast_mut(), into, length) }
    }

    /// Copies between `own` and `other` in the other rank's memory.
    ///
    /// # Errors
    /// Not all was copied.
    ///
    /// # Safety
    /// As `copies` needs it.
    unsafe fn copy(&self, copies: Copies, own: *mut u8, other: u64, length: usize) -> Result<(), Failure> {
        if !self.can_read() {
            return Err(Failure::Refused);
        }
        let mut done = 0;
        while done < length {
            let here = libc::iovec { iov_base: own.wrapping_add(done).cast(), iov_len: length - done };
            let there = libc::iovec { iov_base: (other as usize + done) as *mut libc::c_void, iov_len: length - done };
            // SAFETY: the caller's promise.
            let copied = unsafe { copies(self.process, &here, 1, &there, 1, 0) };
            match usize::try_from(copied) {
                Ok(copied) if copied > 0 => done += copied,
                _ => return Err(Failure::of(&Error::last_os_error())),
            }
        }
        Ok(())
    }

    /// Whether the other process has ended.
    pub fn has_ended(&self) -> bool {
        let mut byte = 0;
        // SAFETY: there is room for one byte.
        unsafe { self.read(self.at, &mut byte, 1) == Err(Failure::Ended) }
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
                assert_eq!(PeerMemory::of(&proof.shown(), token, rank).can_read(), rank == number);
            }
        }
    }

    #[test]
    fn own_memory_is_copied_and_that_of_others_only_with_the_right_words() {
        let proof = Proof::of([5, 6], 3);
        let memory = PeerMemory::of(&proof.shown(), [5, 6], 3);
        assert!(memory.can_read(), "a process may read its own memory");
        let (from, mut into) = ([1u8, 2, 3], [0u8; 3]);
        // SAFETY: there is room for three bytes.
        assert_eq!(unsafe { memory.read(from.as_ptr() as u64, into.as_mut_ptr(), 3) }, Ok(()));
        assert_eq!(into, from);
        // SAFETY: as above.
        assert_eq!(unsafe { memory.write([4u8, 5, 6].as_ptr(), into.as_mut_ptr() as u64, 3) }, Ok(()));
        assert_eq!(into, [4, 5, 6]);
        // SAFETY: nothing is there, and so nothing is written.
        assert_eq!(unsafe { memory.write(from.as_ptr(), 8, 3) }, Err(Failure::NotThis));
        assert!(!memory.has_ended());
        // SAFETY: as above.
        assert_eq!(unsafe { memory.read(8, into.as_mut_ptr(), 3) }, Err(Failure::NotThis));
        assert!(!PeerMemory::of(&proof.shown(), [5, 7], 3).can_read());
        let nobody = Shown { process: u64::from(u32::MAX >> 1), at: 8 };
        assert!(!PeerMemory::of(&nobody, [5, 6], 3).can_read());
        assert!(PeerMemory { process: nobody.process as libc::pid_t, at: 8 }.has_ended());
    }

    #[test]
    fn a_process_that_nobody_has_waited_for_has_ended() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let memory = PeerMemory { process: child.id() as libc::pid_t, at: 8 };
        let begun = std::time::Instant::now();
        while !memory.has_ended() {
            assert!(begun.elapsed().as_secs() < 60, "its memory goes when it ends");
        }
        child.wait().unwrap();
    }
}
