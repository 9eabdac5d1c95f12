//! How long messages take that are alone, share ports or take turns, and what is said of those that do not fit
//! together.

use super::super::*;
use crate::algorithm::{Kind, Operation, Value, all, find, parse_choice};
use crate::operation::Shape;
use crate::schedule::fragments::Fragments;
use crate::schedule::lower::Form;
use crate::schedule::{Comm, Range};

fn network() -> Network {
    Network {
        name: "test".to_owned(),
        description: String::new(),
        on_node: link([1.0, 0.5, 0.25, 0.125]),
        off_node: link([10.0, 2.0, 1.0, 0.5]),
        per_folded_byte: 3.0,
        per_copied_byte: 1.0,
        ranks_per_node: 2,
        ports_per_node: 1,
        memory: Memory::FREE,
        fragment: None,
        limits: None,
    }
}

fn link([latency, overhead, gap, per_byte]: [f64; 4]) -> Link {
    let handshake = 2.0 * latency;
    let (half_duplex, shares) = (false, false);
    Link { latency, overhead, gap, per_byte, eager_limit: 9, handshake, half_duplex, shares, burst: 0, queue: 0 }
}

fn run(size: usize, network: &Network, body: impl Fn(&mut dyn Comm)) -> Outcome {
    let tapes = Tapes::of(size, 1, usize::MAX, body).unwrap();
    simulate_tapes(&tapes, network, &network.nodes(size), &mut ()).unwrap()
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
fn after_so_much_sent_ahead_a_message_waits_for_its_receive() {
    // A long message cut into short ones, none of which is long enough to wait by itself.
    let link = Link { eager_limit: 1 << 20, ..link([0.5, 0.25, 0.0, 0.0]) };
    let network = Network { on_node: link, off_node: link, ranks_per_node: 1, ..network() };
    let (choice, nodes) = (parse_choice(Operation::Bcast, "linear").unwrap(), [0, 1]);
    let fragments = Fragments { between_nodes: Some(1 << 16), ..Fragments::default() };
    let ends = |bytes: usize, late: u64| {
        let call = Call { nodes: &nodes, ..Call::plain(Operation::Bcast, bytes, 1) };
        let mut tapes = Tapes::record(&choice, &call, 2, &Form { fragments, ..Form::PLAIN }, usize::MAX).unwrap();
        // The receiver does something else first.
        tapes.beats.insert(tapes.bounds[1], Beat::Copy(late));
        tapes.bounds[2] += 1;
        simulate_tapes(&tapes, &network, &nodes, &mut ()).unwrap().finished
    };
    assert_eq!(ends(1 << 18, 0), [4.0 * 0.25, 4.0 * 0.25 + 0.5 + 0.25], "the sender has handed four fragments over");
    assert_eq!(ends(1 << 18, 100)[0], 4.0 * 0.25);
    let arrived = 16.0 * 0.25 + 0.5;
    assert_eq!(ends(1 << 20, 0), [arrived + 0.5, arrived + 0.25], "it knows that the last of sixteen has come");
    assert_eq!(ends(1 << 20, 100)[0], 100.0 + 0.5, "and is taken");
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
fn shared_ports_end_together_what_came_together() {
    let spread = |comm: &mut dyn Comm| match comm.rank() {
        0 => {
            let sends = [1, 2, 3].map(|to| comm.isend(to, Range::send(0, 16)));
            comm.wait(&sends);
        }
        r if r < 4 => comm.recv(0, Range::receive(0, 16)),
        _ => {}
    };
    let one = Network { ranks_per_node: 1, off_node: link([0.0, 0.0, 0.0, 1.0]), ..network() };
    assert_eq!(run(4, &one, spread).finished, [48.0, 16.0, 32.0, 48.0]);
    let shared = Network { off_node: Link { shares: true, ..one.off_node }, ..one.clone() };
    assert_eq!(run(4, &shared, spread).finished, [48.0; 4]);
    let two_ports = Network { ports_per_node: 2, ..shared.clone() };
    assert_eq!(run(4, &two_ports, spread).finished, [24.0; 4]);
    let twice = |comm: &mut dyn Comm| (0..2).for_each(|_| message(0, 1, 16)(comm));
    assert_eq!(run(2, &shared, twice).finished, [32.0; 2], "one connection's messages go in order");
}

#[test]
fn opposite_long_messages_take_turns_where_the_link_is_half_duplex() {
    let swap = |bytes| {
        move |comm: &mut dyn Comm| {
            let other = 1 - comm.rank();
            comm.sendrecv(other, Range::send(0, bytes), other, Range::receive(0, bytes));
        }
    };
    for shares in [false, true] {
        let full = Link { shares, ..link([0.0, 0.0, 0.0, 1.0]) };
        let full = Network { on_node: full, off_node: full, ..network() };
        let half = Link { half_duplex: true, ..full.on_node };
        let half = Network { on_node: half, off_node: half, ..network() };
        assert_eq!((run(2, &full, swap(16)).time, run(2, &half, swap(16)).time), (16.0, 32.0));
        assert_eq!(run(2, &half, swap(8)).time, 8.0, "eager messages pass each other");
    }
}

/// As `collie fit` finds it with TCP: ports that are shared, and bytes of each connection in them.
fn with_queue(link: Link) -> Link {
    Link { half_duplex: true, shares: true, queue: 1 << 17, ..link }
}

#[test]
fn a_call_inside_a_node_knows_nothing_of_what_is_between_nodes() {
    let preset = Network::preset("ethernet").unwrap();
    let others = [preset.off_node, with_queue(preset.off_node), link([1.0; 4]), with_queue(link([1.0; 4]))];
    for (operation, name, bytes) in [
        (Operation::Barrier, "dissemination", 0),
        (Operation::Bcast, "binomial", 8),
        (Operation::Allgather, "ring", 1 << 20),
    ] {
        let choice = Choice::new(find(operation, name).unwrap());
        let times = others.map(|off_node| {
            let network = Network { off_node, ..preset.clone() };
            predict(&choice, &network.call(operation, 0, bytes, &[]), 8, &network, usize::MAX).unwrap().unwrap().time
        });
        assert_eq!(times, [times[0]; 4], "{name}");
    }
}

#[test]
fn ranks_begin_together_where_there_are_queues() {
    let preset = Network::preset("ethernet").unwrap();
    let time = |off_node: Link, operation, name, bytes, root, size: usize| {
        let network = Network { off_node, ranks_per_node: 1, fragment: None, ..preset.clone() };
        let (choice, nodes) = (Choice::new(find(operation, name).unwrap()), network.nodes(size));
        let call = network.call(operation, root, bytes, &nodes);
        predict(&choice, &call, size, &network, usize::MAX).unwrap().unwrap().time
    };
    let plain = Link { half_duplex: false, shares: false, ..preset.off_node };
    let shared = Link { shares: true, ..plain };
    let near = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-9, "{one} {other}");
    for size in [2, 7, 64] {
        let barrier = |link| time(link, Operation::Barrier, "dissemination", 0, 0, size);
        near(barrier(with_queue(plain)), barrier(plain));
        // Queues are of shared ports.
        near(barrier(Link { queue: 1 << 17, ..plain }), barrier(plain));
    }
    // A message that waits for its receive, and is alone, takes what the link says, whoever sends it.
    let message = |link, root| time(link, Operation::Bcast, "linear", 1 << 20, root, 2);
    for root in 0..2 {
        near(message(with_queue(shared), root), message(shared, root));
    }
    // In lock step each of a ring's messages would find its ports empty.
    let slow = Link { latency: 1.1e-4, overhead: 1e-5, gap: 8e-6, per_byte: 4e-8, handshake: 5e-5, ..preset.off_node };
    let ring = |size| time(with_queue(slow), Operation::Allgather, "ring", 1 << 18, 0, size);
    let in_lock_step = 7.0 * (1 << 18) as f64 * slow.per_byte;
    assert!(ring(8) > 1.3 * in_lock_step, "{} {in_lock_step}", ring(8));
}

#[test]
fn parameters_of_any_size_are_no_trouble() {
    let network = Network::preset("shared_memory").unwrap();
    for row in all() {
        let numbers = |kind| matches!(kind, Kind::Count { .. } | Kind::Blocks | Kind::Bytes | Kind::Segment);
        for parameter in row.parameters.iter().filter(|parameter| numbers(parameter.kind)) {
            for value in [usize::MAX, usize::MAX - 1, 1 << 63, 1 << 32] {
                let mut choice = Choice::new(row);
                choice.set(parameter.name, Value::Number(value));
                for (size, steps) in (1..=5).flat_map(|size| [(size, usize::MAX), (size, 0)]) {
                    let call = network.call(row.operation, 0, 1000, &[]);
                    let call = network.with_shared_memory(&call, &[]);
                    let time = predict(&choice, &call, size, &network, steps).unwrap().map(|found| found.time);
                    assert!(time.is_none_or(f64::is_finite), "{choice} among {size}: {time:?}");
                }
            }
        }
    }
}

#[test]
fn what_nobody_wants_to_know_any_more_is_given_up() {
    let ring = Choice::new(find(Operation::Allgather, "ring").unwrap());
    let call = Call::plain(Operation::Allgather, 1, 1);
    let network = network();
    let tapes = Tapes::record(&ring, &call, 256, &network.form(&ring, &call), usize::MAX).unwrap();
    let ended = simulate_tapes(&tapes, &network, &[], &mut While(&|| false));
    assert_eq!(ended, Err(Broken::GivenUp));
    let asked = std::cell::Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() < 3
    };
    let found =
        predict_while(&ring, &call, 256, &network, (usize::MAX, &goes_on), &Scales::default()).unwrap().unwrap();
    assert!(!found.simulated && asked.get() == 3, "{found:?} {}", asked.get());
    assert!(predict(&ring, &call, 256, &network, usize::MAX).unwrap().unwrap().simulated);
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
fn a_call_says_where_its_ranks_lie() {
    let preset = Network::preset("ethernet").unwrap();
    let of = |ranks_per_node| Network { ranks_per_node, ..preset.clone() };
    let (one, wide, narrow) = (of(16), of(64), of(1));
    let choice = Choice::new(find(Operation::Bcast, "binomial").unwrap());
    for steps in [usize::MAX, 0] {
        let predicted = |network: &Network, nodes: &[u32], size| {
            let call = network.call(Operation::Bcast, 0, 64 << 10, nodes);
            predict(&choice, &call, size, network, steps).unwrap().unwrap().time
        };
        // However many ranks a node has elsewhere, one node is one node, and eight are eight.
        assert_eq!(predicted(&narrow, &[], 8), predicted(&one, &[], 8));
        assert_eq!(predicted(&one, &[], 32), predicted(&wide, &[], 32));
        let apart: Vec<u32> = (0..8).collect();
        assert_eq!(predicted(&one, &apart, 8), predicted(&narrow, &apart, 8));
        assert!(predicted(&one, &apart, 8) > 5.0 * predicted(&one, &[], 8));
        assert!(predicted(&narrow, &[0, 0, 0, 0, 1, 1, 1, 1], 8) > predicted(&narrow, &[], 8));
    }
}

#[test]
fn messages_go_through_memory_that_ranks_share() {
    let network = Network::preset("shared_memory").unwrap();
    let choice = Choice::new(find(Operation::Allreduce, "recursive_doubling").unwrap());
    let messages = network.call(Operation::Allreduce, 0, 64 << 10, &[]);
    let shared = network.with_shared_memory(&messages, &[]);
    let time = |call: &Call, steps| predict(&choice, call, 8, &network, steps).unwrap().unwrap().time;
    // Three rounds in lock step, so that simulation and formula agree.
    let expected = 3.0 * (1e-7 + (64 << 10) as f64 * (2e-10 + network.per_folded_byte));
    for steps in [usize::MAX, 0] {
        assert!((time(&shared, steps) / expected - 1.0).abs() < 1e-9, "{} {expected}", time(&shared, steps));
        assert!(time(&messages, steps) != time(&shared, steps));
    }
}

#[test]
fn ranks_share_ports_in_the_formula_where_most_bytes_leave_the_node() {
    let network = Network::preset("ethernet").unwrap();
    let nodes = network.nodes(64);
    let both = |operation, name, nodes: &[u32]| {
        let call = network.call(operation, 0, 64 << 10, nodes);
        let choice = Choice::new(find(operation, name).unwrap());
        let simulated = predict(&choice, &call, 64, &network, usize::MAX).unwrap().unwrap().time;
        (simulated, formula::alone(&choice, &call, 64, &network))
    };
    for name in ["linear", "pairwise"] {
        let (simulated, formula) = both(Operation::Alltoall, name, &nodes);
        assert!((0.7..1.3).contains(&(formula / simulated)), "{name}: {simulated} {formula}");
    }
    let exchanges = ["direct", "ring", "recursive_doubling", "circulant", "bine", "sparbit", "bruck", "k_bruck"];
    let exchanges = exchanges.map(|name| (Operation::Allgather, name));
    let butterflies = ["recursive_doubling", "rabenseifner", "swing"].map(|name| (Operation::Allreduce, name));
    for (operation, name) in exchanges.into_iter().chain(butterflies) {
        let (simulated, formula) = both(operation, name, &nodes);
        assert!((0.85..1.8).contains(&(formula / simulated)), "{operation} {name}: {simulated} {formula}");
    }
    // What leaders collect is counted as it is; and of a broadcast one rank of a node receives.
    let plain = |operation, name| {
        let call = network.call(operation, 0, 64 << 10, &nodes);
        network.seconds(Choice::new(find(operation, name).unwrap()).cost(&Shape::of(&call, 64)), false, false)
    };
    for (operation, name) in [(Operation::Alltoall, "hierarchical"), (Operation::Bcast, "binomial")] {
        assert_eq!(both(operation, name, &nodes).1, plain(operation, name));
    }
    // Nor does it matter where each rank has a node for itself.
    let apart: Vec<u32> = (0..64).collect();
    assert_eq!(both(Operation::Alltoall, "linear", &apart).1, plain(Operation::Alltoall, "linear"));
}

#[test]
fn formulas_are_held_against_a_simulation_on_a_few_of_the_nodes() {
    let mut network = Network::preset("ethernet").unwrap();
    network.ranks_per_node = 4;
    let nodes = network.nodes(64);
    let mut far = 0;
    for operation in [Operation::Bcast, Operation::Reduce, Operation::Allreduce, Operation::Gather] {
        for row in all().filter(|row| row.operation == operation && !row.needs.shared_memory) {
            for bytes in [1 << 10, 256 << 10] {
                let (call, choice) = (network.call(operation, 5, bytes, &nodes), Choice::new(row));
                let time = |steps| predict(&choice, &call, 64, &network, steps).unwrap().unwrap();
                let (simulated, told) = (time(usize::MAX), time(0));
                assert!(simulated.simulated && !told.simulated, "{choice}");
                let off = told.time / simulated.time;
                assert!((0.5..1.6).contains(&off), "{operation} {choice} of {bytes}: {off}");
                let alone = formula::alone(&choice, &call, 64, &network) / simulated.time;
                far += usize::from(!(0.5..1.6).contains(&alone));
            }
        }
    }
    assert!(far > 10, "{far} formulas alone are far off");
    // On one node there is nothing to hold them against.
    let choice = Choice::new(find(Operation::Bcast, "binomial").unwrap());
    let call = network.call(Operation::Bcast, 0, 8, &[]);
    let told = predict(&choice, &call, 4, &network, 0).unwrap().unwrap().time;
    assert_eq!(told, formula::alone(&choice, &call, 4, &network));
}

#[test]
fn where_there_are_two_nodes_formulas_are_held_against_a_shorter_message() {
    let mut network = Network::preset("ethernet").unwrap();
    network.ranks_per_node = 16;
    let nodes = network.nodes(32);
    let (mut far, mut far_alone) = (0, 0);
    for row in all().filter(|row| row.operation == Operation::Allreduce && !row.needs.shared_memory) {
        let (call, choice) = (network.call(row.operation, 0, 256 << 10, &nodes), Choice::new(row));
        let time = |steps| predict(&choice, &call, 32, &network, steps).unwrap().unwrap().time;
        let simulated = time(usize::MAX);
        let is_far = |told: f64| usize::from(!(0.4..2.5).contains(&(told / simulated)));
        far += is_far(time(0));
        far_alone += is_far(formula::alone(&choice, &call, 32, &network));
    }
    assert!(far <= 2 && far_alone >= 6, "{far}, {far_alone} alone");
}

#[test]
fn sixty_five_thousand_ranks_are_no_trouble() {
    let row = find(Operation::Allreduce, "recursive_doubling").unwrap();
    let call = Call::plain(Operation::Allreduce, 2, 8);
    let outcome = simulate(&Choice::new(row), &call, 1 << 16, &network(), 1 << 24, &|| true).unwrap().unwrap();
    assert_eq!(outcome.messages, 16 << 16);
    let ring = find(Operation::Allreduce, "ring").unwrap();
    assert_eq!(simulate(&Choice::new(ring), &call, 1 << 16, &network(), 1 << 24, &|| true), Ok(None));
}
