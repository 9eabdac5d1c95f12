//! Ports that are shared, and ports that messages leave in order.

use super::super::sharing::{End, MOST, Sharing, Stage, Wanted};

/// A message that goes evenly with others from its first byte on.
const fn evenly(ports: [usize; 2], seconds: f64) -> Wanted {
    Wanted { ports, connection: (ports[0] as u32, ports[1] as u32), seconds, in_order: false }
}

/// When each of some messages ends, which want their ports at the given times.
fn ends(capacities: &[f64], wanted: &[([usize; 2], f64, f64)]) -> Vec<f64> {
    let mut sharing = Sharing::new(capacities.iter().map(|capacity| (*capacity, 0.0)));
    let mut ends = vec![f64::NAN; wanted.len()];
    let mut due: Vec<End> = Vec::new();
    let mut next = 0;
    while ends.iter().any(|end| end.is_nan()) {
        due.append(&mut sharing.predicted);
        due.sort_by(|a, b| b.time.total_cmp(&a.time));
        match wanted.get(next) {
            Some((ports, time, seconds)) if due.last().is_none_or(|end| end.time > *time) => {
                sharing.join(next, evenly(*ports, *seconds), *time);
                sharing.share_out(*time);
                next += 1;
            }
            _ => {
                let end = due.pop().unwrap();
                if let Some(flow) = sharing.end(end) {
                    ends[flow.message] = end.time;
                    sharing.share_out(end.time);
                }
            }
        }
    }
    ends
}

#[test]
fn a_port_is_shared_evenly() {
    assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0)]), [3.0]);
    assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([0, 2], 0.0, 3.0)]), [6.0, 6.0]);
    assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([0, 2], 1.0, 1.0)]), [4.0, 3.0]);
    assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([2, 3], 0.0, 3.0)]), [3.0, 3.0]);
    assert_eq!(ends(&[2.0; 4], &[([0, 1], 0.0, 3.0), ([0, 1], 0.0, 3.0)]), [3.0, 3.0]);
}

#[test]
fn what_was_saved_in_a_pause_passes_at_once() {
    let mut sharing = Sharing::new([(1.0, 2.0); 2].into_iter());
    let mut alone = |time, seconds| {
        sharing.join((), evenly([0, 1], seconds), time);
        sharing.share_out(time);
        let end = sharing.predicted.pop().unwrap();
        sharing.end(end).map(|_| end.time - time)
    };
    assert_eq!(alone(0.0, 3.0), Some(1.0));
    assert_eq!(alone(1.0, 3.0), Some(3.0));
    assert_eq!(alone(5.5, 3.0), Some(1.5));
    assert_eq!(alone(100.0, 1.0), Some(0.0));
}

#[test]
fn a_backlog_is_what_is_left_up_to_a_limit() {
    let mut sharing = Sharing::new([(1.0, 0.0); 3].into_iter());
    sharing.join(5.0, evenly([0, 1], 10.0), 0.0);
    sharing.share_out(0.0);
    assert_eq!((sharing.backlog(0, 2.0, |most| *most), sharing.backlog(0, 8.0, |most| *most)), (5.0, 2.0));
    assert_eq!(sharing.backlog(2, 2.0, |most| *most), 0.0);
}

#[test]
fn a_crowd_waits() {
    let crowd: Vec<_> = (0..2 * MOST).map(|_| ([0, 1], 0.0, 1.0)).collect();
    let ends = ends(&[1.0; 2], &crowd);
    assert!((ends[0] - MOST as f64).abs() < 1e-9 && (ends[2 * MOST - 1] - 2.0 * MOST as f64).abs() < 1e-9);
}

/// When each of some messages has left its sender's port and has come through its receiver's: all are handed over at
/// the start, each on a connection of its own.
fn in_order(capacities: &[f64], burst: f64, wanted: &[([usize; 2], f64)]) -> Vec<[f64; 2]> {
    let mut sharing = Sharing::new(capacities.iter().map(|capacity| (*capacity, burst)));
    for (message, (ports, seconds)) in wanted.iter().enumerate() {
        let connection = (message as u32, 0);
        sharing.join(message, Wanted { ports: *ports, connection, seconds: *seconds, in_order: true }, 0.0);
    }
    sharing.share_out(0.0);
    let mut ends = vec![[f64::NAN; 2]; wanted.len()];
    let mut due: Vec<End> = Vec::new();
    loop {
        due.append(&mut sharing.predicted);
        due.sort_by(|a, b| b.time.total_cmp(&a.time));
        let Some(end) = due.pop() else { return ends };
        if let Some(flow) = sharing.end(end) {
            ends[flow.message][usize::from(flow.stage == Stage::Arrives)] = end.time;
        }
        sharing.share_out(end.time);
    }
}

#[test]
fn what_lies_in_a_port_leaves_in_order() {
    let from_one = [([0, 1], 3.0), ([0, 3], 2.0), ([0, 5], 1.0)];
    assert_eq!(in_order(&[1.0; 6], 0.0, &from_one), [[3.0; 2], [5.0; 2], [6.0; 2]]);
    assert_eq!(in_order(&[2.0; 6], 0.0, &from_one), [[3.0; 2], [2.0; 2], [3.0; 2]]);
}

#[test]
fn a_receiver_does_not_hold_up_what_leaves_for_others() {
    // Rank 0 sends to 1, then to 2; rank 4 sends to 1 at the same time.
    let wanted = [([0, 3], 1.0), ([0, 5], 1.0), ([8, 3], 1.0)];
    assert_eq!(in_order(&[1.0; 10], 0.0, &wanted), [[1.0, 2.0], [2.0, 2.0], [1.0, 2.0]]);
}

#[test]
fn nothing_arrives_before_it_has_left() {
    // What the sender's port lets through at once after a pause, the receiver's does, too.
    assert_eq!(in_order(&[1.0; 2], 2.0, &[([0, 1], 3.0), ([0, 1], 3.0)]), [[1.0; 2], [4.0; 2]]);
    // A port that shares goes on in the same way beside one that leaves in order.
    let mut sharing = Sharing::new([(1.0, 0.0); 4].into_iter());
    sharing.join('a', evenly([0, 1], 2.0), 0.0);
    sharing.join('b', Wanted { in_order: true, ..evenly([0, 3], 1.0) }, 0.0);
    sharing.share_out(0.0);
    let mut seen = Vec::new();
    while let Some(end) = {
        sharing.predicted.sort_by(|a, b| b.time.total_cmp(&a.time));
        sharing.predicted.pop()
    } {
        seen.extend(sharing.end(end).map(|flow| (flow.message, flow.stage, end.time)));
        sharing.share_out(end.time);
    }
    assert_eq!(seen, [('b', Stage::Leaves, 2.0), ('b', Stage::Arrives, 2.0), ('a', Stage::Passes, 3.0)]);
}

#[test]
fn a_crowd_that_comes_through_at_once_waits_for_nobody() {
    let ports = 4 * MOST;
    let from_all: Vec<_> = (0..2 * MOST).map(|sender| ([2 * sender, 1], 1.0)).collect();
    assert_eq!(in_order(&vec![1.0; ports], 1e3, &from_all), vec![[0.0; 2]; 2 * MOST]);
    // Where not all do, those that have to wait come after.
    let ends = in_order(&vec![1.0; ports], MOST as f64 + 8.0, &from_all);
    assert!(ends.iter().all(|[left, come]| *left == 0.0 && come.is_finite()));
    assert_eq!(ends.iter().filter(|[_, come]| *come == 0.0).count(), MOST + 8);
}

#[test]
fn a_crowd_that_leaves_in_order_waits() {
    let crowd: Vec<_> = (0..2 * MOST).map(|_| ([0, 1], 1.0)).collect();
    let ends = in_order(&[1.0; 2], 0.0, &crowd);
    assert!(ends.iter().enumerate().all(|(nth, [left, arrived])| *left == nth as f64 + 1.0 && arrived == left));
    // Many to one.
    let crowd: Vec<_> = (0..2 * MOST).map(|nth| ([2 * nth + 2, 1], 1.0)).collect();
    let ends = in_order(&vec![1.0; 4 * MOST + 2], 0.0, &crowd);
    assert!(ends.iter().all(|[left, _]| *left == 1.0));
    let last = ends.iter().fold(0.0, |last: f64, [_, arrived]| last.max(*arrived));
    assert!((last - 2.0 * MOST as f64).abs() < 1e-6, "{last}");
}
