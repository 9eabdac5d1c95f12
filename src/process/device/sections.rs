//! The sections of a program's file, where code for GPUs shows.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The sections that code for GPUs is in. A program that has one may have the rest linked into it, unseen.
const SECTIONS: [&[u8]; 2] = [b".nv_fatbin", b".hip_fatbin"];

/// Whether the ELF file has code for GPUs; `None` if it cannot be read as one.
pub fn has_code(path: &str) -> Option<bool> {
    let file = File::open(path).ok()?;
    let read = |at: u64, bytes: usize| {
        let mut room = vec![0u8; bytes];
        file.read_exact_at(&mut room, at).ok()?;
        Some(room)
    };
    let number = |bytes: &[u8], at: usize, size: usize| {
        let digits = bytes.get(at..at + size)?.iter().rev();
        Some(digits.fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let header = read(0, 64)?;
    // 64 bits, the lowest byte first.
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size) = (number(&header, 0x28, 8)?, number(&header, 0x3a, 2)? as usize);
    let (sections, names) = (number(&header, 0x3c, 2)? as usize, number(&header, 0x3e, 2)? as usize);
    let table = read(table, size * sections)?;
    let names = table.get(names * size..)?;
    // No program has names of so many bytes; a broken file may say so.
    let length = usize::try_from(number(names, 0x20, 8)?).ok().filter(|length| *length < 1 << 24)?;
    let names = read(number(names, 0x18, 8)?, length)?;
    Some(names.split(|byte| *byte == 0).any(|name| SECTIONS.contains(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read() {
        assert_eq!(has_code("/proc/self/exe"), Some(false));
        assert_eq!(has_code("/proc/self/status"), None);
        assert_eq!(has_code("/no/such/file"), None);
    }
}
