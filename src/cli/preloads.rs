//! The list of libraries in `LD_PRELOAD`.

/// Runtimes of sanitizers by how their names begin: some end a process in which another library comes before them.
const SANITIZERS: &[&str] = &["libasan.so", "libhwasan.so", "liblsan.so", "libtsan.so", "libubsan.so", "libclang_rt."];

/// Whether a library is such a runtime.
pub fn is_sanitizer(library: &str) -> bool {
    let name = library.rsplit('/').next().unwrap_or(library);
    SANITIZERS.iter().any(|known| name.starts_with(known))
}

/// The list with `library`, which has to see MPI calls before what was there does, and with the runtimes of sanitizers
/// in front, those that the program `needs` included.
pub fn with(library: &str, before: Option<&str>, needs: &[String]) -> String {
    let before = before.map(str::trim).unwrap_or_default();
    let is_there = |needed: &&String| !before.split([':', ' ']).any(|one| same_name(one, needed));
    let mut first: Vec<&str> = needs.iter().filter(is_there).map(String::as_str).collect();
    if first.is_empty() && !before.split([':', ' ']).any(is_sanitizer) {
        return if before.is_empty() { library.to_owned() } else { format!("{library}:{before}") };
    }
    let (sanitizers, others): (Vec<_>, Vec<_>) =
        before.split([':', ' ']).filter(|one| !one.is_empty()).partition(|one| is_sanitizer(one));
    first.extend(sanitizers);
    first.push(library);
    first.extend(others);
    first.join(":")
}

fn same_name(one: &str, other: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    name(one) == name(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first_but_for_sanitizers() {
        let list = |before: Option<&str>, needs: &[&str]| {
            with("/l.so", before, &needs.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(list(None, &[]), "/l.so");
        assert_eq!(list(Some(" "), &[]), "/l.so");
        assert_eq!(list(Some("/t.so /u.so"), &[]), "/l.so:/t.so /u.so");
        assert_eq!(list(Some("/t.so:/x/libasan.so.8 /u.so"), &[]), "/x/libasan.so.8:/l.so:/t.so:/u.so");
        assert_eq!(list(Some("/t.so"), &["libasan.so.8"]), "libasan.so.8:/l.so:/t.so");
        assert_eq!(list(Some("/x/libasan.so.8"), &["libasan.so.8"]), "/x/libasan.so.8:/l.so");
    }
}
