//! Drawings of the algorithms that a run used, for the page.

use crate::algorithm::{Operation, counted, counted_bytes, format_bytes, parse_choice};
use crate::monitor::{CommunicatorRow, NATIVE, Row, Summary};
use crate::schedule::draw::draw;
use crate::schedule::simulate::Network;
use std::collections::BTreeMap;

/// Most algorithms that are drawn: those that took most time.
const MOST: usize = 12;

/// Ranks that a drawing shows at most, and then how few it is content with: more cannot be told apart.
const RANKS: [usize; 3] = [16, 8, 4];

/// Bytes of a call that a drawing shows at most, and then how few: long ones in segments are lines without end.
const BYTES: [usize; 3] = [1 << 20, 256 << 10, 64 << 10];

/// Largest drawing, in bytes of SVG.
const LARGEST: usize = 150_000;

/// One algorithm.
pub struct Drawing {
    /// What it is, and what it stands for.
    pub heading: String,
    /// The picture.
    pub svg: String,
}

/// Those that took most time first, and how many more there are.
pub fn drawings(summary: &Summary) -> (Vec<Drawing>, usize) {
    let mut used: BTreeMap<(&str, &str), &Row> = BTreeMap::new();
    // Rows are sorted by time: the first of an algorithm is the one worth drawing.
    for row in summary.rows.iter().filter(|row| row.algorithm != NATIVE) {
        used.entry((&row.function, &row.algorithm)).or_insert(row);
    }
    let mut rows: Vec<&Row> = used.into_values().collect();
    rows.sort_by(|left, right| right.all_ranks_seconds().total_cmp(&left.all_ranks_seconds()));
    let left_out = rows.len().saturating_sub(MOST);
    (rows.into_iter().take(MOST).filter_map(|row| drawing(summary, row)).collect(), left_out)
}

/// The largest stand-in for the calls of `row` that can be drawn legibly.
fn drawing(summary: &Summary, row: &Row) -> Option<Drawing> {
    let name = row.function.strip_prefix("MPI_")?.trim_end_matches("_c").to_lowercase();
    let operation = Operation::from_name(&name)?;
    let choice = parse_choice(operation, &row.algorithm).ok()?;
    let communicator = &summary.communicators[row.communicator];
    let nodes = nodes(summary, communicator);
    let network = Network::preset(if nodes.is_empty() { "shared_memory" } else { "infiniband" })?;
    // As many ranks as take part or the next power of two below, which most algorithms are content with.
    let all = communicator.size as usize;
    let sizes = std::iter::once(all).chain(RANKS).chain([2]).filter(|ranks| *ranks <= all.min(RANKS[0]));
    for ranks in sizes {
        let nodes = match nodes.get(..ranks) {
            Some(nodes) if nodes.iter().any(|node| *node != nodes[0]) => nodes,
            _ => &[],
        };
        for most in BYTES {
            let bytes = (row.bytes_from as usize).clamp(1, most);
            let call = network.call(operation, 0, bytes, nodes);
            if choice.accepts(&call, ranks).is_err() {
                continue;
            }
            let Ok(Some(svg)) = draw(&choice, &call, ranks, &network) else { continue };
            if svg.len() <= LARGEST {
                return Some(Drawing { heading: heading(row, communicator, ranks, bytes), svg });
            }
        }
    }
    None
}

/// Node of each rank, as far as the report tells; empty where there is one.
fn nodes(summary: &Summary, communicator: &CommunicatorRow) -> Vec<u32> {
    let mut hosts: Vec<&str> = Vec::new();
    let host_of = |rank: &u32| summary.per_rank.iter().find(|row| row.rank == *rank).map(|row| row.host.as_str());
    let nodes: Option<Vec<u32>> = communicator
        .members
        .iter()
        .take(RANKS[0])
        .map(|rank| {
            let host = host_of(rank)?;
            let known = hosts.iter().position(|known| *known == host);
            Some(known.unwrap_or_else(|| {
                hosts.push(host);
                hosts.len() - 1
            }) as u32)
        })
        .collect();
    nodes.filter(|nodes| nodes.iter().any(|node| *node != 0)).unwrap_or_default()
}

fn heading(row: &Row, communicator: &CommunicatorRow, ranks: usize, bytes: usize) -> String {
    let mut heading = format!("{} on {}", row.function, communicator.title());
    if ranks < communicator.size as usize {
        heading += &format!(", drawn with {ranks} of its {}", counted(communicator.size as usize, "rank"));
    }
    if bytes < row.bytes_from as usize {
        heading += &format!(", and with {}, not {}", counted_bytes(bytes), format_bytes(row.bytes_from as usize));
    }
    heading
}
