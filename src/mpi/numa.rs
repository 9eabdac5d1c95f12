//! Which NUMA nodes of its machine a rank may run on.
//!
//! A rank that a launcher has bound stands on the NUMA nodes of the cores that it may run on: mostly one. One that may
//! run on several is on none of them for certain: where it happens to run now says nothing of the next call, and would
//! group ranks otherwise in each run. So it is the *set* of NUMA nodes that groups them: ranks bound to a socket of
//! several NUMA nodes are a group, and so are all ranks that nobody has bound, who then are one NUMA node to
//! algorithms.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Where the system tells of its NUMA nodes.
const NODES: &str = "/sys/devices/system/node";
/// Where it tells what the calling thread may run on.
const OWN: &str = "/proc/thread-self/status";

/// A number that ranks of one machine share which may run on the same NUMA nodes; that of none where the system does
/// not say.
pub fn identity() -> u64 {
    let status = std::fs::read_to_string(OWN).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    nodes_of(&allowed(&status), &nodes(Path::new(NODES))).hash(&mut hasher);
    hasher.finish()
}

/// The processors that a thread may run on, by its status.
fn allowed(status: &str) -> BTreeSet<u32> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map(processors).unwrap_or_default()
}

/// Number and processors of each NUMA node. There are some with memory only.
fn nodes(folder: &Path) -> Vec<(u32, BTreeSet<u32>)> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let node = |path: &Path| {
        let number = path.file_name()?.to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, processors(&std::fs::read_to_string(path.join("cpulist")).ok()?)))
    };
    names.filter_map(|path| node(&path)).collect()
}

/// The numbers of the NUMA nodes that have one of those processors.
fn nodes_of(allowed: &BTreeSet<u32>, nodes: &[(u32, BTreeSet<u32>)]) -> BTreeSet<u32> {
    let within = nodes.iter().filter(|(_, processors)| !processors.is_disjoint(allowed));
    within.map(|(number, _)| *number).collect()
}

/// The numbers of a list such as `0-3,8,10-11`; what cannot be read in it is left out.
fn processors(list: &str) -> BTreeSet<u32> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_read() {
        assert!(processors("0-3,8,10-11\n").into_iter().eq([0, 1, 2, 3, 8, 10, 11]));
        assert!(processors("\n").is_empty() && processors("x,2-").is_empty());
        assert_eq!(allowed("Name:\tx\nCpus_allowed:\t5\nCpus_allowed_list:\t0,2\n"), BTreeSet::from([0, 2]));
        assert!(allowed("Name:\tx\n").is_empty());
    }

    #[test]
    fn a_rank_is_on_the_nodes_that_it_may_run_on() {
        let folder = tempfile::tempdir().unwrap();
        for (name, list) in [("node0", "0-1,4-5\n"), ("node1", "2-3,6-7\n"), ("node2", "\n")] {
            let node = folder.path().join(name);
            std::fs::create_dir(&node).unwrap();
            std::fs::write(node.join("cpulist"), list).unwrap();
        }
        std::fs::write(folder.path().join("online"), "0-2\n").unwrap();
        let nodes = nodes(folder.path());
        assert_eq!(nodes.len(), 3);
        let of = |list| nodes_of(&processors(list), &nodes).into_iter().collect::<Vec<_>>();
        assert_eq!([of("0"), of("4,5"), of("3,6"), of("9")], [vec![0], vec![0], vec![1], vec![]]);
        // Not bound, or to a socket of both.
        assert_eq!(of("0-7"), [0, 1]);
    }

    #[test]
    fn this_machine_is_read() {
        assert_eq!(identity(), identity());
        let status = std::fs::read_to_string(OWN).unwrap();
        assert!(!allowed(&status).is_empty());
    }
}
