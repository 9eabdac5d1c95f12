//! Reading files that the user names, whatever they are.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes that are read of what is no regular file: a pipe's are all wanted, but some devices never end.
const MOST_OF_A_PIPE: u64 = 256 << 20;

/// What the file holds.
///
/// # Errors
/// It cannot be read; or it is no regular file, and does not end within 256 MiB.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    within(path, MOST_OF_A_PIPE)
}

fn within(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() {
        return std::fs::read(path);
    }
    let mut read = Vec::new();
    file.take(most + 1).read_to_end(&mut read)?;
    if read.len() as u64 > most {
        let message = format!("it is no regular file, and does not end within {most} bytes");
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    Ok(read)
}

/// What the file holds, as text.
///
/// # Errors
/// As for [`bytes`]; or the line that is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|error| {
        let right = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + right.iter().filter(|byte| **byte == b'\n').count();
        Error::new(ErrorKind::InvalidData, format!("line {line} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_never_end_are_refused_and_files_without_end_of_line_read() {
        let error = within(Path::new("/dev/zero"), 4096).unwrap_err().to_string();
        assert_eq!(error, "it is no regular file, and does not end within 4096 bytes");
        assert_eq!(bytes(Path::new("/dev/null")).unwrap(), b"");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"one\ntwo \xff\n").unwrap();
        assert_eq!(bytes(file.path()).unwrap(), b"one\ntwo \xff\n");
        assert_eq!(text(file.path()).unwrap_err().to_string(), "line 2 is not UTF-8");
        std::fs::write(file.path(), "größer").unwrap();
        assert_eq!(text(file.path()).unwrap(), "größer");
    }
}
