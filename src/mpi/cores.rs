//! How many cores the ranks of a node have.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::{size_of, zeroed};

/// What the system lets this process use.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// The same number for the same cores and the same quota.
    pub identity: u64,
    /// Cores that it may run on: those that a launcher has bound it to, those of the job's or container's cpuset
    /// otherwise.
    bound_to: usize,
    /// Cores' worth of time that its control group has, if that is less.
    quota: Option<usize>,
}

impl Allowed {
    /// Of the calling thread.
    pub fn here() -> Self {
        // SAFETY: all zeros are a valid set; the system writes no more bytes to it than said.
        let mask = unsafe {
            let mut mask: libc::cpu_set_t = zeroed();
            (libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut mask) == 0).then_some(mask)
        };
        // A machine with more processors than the set has room for is not asked.
        let Some(mask) = mask else { return Self { identity: 0, bound_to: online(), quota: None } };
        // SAFETY: any set may be counted.
        let bound_to = usize::try_from(unsafe { libc::CPU_COUNT(&mask) }).unwrap_or(0).max(1);
        // It is the cores of the set, or fewer where the quota is less.
        let usable = std::thread::available_parallelism().map_or(bound_to, usize::from);
        let quota = (usable < bound_to).then_some(usable);
        let mut hasher = DefaultHasher::new();
        // SAFETY: the number says for each processor whether it is in the set.
        let is_set = |processor: &usize| unsafe { libc::CPU_ISSET(*processor, &mask) };
        let processors: Vec<usize> = (0..8 * size_of::<libc::cpu_set_t>()).filter(is_set).collect();
        (processors, quota).hash(&mut hasher);
        Self { identity: hasher.finish(), bound_to, quota }
    }

    /// Cores that the ranks of this node have together. If all ranks are allowed the same (`alike`), those are theirs.
    /// Otherwise a launcher has bound them one by one, and they may have all that the node has: the cores of one rank
    /// say nothing of the others'.
    pub fn of_node(self, alike: bool) -> usize {
        let cores = if alike { self.bound_to } else { online() };
        cores.min(self.quota.unwrap_or(usize::MAX))
    }
}

/// Cores of the node that are in use.
pub fn online() -> usize {
    // SAFETY: sysconf has no preconditions.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(online).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_bound_alike_share_the_cores_that_they_are_bound_to() {
        let bound = Allowed { identity: 7, bound_to: 1, quota: None };
        assert_eq!((bound.of_node(true), bound.of_node(false)), (1, online()));
        let with_quota = Allowed { identity: 7, bound_to: 64, quota: Some(1) };
        assert_eq!((with_quota.of_node(true), with_quota.of_node(false)), (1, 1));
    }

    #[test]
    fn the_same_is_allowed_to_the_same_thread() {
        let [one, other] = [Allowed::here(), Allowed::here()];
        assert_eq!(one.identity, other.identity);
        assert!(one.of_node(true) >= 1 && one.bound_to <= 8 * size_of::<libc::cpu_set_t>());
    }

    #[test]
    fn a_thread_bound_to_one_core_is_allowed_something_else() {
        let before = Allowed::here();
        let bound = std::thread::spawn(move || {
            // SAFETY: all zeros are a valid set, in which the number of a processor that this thread runs on is set.
            unsafe {
                let mut one: libc::cpu_set_t = zeroed();
                libc::CPU_SET(libc::sched_getcpu() as usize, &mut one);
                assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one), 0);
            }
            Allowed::here()
        });
        let bound = bound.join().unwrap();
        assert_eq!(bound.of_node(true), 1);
        assert!(before.bound_to == 1 || before.identity != bound.identity);
    }
}
