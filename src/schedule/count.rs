//! Counts the critical path of recorded programs, to hold the cost formulas of the catalogue to it.
//!
//! The model is that of [`Cost`]: a message of m bytes keeps its sender's only out-port busy for α + mβ, and at the
//! same time, or as soon as it is free, its receiver's only in-port for as long; it departs when both ends are started;
//! folds cost γ per byte of their result, copies inside a rank δ per byte. Rounds, bytes, folded and packed bytes are the
//! lengths of four paths, one each where only α, only β, only γ or only δ costs time (likewise t_W, t and t_A of shared
//! memory), so each is at least what it contributes to any path of the whole.

use super::lower::Form;
use super::simulate::{Broken, Link, Memory, Network, Tapes, simulate_tapes};
use crate::operation::{Call, Choice, Cost};

/// A network on which every rank has one port of its own, within a node as between nodes, and nothing else costs time.
pub(super) fn one_ported(alpha: f64, beta: f64, gamma: f64) -> Network {
    let link = Link {
        latency: 0.0,
        overhead: 0.0,
        gap: alpha,
        per_byte: beta,
        eager_limit: 0,
        handshake: 0.0,
        half_duplex: false,
        shares: false,
        burst: 0,
        queue: 0,
    };
    Network {
        name: String::new(),
        description: String::new(),
        on_node: link,
        off_node: link,
        per_folded_byte: gamma,
        per_copied_byte: 0.0,
        ranks_per_node: 1,
        ports_per_node: 1,
        fragment: None,
        limits: None,
        memory: Memory::FREE,
    }
}

/// Counts rounds, bytes and folded bytes on the critical paths of `choice` for `call` among `size` ranks.
///
/// # Errors
/// Programs that do not fit together.
///
/// # Panics
/// Never: there is no limit on the steps.
pub fn count(choice: &Choice, call: &Call, size: usize) -> Result<Cost, Broken> {
    count_tapes(&Tapes::record(choice, call, size, &Form::PLAIN, usize::MAX).expect("there is no limit"))
}

/// Counts the same for recorded steps.
///
/// # Errors
/// Programs that do not fit together.
pub fn count_tapes(tapes: &Tapes) -> Result<Cost, Broken> {
    let under = |network: &Network| simulate_tapes(tapes, network, &[], &mut ()).map(|outcome| outcome.time);
    let time = |alpha, beta, gamma, memory| under(&Network { memory, ..one_ported(alpha, beta, gamma) });
    let free = Memory::FREE;
    let copies = Network { per_copied_byte: 1.0, ..one_ported(0.0, 0.0, 0.0) };
    let messages = Cost {
        rounds: time(1.0, 0.0, 0.0, free)?,
        bytes: time(0.0, 1.0, 0.0, free)?,
        folded: time(0.0, 0.0, 1.0, free)?,
        packed: under(&copies)?,
        ..Cost::default()
    };
    if !tapes.share_memory() {
        return Ok(messages);
    }
    Ok(Cost {
        notified: time(0.0, 0.0, 0.0, Memory { notification: 1.0, ..free })?,
        copied: time(0.0, 0.0, 0.0, Memory { per_byte: 1.0, ..free })?,
        arrived: time(0.0, 0.0, 0.0, Memory { arrival: 1.0, ..free })?,
        ..messages
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Comm, Range};

    fn counted(size: usize, body: impl Fn(&mut dyn Comm)) -> Cost {
        count_tapes(&Tapes::of(size, 1, usize::MAX, body).unwrap()).unwrap()
    }

    #[test]
    fn one_port_in_each_direction_serves_one_message_at_a_time() {
        let all = Range::receive(0, 10);
        let spread = counted(5, |comm| {
            if comm.rank() == 0 {
                let sends: Vec<_> = (1..5).map(|to| comm.isend(to, all)).collect();
                comm.wait(&sends);
            } else {
                comm.recv(0, all);
            }
        });
        assert_eq!(spread, Cost { rounds: 4.0, bytes: 40.0, ..Cost::default() });
        let collect = counted(5, |comm| {
            if comm.rank() == 0 {
                (1..5).for_each(|from| comm.recv(from, all));
                comm.fold(all, all, all);
            } else {
                comm.send(0, all);
            }
        });
        assert_eq!(collect, Cost { rounds: 4.0, bytes: 40.0, folded: 10.0, ..Cost::default() });
    }

    #[test]
    fn sending_and_receiving_at_once_is_one_round() {
        let shift = counted(7, |comm| {
            let (p, r) = (comm.size(), comm.rank());
            comm.sendrecv((r + 1) % p, Range::send(0, 3), (r + p - 1) % p, Range::receive(0, 3));
        });
        assert_eq!(shift, Cost { rounds: 1.0, bytes: 3.0, ..Cost::default() });
    }
}
