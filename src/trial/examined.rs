//! Which calls of a kind all its candidates may carry out, where they have to combine in the same order
//! (`COLLIE_REPRODUCIBLE`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// So many are examined as they come.
const AT_ONCE: u64 = 16;
/// After that, one for each so many calls of the kind.
const CALLS_EACH: u64 = 64;
/// Of so many it is remembered how that came out. The others are not examined.
const MOST: usize = 4096;

/// Calls of one kind, told apart by number and bytes of their units and by their default.
///
/// An examination carries out all candidates on symbols: 10 µs of each rank's time among two ranks, 55 among eight (AMD
/// EPYC, an allreduce of 3 to 1,500 doubles). In a program whose calls all had other counts, that doubled their time.
///
/// What was found holds for good, since the ranks do not forget their plans at the same time: each question is decided
/// when it is first asked, which all of them do in the same call.
#[derive(Debug, Default)]
pub struct Examined {
    examined: u64,
    known: HashMap<(usize, usize, String), bool>,
}

impl Examined {
    /// Whether all may carry out this call, the first like it after `calls` calls of the kind, by `examine` if there is
    /// to be an examination; no if there is none.
    pub fn may(
        &mut self,
        count: usize,
        unit: usize,
        default: String,
        calls: u64,
        examine: impl FnOnce() -> bool,
    ) -> bool {
        let is_full = self.known.len() >= MOST;
        match self.known.entry((count, unit, default)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if is_full => false,
            Entry::Vacant(new) => {
                let may_examine = self.examined < AT_ONCE + calls / CALLS_EACH;
                self.examined += u64::from(may_examine);
                *new.insert(may_examine && examine())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(examined: &mut Examined, count: usize, calls: u64) -> bool {
        examined.may(count, 8, "ring".to_owned(), calls, || true)
    }

    #[test]
    fn a_few_are_examined_at_once_and_more_as_calls_are_made() {
        let mut examined = Examined::default();
        assert_eq!((0..1000).filter(|count| ask(&mut examined, *count, 0)).count(), 16);
        assert!(!ask(&mut examined, 1000, 63) && ask(&mut examined, 1001, 64));
        assert!(!ask(&mut examined, 1002, 127) && ask(&mut examined, 1003, 128));
    }

    #[test]
    fn what_was_decided_once_stays() {
        let mut examined = Examined::default();
        assert!((0..17).map(|count| ask(&mut examined, count, 0)).filter(|may| *may).count() == 16);
        assert!(examined.may(3, 8, "ring".to_owned(), 0, || unreachable!("it was examined before")));
        assert!(!ask(&mut examined, 16, 1_000_000), "it was not examined when it was first asked of");
        assert!(examined.may(3, 8, "binomial".to_owned(), 64, || true), "another default is another question");
        assert!(!examined.may(4, 8, "binomial".to_owned(), 128, || false));
        (20..MOST + 20).for_each(|count| assert!(ask(&mut examined, count, u64::MAX / 2) == (count < MOST + 1)));
    }
}
