//! What a rank knows of the node it runs on.

use super::cores;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Launchers' variables for the number of ranks on this node: Open MPI; hydra (MPICH, Intel); Slurm; MVAPICH.
const LOCAL_SIZE_VARIABLES: [&str; 4] =
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_TASKS_PER_NODE", "MV2_COMM_WORLD_LOCAL_SIZE"];

/// The same for this rank's number among them; then PALS and Flux.
const LOCAL_RANK_VARIABLES: [&str; 6] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
    // Last: in a batch script it is set whatever the launcher is.
    "SLURM_LOCALID",
];

/// Whether this rank is the first of its node, or the launcher does not tell: that one tells what holds for all of the
/// node.
pub fn is_first() -> bool {
    first_by(|variable| std::env::var(variable).ok())
}

fn first_by(set: impl Fn(&str) -> Option<String>) -> bool {
    LOCAL_RANK_VARIABLES.iter().find_map(|variable| set(variable)).is_none_or(|number| number.trim() == "0")
}

/// A number that ranks on one node share: of its host name and its boot.
pub fn identity() -> u64 {
    let mut hasher = DefaultHasher::new();
    host().hash(&mut hasher);
    // Containers and namespaces on one machine may give several nodes one host name, or one node several.
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// The host's name; empty if the system does not say.
pub fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is as long as said; the last byte stays zero.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(0);
    if code == 0 { String::from_utf8_lossy(&name[..end]).into_owned() } else { String::new() }
}

/// The processor and how many cores of it: what times that were measured here hold for.
pub fn machine() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{model}, {} cores", cores::online())
}

/// Ranks on this node, as far as the launcher tells.
pub fn ranks() -> Option<usize> {
    LOCAL_SIZE_VARIABLES.iter().find_map(|variable| {
        let text = std::env::var(variable).ok()?;
        // Slurm writes `8(x2)` or `8,4`.
        text.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    })
}

/// Whether the node has a network whose adapters move long messages by themselves.
pub fn fast_network() -> bool {
    let any = |folder| std::fs::read_dir(folder).is_ok_and(|mut devices| devices.next().is_some());
    ["/sys/class/infiniband", "/sys/class/hfi1", "/sys/class/cxi"].into_iter().any(any)
}

/// Nodes numbered by their first ranks, from every rank's identity; empty if there is one node.
pub fn number(identities: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut known = HashMap::new();
    let nodes: Vec<u32> = identities
        .map(|identity| {
            let next = known.len() as u32;
            *known.entry(identity).or_insert(next)
        })
        .collect();
    if known.len() > 1 { nodes } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::{first_by, number};

    #[test]
    fn the_launcher_says_who_is_first() {
        let first = |variables: &[(&str, &str)]| {
            first_by(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(first(&[]) && first(&[("MPI_LOCALRANKID", "0")]) && !first(&[("SLURM_LOCALID", "3")]));
        let batch = ("SLURM_LOCALID", "0");
        assert!(!first(&[batch, ("OMPI_COMM_WORLD_LOCAL_RANK", "1")]));
        assert!(first(&[batch, ("OMPI_COMM_WORLD_LOCAL_RANK", "0")]));
    }

    #[test]
    fn nodes_are_numbered_by_first_rank_and_one_node_is_none() {
        assert_eq!(number([7, 3, 7, 9, 3].into_iter()), [0, 1, 0, 2, 1]);
        assert!(number([7, 7, 7].into_iter()).is_empty());
    }
}
