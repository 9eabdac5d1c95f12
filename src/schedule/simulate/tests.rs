use super::*;
use crate::algorithm::{Operation, find};
use crate::schedule::{Comm, Range};

fn network() -> Network {
    Network {
        name: "test".to_owned(),
        description: String::new(),
        on_node: Link { latency: 1.0, overhead: 0.5, gap: 0.25, per_byte: 0.125 },
        off_node: Link { latency: 10.0, overhead: 2.0, gap: 1.0, per_byte: 0.5 },
        per_folded_byte: 3.0,
        per_copied_byte: 1.0,
        ranks_per_node: 2,
        ports_per_node: 1,
        eager_limit: 9,
    }
}

fn run(size: usize, network: &Network, body: impl Fn(&mut dyn Comm)) -> Outcome {
    let tapes = Tapes::of(size, 1, usize::MAX, body).unwrap();
    simulate_tapes(&tapes, network, &[], &mut ()).unwrap()
}

/// `from` sends `bytes` bytes to `to`; the others do nothing.
fn message(from: usize, to: usize, bytes: usize) -> impl Fn(&mut dyn Comm) {
    move |comm| {
        if comm.rank() == from {
            comm.send(to, Range::send(0, bytes));
        } else if comm.rank() == to {
            comm.recv(from, Range::receive(0, bytes));
        }
    }
}

#[test]
fn a_message_alone_takes_what_the_link_says() {
    let outcome = run(4, &network(), message(0, 1, 8));
    assert_eq!(outcome.time, 0.5 + 1.0 + 0.25 + 8.0 * 0.125 + 0.5);
    assert_eq!((outcome.messages, outcome.bytes_on_node, outcome.bytes_off_node), (1, 8, 0));
    assert_eq!(outcome.finished, [0.5, outcome.time, 0.0, 0.0]);
    let outcome = run(4, &network(), message(1, 2, 8));
    assert_eq!(outcome.time, 2.0 + 10.0 + 1.0 + 8.0 * 0.5 + 2.0);
    assert_eq!((outcome.bytes_on_node, outcome.bytes_off_node), (0, 8));
}

#[test]
fn a_long_message_waits_for_its_receive() {
    let outcome = run(2, &network(), |comm| {
        if comm.rank() == 0 {
            comm.send(1, Range::send(0, 16));
        } else {
            comm.copy(Range::send(0, 100), Range::receive(0, 100));
            comm.recv(0, Range::receive(0, 16));
        }
    });
    // The receive starts at 100; the sender knows one latency later.
    assert_eq!(outcome.finished[0], 100.0 + 1.0 + 0.25 + 2.0);
    assert_eq!(outcome.time, 100.0 + 1.0 + 1.0 + 0.25 + 2.0 + 0.5);
}

#[test]
fn ranks_of_one_node_share_its_ports() {
    let cross = |comm: &mut dyn Comm| {
        let r = comm.rank();
        if r < 2 { comm.send(r + 2, Range::send(0, 8)) } else { comm.recv(r - 2, Range::receive(0, 8)) }
    };
    let one = run(4, &network(), cross);
    assert_eq!(one.finished[2..], [19.0, 24.0]);
    let two = run(4, &Network { ports_per_node: 2, ..network() }, cross);
    assert_eq!(two.finished[2..], [19.0, 19.0]);
}

#[test]
fn a_deadlock_and_a_missing_message_are_told() {
    let both_receive = |comm: &mut dyn Comm| {
        let partner = 1 - comm.rank();
        comm.recv(partner, Range::receive(0, 1));
        comm.send(partner, Range::send(0, 1));
    };
    let tapes = Tapes::of(2, 1, usize::MAX, both_receive).unwrap();
    assert_eq!(simulate_tapes(&tapes, &network(), &[], &mut ()), Err(Broken::Deadlock { rank: 0 }));
    let tapes = Tapes::of(2, 1, usize::MAX, |comm| {
        if comm.rank() == 0 {
            message(0, 1, 1)(comm)
        }
    })
    .unwrap();
    assert_eq!(simulate_tapes(&tapes, &network(), &[], &mut ()), Err(Broken::Unmatched { rank: 1 }));
}

#[test]
fn sixty_five_thousand_ranks_are_no_trouble() {
    let row = find(Operation::Allreduce, "recursive_doubling").unwrap();
    let call = Call { operation: Operation::Allreduce, root: 0, count: 2, unit: 8, commutative: true, nodes: &[] };
    let outcome = simulate(&Choice::new(row), &call, 1 << 16, &network(), 1 << 24).unwrap().unwrap();
    assert_eq!(outcome.messages, 16 << 16);
    let ring = find(Operation::Allreduce, "ring").unwrap();
    assert_eq!(simulate(&Choice::new(ring), &call, 1 << 16, &network(), 1 << 24), Ok(None));
}
