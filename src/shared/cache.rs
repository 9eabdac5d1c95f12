//! Hints to the processor about cache lines that go from one core to another, and copies that leave the caches to
//! others. They change how long a message takes, never what it carries.
//!
//! A line that another core has read has to be got back before it can be written, one after the other as the stores
//! come; asked for beforehand, many are on their way at once. And a line that was just written lies in the writer's own
//! cache, from where another core gets it more slowly than from the cache that they share. Between two cores of an
//! Intel Xeon (Granite Rapids), messages there and back through an area: 4 KiB 1.06 → 0.93 µs with the first hint; 512
//! bytes 0.39 → 0.29 with the first and 0.26 with both; 2 KiB 0.64 → 0.53 with the first and 0.62 with both.
//!
//! On AMD's processors the first hint makes longer messages slower: between two cores of an EPYC (family 26) 4 KiB one way
//! took 0.27 µs without and 0.33 with it, 32 KiB through areas 1.1 and 2.0, along a track in fragments of 16 KiB 0.74 and
//! 0.96; while the cores were far from each other 3.1 and 3.9, 2.2 and 2.6. Up to 1 KiB there is no difference.
//!
//! A message that fills the cache that cores share, together with the buffer that it comes from, drives everything else
//! out of it and does not stay there itself; and every line that it is written to is first read from memory, unless the
//! stores bypass the caches.

use once_cell::sync::Lazy;

/// Whether cores put what they evict into a cache that they share, and get it from there faster than from each other:
/// AMD's do. Intel's were not measured.
pub fn evicts_to_shared() -> bool {
    // Asking a processor takes long in a virtual machine.
    static IS_AMD: Lazy<bool> = Lazy::new(is_amd);
    *IS_AMD
}

/// Bytes of the longest fragment whose lines it pays to [ask for](about_to_write).
pub fn longest_asked_for() -> usize {
    if evicts_to_shared() { 1 << 10 } else { usize::MAX }
}

/// Bytes of the shortest message that is written past the receiver's caches: half of the last cache of AMD processors,
/// where between two cores of an EPYC (family 26, a last cache of 32 MiB) 16 MiB along a track took 0.55 to 0.58 ms that
/// way and 1.2 to 1.5 through the caches, 32 MiB 1.4 and 3.3; while the cores were far from each other, both ways took as
/// long. Where the cache has room, messages take longer that way: 2 MiB 62 µs instead of 51, 256 KiB 8 instead of 4.9.
pub fn past_caches_from() -> usize {
    static HALF: Lazy<usize> =
        Lazy::new(|| evicts_to_shared().then(last_cache).flatten().map_or(usize::MAX, |all| all / 2));
    *HALF
}

/// Bytes of the third-level cache of the first processor, as the system tells them. (`sysconf` adds up all that a processor
/// has: 384 MiB where each core reaches 32.)
fn last_cache() -> Option<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?;
    text.trim().strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1 << 10).filter(|bytes| *bytes > 0)
}

/// Copies with stores that bypass the caches (but for a few bytes at either end). This core sees what it wrote at once,
/// others see it once it is published.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub unsafe fn copy_past_caches(from: *const u8, into: *mut u8, length: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const WIDTH: usize = size_of::<__m128i>();
    let head = ((WIDTH - into as usize % WIDTH) % WIDTH).min(length);
    let middle = (length - head) / WIDTH * WIDTH;
    // SAFETY: the three parts are within what the caller promises; the middle one begins at a multiple of its width, and
    // reading needs none. The fence orders what was written before all later stores, so that whatever publishes it does.
    unsafe {
        std::ptr::copy_nonoverlapping(from, into, head);
        for at in (head..head + middle).step_by(WIDTH) {
            _mm_stream_si128(into.wrapping_add(at).cast(), _mm_loadu_si128(from.wrapping_add(at).cast()));
        }
        let rest = head + middle;
        std::ptr::copy_nonoverlapping(from.wrapping_add(rest), into.wrapping_add(rest), length - rest);
        _mm_sfence();
    }
}

/// Copies; there is no way past the caches.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`].
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn copy_past_caches(from: *const u8, into: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, into, length) };
}

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Beginnings of the cache lines that `length` bytes from `at` on lie in.
#[inline(always)]
fn lines(at: *const u8, length: usize) -> impl Iterator<Item = *const u8> {
    let first = at.wrapping_sub(at as usize % CACHE_LINE);
    let bytes = at as usize - first as usize + length;
    (0..bytes).step_by(CACHE_LINE).map(move |offset| first.wrapping_add(offset))
}

/// These bytes are about to be written.
#[inline(always)]
pub fn about_to_write(at: *mut u8, length: usize) {
    lines(at, length).for_each(get_for_writing);
}

/// These bytes were written, and another core is about to read them.
#[inline(always)]
pub fn written_for_another(at: *const u8, length: usize) {
    lines(at, length).for_each(hand_over);
}

#[cfg(target_arch = "x86_64")]
fn is_amd() -> bool {
    // Every processor of 64 bits has the instruction; later compilers take it for safe.
    #[allow(unused_unsafe, reason = "it is not with the oldest compiler")]
    // SAFETY: as above.
    let maker = unsafe { std::arch::x86_64::__cpuid(0) };
    let name = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes);
    [b"AuthenticAMD", b"HygonGenuine"].iter().any(|known| name.as_flattened() == *known)
}

#[cfg(not(target_arch = "x86_64"))]
const fn is_amd() -> bool {
    false
}

/// `prefetchw`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn get_for_writing(line: *const u8) {
    // SAFETY: a prefetch neither reads nor writes as far as the program can tell, and faults at no address. A processor
    // without it (before Broadwell) takes it for a no-operation, as every one of 64 bits by either maker does.
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly)) };
}

/// `cldemote`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn hand_over(line: *const u8) {
    // SAFETY: it moves a line from one cache to another and changes nothing else; it faults at no address. Its encoding
    // is a no-operation on all processors that do not know it.
    unsafe { std::arch::asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn get_for_writing(line: *const u8) {
    // SAFETY: a prefetch neither reads nor writes as far as the program can tell, and faults at no address.
    unsafe { std::arch::asm!("prfm pstl1keep, [{}]", in(reg) line, options(nostack, preserves_flags, readonly)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
const fn get_for_writing(_: *const u8) {}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
const fn hand_over(_: *const u8) {}

#[cfg(test)]
mod tests {
    use super::{CACHE_LINE, about_to_write, copy_past_caches, lines, written_for_another};

    #[test]
    fn every_line_that_a_byte_lies_in_is_named_once() {
        let offsets =
            |at: usize, length| -> Vec<usize> { lines(at as *const u8, length).map(|line| line as usize).collect() };
        assert!(offsets(4096, 0).is_empty());
        assert_eq!(offsets(4096, 1), [4096]);
        assert_eq!(offsets(4096, CACHE_LINE), [4096]);
        assert_eq!(offsets(4096, CACHE_LINE + 1), [4096, 4160]);
        assert_eq!(offsets(4100, CACHE_LINE), [4096, 4160]);
    }

    #[test]
    fn copies_past_the_caches_are_copies_wherever_they_begin_and_end() {
        let from: Vec<u8> = (0..300).map(|at| (at % 251) as u8 + 1).collect();
        for (begin, skipped, length) in
            (0..17).flat_map(|begin| [0, 1, 15, 16, 17, 40, 200].map(|length| (begin, 3, length)))
        {
            let mut into = vec![0u8; 300];
            // SAFETY: both have 300 bytes, of which 16 + 200 at most are meant.
            unsafe { copy_past_caches(from[skipped..].as_ptr(), into[begin..].as_mut_ptr(), length) };
            assert!(into[begin..begin + length] == from[skipped..skipped + length]);
            assert!(into.iter().enumerate().all(|(at, byte)| (begin..begin + length).contains(&at) || *byte == 0));
        }
    }

    #[test]
    fn hints_change_nothing() {
        let mut bytes: Vec<u8> = (0..200).collect();
        about_to_write(bytes.as_mut_ptr(), bytes.len());
        written_for_another(bytes.as_ptr(), bytes.len());
        assert!(bytes.iter().copied().eq(0..200));
    }
}
