//! Deliberately wrong algorithms, each of which has to be caught with the right words.

use super::super::*;
use crate::algorithm::{Operation, all};
use crate::operation::SharedMemory;
use crate::schedule::{Buffer, Comm, Range, Shared, record_body};

fn call(operation: Operation, count: usize) -> Call<'static> {
    Call::plain(operation, count, 4)
}

fn run(call: &Call, size: usize, mode: Mode, body: impl Fn(&mut dyn Comm)) -> Result<Verified, What> {
    let programs: Vec<_> = (0..size).map(|rank| record_body(rank, size, &body)).collect();
    verify_programs(&programs, call, mode).map_err(|fault| fault.what)
}

const BUFFERED: Mode = Mode { in_place: false, sends: Sends::Buffered };
const ALL: Range = Range::receive(0, 4);
const OWN: Range = Range::send(0, 4);

#[test]
fn the_catalogue_is_right_for_a_million_units() {
    for algorithm in all() {
        let call = call(algorithm.operation, 1_000_000);
        for size in 1..=9 {
            if algorithm.accepts(&call, size).is_ok() {
                for mode in [Mode::STRICT, Mode::STRICT_IN_PLACE, BUFFERED] {
                    verify(&Choice::new(algorithm), &call, size, mode).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_barrier_that_somebody_leaves_early_is_none() {
    let call = call(Operation::Barrier, 0);
    let nothing = |_: &mut dyn Comm| {};
    assert_eq!(run(&call, 3, Mode::STRICT, nothing), Err(What::LeavesBefore { without: 1 }));
    assert_eq!(run(&call, 1, Mode::STRICT, nothing).map(|verified| verified.messages), Ok(0));
    let none = Range::receive(0, 0);
    // All tell rank 0, which tells all but the last one, or all.
    let told = |last: usize| {
        move |comm: &mut dyn Comm| {
            let (size, rank) = (comm.size(), comm.rank());
            if rank > 0 {
                comm.send(0, none);
                if rank <= last {
                    comm.recv(0, none);
                }
                return;
            }
            (1..size).for_each(|other| comm.recv(other, none));
            (1..=last).for_each(|other| comm.send(other, none));
        }
    };
    assert!(run(&call, 4, Mode::STRICT, told(3)).is_ok());
    assert_eq!(run(&call, 4, Mode::STRICT, told(2)), Err(What::LeavesBefore { without: 0 }));
    // On a board: whoever has entered counts, and not who was there in the call before.
    let begun = |before| {
        move |comm: &mut dyn Comm| {
            comm.shared(Shared::Enter { step: 0 });
            comm.shared(Shared::Begun { before });
        }
    };
    let call = Call { shared: Some(SharedMemory::PLAIN), ..call };
    assert!(run(&call, 3, Mode::STRICT, begun(0)).is_ok());
    assert_eq!(run(&call, 3, Mode::STRICT, begun(1)), Err(What::LeavesBefore { without: 1 }));
}

#[test]
fn a_ring_of_blocking_sends_deadlocks_unless_they_are_buffered() {
    let ring = |comm: &mut dyn Comm| {
        let (p, r) = (comm.size(), comm.rank());
        comm.copy(Range::send(0, 4), Range::receive(4 * r, 4));
        for k in 0..p - 1 {
            comm.send((r + 1) % p, Range::receive((r + p - k) % p * 4, 4));
            comm.recv((r + p - 1) % p, Range::receive((r + p - k - 1) % p * 4, 4));
        }
    };
    let call = call(Operation::Allgather, 4);
    assert_eq!(run(&call, 3, BUFFERED, ring), Ok(Verified { messages: 6, units_sent: 24, units_folded: 0 }));
    let Err(What::Deadlock(chain)) = run(&call, 3, Mode::STRICT, ring) else { panic!("no deadlock found") };
    assert_eq!(
        chain.iter().map(|waiting| (waiting.rank, waiting.partner)).collect::<Vec<_>>(),
        [(0, 1), (1, 2), (2, 0)]
    );
    assert_eq!(chain[0].to_string(), "rank 0 waits in step 2 for its send to rank 1 (matched there in step 3)");
}

#[test]
fn a_deadlock_of_receives_is_one_even_with_buffered_sends() {
    let both_receive_first = |comm: &mut dyn Comm| {
        let partner = 1 - comm.rank();
        comm.recv(partner, ALL);
        comm.send(partner, OWN);
    };
    let found = run(&call(Operation::Allreduce, 4), 2, BUFFERED, both_receive_first);
    assert!(matches!(found, Err(What::Deadlock(chain)) if chain.len() == 2));
}

/// Everyone gets everyone's contribution in scratch and folds with `folds`.
fn exchange(folds: impl Fn(&mut dyn Comm, &[Range])) -> impl Fn(&mut dyn Comm) {
    move |comm| {
        let (p, r) = (comm.size(), comm.rank());
        let parts: Vec<Range> = (0..p).map(|_| comm.scratch(4)).collect();
        comm.copy(OWN, parts[r]);
        for step in 1..p {
            comm.sendrecv((r + step) % p, OWN, (r + p - step) % p, parts[(r + p - step) % p]);
        }
        folds(comm, &parts);
    }
}

fn in_order(comm: &mut dyn Comm, parts: &[Range]) {
    comm.copy(parts[0], ALL);
    parts[1..].iter().for_each(|part| comm.fold(ALL, *part, ALL));
}

#[test]
fn folding_everything_in_rank_order_is_right() {
    let call = Call { commutative: false, ..call(Operation::Allreduce, 4) };
    assert!(run(&call, 5, Mode::STRICT, exchange(in_order)).is_ok());
    assert!(run(&call, 5, Mode::STRICT_IN_PLACE, exchange(in_order)).is_ok());
}

#[test]
fn a_contribution_folded_twice_and_one_left_out_are_found() {
    let doubling = exchange(|comm, parts| {
        comm.copy(parts[0], ALL);
        parts[..3].iter().for_each(|part| comm.fold(ALL, *part, ALL));
    });
    let Err(What::Incomplete { found, .. }) = run(&call(Operation::Allreduce, 4), 4, Mode::STRICT, doubling) else {
        panic!("double counting not found")
    };
    assert_eq!(found, "the contributions of ranks 0 0 1 2; missing 3; repeated 0");
}

#[test]
fn another_order_is_wrong_where_the_operation_does_not_commute() {
    let backwards = || {
        exchange(|comm, parts| {
            comm.copy(parts[2], ALL);
            parts[..2].iter().rev().for_each(|part| comm.fold(ALL, *part, ALL));
        })
    };
    let commuting = call(Operation::Reduce, 4);
    let root_only = |comm: &mut dyn Comm| {
        let into = if comm.rank() == 0 { ALL } else { comm.scratch(4) };
        let parts = (comm.scratch(4), comm.scratch(4));
        match comm.rank() {
            0 => {
                comm.recv(1, parts.0);
                comm.recv(2, parts.1);
                comm.fold(parts.1, parts.0, into);
                comm.fold(into, OWN, into);
            }
            _ => comm.send(0, OWN),
        }
    };
    assert!(run(&commuting, 3, Mode::STRICT, root_only).is_ok());
    let call = Call { commutative: false, ..commuting };
    assert!(matches!(run(&call, 3, Mode::STRICT, root_only), Err(What::Order { .. })));
    let allreduce = Call { operation: Operation::Allreduce, ..commuting };
    assert!(run(&allreduce, 3, Mode::STRICT, backwards()).is_ok());
}

#[test]
fn ranks_that_fold_in_different_ways_are_found() {
    let own_first = exchange(|comm, parts| {
        let (p, r) = (comm.size(), comm.rank());
        comm.copy(parts[r], ALL);
        (1..p).for_each(|step| comm.fold(ALL, parts[(r + step) % p], ALL));
    });
    let allreduce = call(Operation::Allreduce, 4);
    // Also of two, and though it commutes: of a number and a NaN, a maximum keeps one side.
    for size in [2, 3] {
        assert_eq!(run(&allreduce, size, Mode::STRICT, &own_first), Err(What::Differs { unit: 0 }));
    }
}

/// Rank 0 broadcasts to rank 1 in the way given; then both do `root` and `other`.
fn pair(root: impl Fn(&mut dyn Comm), other: impl Fn(&mut dyn Comm)) -> Result<Verified, What> {
    let body = |comm: &mut dyn Comm| if comm.rank() == 0 { root(comm) } else { other(comm) };
    run(&call(Operation::Bcast, 4), 2, Mode::STRICT, body)
}

#[test]
fn ranges_in_flight_are_protected() {
    let kept = Range { buffer: Buffer::Scratch, start: 0, len: 4 };
    let overwrites = |comm: &mut dyn Comm| {
        assert_eq!(comm.scratch(4), kept);
        comm.copy(ALL, kept);
        let sent = comm.isend(1, kept);
        comm.copy(ALL, kept);
        comm.wait(&[sent]);
    };
    let found = pair(overwrites, |comm| comm.recv(0, ALL));
    assert_eq!(found, Err(What::InUse { range: kept, message: "send", step: 1 }));
    let peeks = |comm: &mut dyn Comm| {
        let received = comm.irecv(0, ALL);
        let other = comm.scratch(1);
        comm.copy(ALL.part(3, 1), other);
        comm.wait(&[received]);
    };
    let found = pair(|comm| comm.send(1, ALL), peeks);
    assert_eq!(found, Err(What::InUse { range: ALL.part(3, 1), message: "receive", step: 0 }));
}

#[test]
fn requests_are_waited_for_once() {
    let never = pair(|comm| comm.send(1, ALL), |comm| _ = comm.irecv(0, ALL));
    assert_eq!(never, Err(What::NeverWaited("receive")));
    let twice = |comm: &mut dyn Comm| {
        let sent = comm.isend(1, ALL);
        comm.wait(&[sent, sent]);
    };
    assert_eq!(pair(twice, |comm| comm.recv(0, ALL)), Err(What::WaitedTwice(0)));
    let unknown = |comm: &mut dyn Comm| {
        comm.send(1, ALL);
        comm.wait(&[crate::schedule::Request(1)]);
    };
    assert_eq!(pair(unknown, |comm| comm.recv(0, ALL)), Err(What::UnknownRequest(1)));
}

#[test]
fn messages_match_in_number_and_length() {
    let nobody = pair(|comm| comm.send(1, ALL), |_| ());
    assert_eq!(nobody, Err(What::Unmatched { message: "send", partner: 1, number: 0 }));
    let short = pair(|comm| comm.send(1, ALL.part(0, 3)), |comm| comm.recv(0, ALL));
    assert_eq!(short, Err(What::MessageLength { sent: 3, expected: 4, partner: 0 }));
    assert_eq!(pair(|comm| comm.send(0, ALL), |_| ()), Err(What::Partner(0)));
}

#[test]
fn buffers_have_ends_and_contents() {
    let undefined = |comm: &mut dyn Comm| {
        let scratch = comm.scratch(8);
        comm.copy(ALL, scratch.part(0, 4));
        comm.send(1, scratch.part(2, 4));
    };
    let range = Range { buffer: Buffer::Scratch, start: 2, len: 4 };
    assert_eq!(pair(undefined, |comm| comm.recv(0, ALL)), Err(What::Undefined { range, unit: 4 }));
    let outside = Range::receive(1, 4);
    let found = pair(|comm| comm.send(1, outside), |comm| comm.recv(0, ALL));
    assert_eq!(found, Err(What::Outside { range: outside, units: 4 }));
    let found = pair(|comm| comm.send(1, OWN), |comm| comm.recv(0, ALL));
    assert_eq!(found, Err(What::NoBuffer(Buffer::Send)));
    assert_eq!(pair(|_| (), |_| ()), Err(What::Missing { unit: 0 }));
    let swapped = |comm: &mut dyn Comm| {
        comm.recv(0, ALL.part(2, 2));
        comm.recv(0, ALL.part(0, 2));
    };
    let found = pair(|comm| [0, 2].into_iter().for_each(|start| comm.send(1, ALL.part(start, 2))), swapped);
    assert_eq!(found, Err(What::Misplaced { unit: 0, found: 2, from: 0, wanted: 0, of: 0 }));
}

#[test]
fn own_contribution_overwritten_in_place_is_found() {
    // Receives the partner's contribution where, in place, the own one still is to be read.
    let careless = |comm: &mut dyn Comm| {
        let partner = 1 - comm.rank();
        let kept = comm.scratch(4);
        let received = comm.irecv(partner, kept);
        comm.send(partner, OWN);
        comm.wait(&[received]);
        comm.copy(kept, ALL);
        let (left, right) = if comm.rank() == 0 { (OWN, ALL) } else { (ALL, OWN) };
        comm.fold(left, right, ALL);
    };
    let allreduce = call(Operation::Allreduce, 4);
    assert!(run(&allreduce, 2, Mode::STRICT, careless).is_ok());
    assert!(matches!(run(&allreduce, 2, Mode::STRICT_IN_PLACE, careless), Err(What::Incomplete { .. })));
    let writes = |comm: &mut dyn Comm| comm.copy(ALL, OWN);
    let found = run(&Call { operation: Operation::Allreduce, ..allreduce }, 1, Mode::STRICT, writes);
    assert!(matches!(found, Err(What::Undefined { .. })));
    let found = run(&allreduce, 1, Mode::STRICT, |comm| {
        comm.copy(OWN, ALL);
        comm.copy(ALL, OWN);
    });
    assert_eq!(found, Err(What::ReadOnly(Buffer::Send)));
}

#[test]
fn the_message_of_a_broadcast_is_not_written_at_the_root() {
    let exchange = |partner: usize| {
        move |comm: &mut dyn Comm| {
            let (sent, received) = (ALL.part(2 * partner, 2), ALL.part(2 - 2 * partner, 2));
            comm.sendrecv(partner, sent, partner, received);
        }
    };
    let sent_back = |comm: &mut dyn Comm| {
        comm.recv(0, ALL);
        exchange(0)(comm);
    };
    let receives = |comm: &mut dyn Comm| {
        comm.send(1, ALL);
        exchange(1)(comm);
    };
    assert_eq!(pair(receives, sent_back), Err(What::ReadOnly(Buffer::Receive)));
    let copies = |comm: &mut dyn Comm| {
        let kept = comm.scratch(4);
        comm.copy(ALL, kept);
        comm.send(1, kept);
        comm.copy(kept, ALL);
    };
    assert_eq!(pair(copies, |comm| comm.recv(0, ALL)), Err(What::ReadOnly(Buffer::Receive)));
}

#[test]
fn what_is_scattered_is_not_written_even_where_the_result_is_part_of_it() {
    let scatter = |comm: &mut dyn Comm| {
        if comm.rank() == 1 {
            return comm.recv(0, ALL);
        }
        comm.send(1, Range::send(4, 4));
        let kept = comm.scratch(4);
        comm.copy(OWN, kept);
        comm.copy(kept, ALL);
    };
    let call = call(Operation::Scatter, 4);
    assert!(run(&call, 2, Mode::STRICT, scatter).is_ok());
    assert_eq!(run(&call, 2, Mode::STRICT_IN_PLACE, scatter), Err(What::ReadOnly(Buffer::Receive)));
}
