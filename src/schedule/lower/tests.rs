use super::*;
use crate::algorithm::{Operation, parse_choice};
use crate::schedule::limits::ProtocolLimits;

const UNIT: usize = 4;

fn call(operation: Operation, count: usize) -> Call<'static> {
    Call::plain(operation, count, UNIT)
}

fn lowered(operation: Operation, choice: &str, rank: usize, size: usize, form: &Form) -> Lowered {
    let choice = parse_choice(operation, choice).expect("in the catalogue");
    lower(&Part { choice: &choice, call: &call(operation, 3), rank, size }, form, usize::MAX).expect("no limit")
}

/// The actions of a body on rank `rank` of `size`.
fn actions_of(rank: usize, size: usize, form: &Form, body: impl FnOnce(&mut dyn Comm)) -> (Vec<Action>, usize) {
    let mut kept = Kept { actions: Vec::new(), scratch: 0, most: usize::MAX };
    let requests = stream_body(rank, size, UNIT, &[], form, &mut kept, body);
    (kept.actions, requests)
}

const fn whole(peer: u32, range: Range) -> Message {
    Message { peer, range, fragment: range.len }
}

const STARTED: Form = Form { blocking: false, ..Form::PLAIN };

#[test]
fn what_is_waited_for_at_once_is_one_blocking_call() {
    let message = whole(1, Range::receive(0, 3));
    assert_eq!(*lowered(Operation::Bcast, "linear", 0, 2, &Form::PLAIN).actions, [Action::Send(message)]);
    let waiting = [Action::StartSend { message, slot: 0 }, Action::Wait { first: 0, number: 1 }];
    assert_eq!(*lowered(Operation::Bcast, "linear", 0, 2, &STARTED).actions, waiting);
}

#[test]
fn two_ways_at_once_are_one_exchange() {
    let apart = Form { apart: false, ..Form::PLAIN };
    let program = lowered(Operation::Allreduce, "recursive_doubling", 1, 2, &apart);
    let [Action::Exchange { out, into }, Action::Fold { into: result, .. }] = *program.actions else {
        panic!("{program:?}")
    };
    assert_eq!((out, into.peer, into.range.len), (whole(0, Range::send(0, 3)), 0, 3));
    assert_eq!((result, program.requests), (Range::receive(0, 3), 0));
}

#[test]
fn what_is_folded_into_the_result_arrives_there_if_the_buffers_are_apart() {
    let program = lowered(Operation::Allreduce, "recursive_doubling", 1, 4, &Form::PLAIN);
    let [
        Action::Exchange { into: first, .. },
        Action::Fold { left, right, .. },
        Action::Exchange { into: second, .. },
        ..,
    ] = program.actions[..]
    else {
        panic!("{program:?}")
    };
    let result = Range::receive(0, 3);
    assert_eq!((first.range, left, right), (result, result, Range::send(0, 3)));
    assert_eq!(second.range.buffer, Buffer::Scratch, "the result is folded with it");
    let shared = lowered(Operation::Allreduce, "recursive_doubling", 1, 4, &Form { apart: false, ..Form::PLAIN });
    let [Action::Exchange { into: first, .. }, ..] = shared.actions[..] else { panic!("{shared:?}") };
    assert_eq!(first.range.buffer, Buffer::Scratch, "in place it would overwrite the contribution");
}

#[test]
fn what_is_needed_again_or_sent_meanwhile_stays_in_scratch() {
    let scratch = Range { buffer: Buffer::Scratch, start: 0, len: 3 };
    let (send, receive) = (Range::send(0, 3), Range::receive(0, 3));
    let fold = Action::Fold { left: scratch, right: send, into: receive };
    let changed_by = |right_alone, first: Action, last: Range| {
        let mut actions = [first, fold, Action::Send(whole(0, last))];
        let before = actions;
        results_in_place::apply(&mut actions, right_alone);
        actions != before
    };
    let changed = |first, last| changed_by(false, first, last);
    let arrives = Action::Receive(whole(0, scratch));
    assert!(!changed(arrives, scratch));
    assert!(changed(arrives, receive));
    assert!(!changed_by(true, arrives, receive), "it is the left side");
    let exchange = |out| Action::Exchange { out: whole(1, out), into: whole(0, scratch) };
    assert!(changed(exchange(send), receive));
    assert!(!changed(exchange(receive), receive), "the result's place is being sent from");
}

#[test]
fn the_last_message_of_a_group_blocks_and_the_others_are_waited_for() {
    let (actions, requests) = actions_of(1, 3, &Form::PLAIN, |comm| {
        let (first, second) = (comm.irecv(0, Range::receive(0, 1)), comm.irecv(2, Range::receive(1, 1)));
        let third = comm.isend(0, Range::send(0, 1));
        comm.wait(&[first, second, third]);
    });
    let expected = [
        Action::StartReceive { message: whole(0, Range::receive(0, 1)), slot: 0 },
        Action::StartReceive { message: whole(2, Range::receive(1, 1)), slot: 1 },
        Action::Send(whole(0, Range::send(0, 1))),
        Action::Wait { first: 0, number: 2 },
    ];
    assert_eq!((&actions[..], requests), (&expected[..], 2));
}

#[test]
fn short_messages_beside_copies_block() {
    let message = |range| whole(1, range);
    let copy = |into| Action::Copy { from: Range::send(0, 3), into: Range::receive(into, 3) };
    let root = lowered(Operation::Gather, "linear", 0, 2, &Form::PLAIN);
    assert_eq!(*root.actions, [copy(0), Action::Receive(message(Range::receive(3, 3)))]);
    let root = lowered(Operation::Scatter, "linear", 0, 2, &Form::PLAIN);
    assert_eq!(*root.actions, [Action::Send(message(Range::send(3, 3))), copy(0)]);
    let rank = lowered(Operation::Allgather, "direct", 0, 2, &Form::PLAIN);
    let expected = [
        Action::StartSend { message: message(Range::send(0, 3)), slot: 0 },
        copy(0),
        Action::Receive(message(Range::receive(3, 3))),
        Action::Wait { first: 0, number: 1 },
    ];
    assert_eq!(*rank.actions, expected);
    let many = lowered(Operation::Gather, "linear", 0, 3, &Form::PLAIN);
    let last = [copy(0), Action::Receive(message(Range::receive(3, 3))), Action::Wait { first: 0, number: 1 }];
    assert_eq!(many.actions[1..], last, "the other was started");
}

#[test]
fn messages_are_cut_and_each_fragment_has_a_request() {
    let fragments = Fragments { between_nodes: None, within_node: ProtocolLimits::of([2 * UNIT]).unwrap() };
    let (actions, requests) = actions_of(0, 2, &Form { fragments, ..STARTED }, |comm| {
        let first = comm.irecv(1, Range::receive(0, 4));
        let second = comm.isend(1, Range::send(0, 2));
        comm.wait(&[first]);
        comm.wait(&[second]);
    });
    let cut = Message { peer: 1, range: Range::receive(0, 4), fragment: 2 };
    let expected = [
        Action::StartReceive { message: cut, slot: 0 },
        Action::StartSend { message: whole(1, Range::send(0, 2)), slot: 2 },
        Action::Wait { first: 0, number: 2 },
        Action::Wait { first: 2, number: 1 },
    ];
    assert_eq!((&actions[..], requests), (&expected[..], 3));
    let odd = Message { peer: 1, range: Range::receive(1, 5), fragment: 2 };
    let fragments: Vec<_> = odd.fragments().map(|range| (range.start, range.len)).collect();
    assert_eq!((fragments, odd.number_of_fragments()), (vec![(1, 2), (3, 2), (5, 1)], 3));
    let nothing = whole(1, Range::send(0, 0));
    assert_eq!((nothing.fragments().count(), nothing.number_of_fragments()), (1, 1), "an empty message is a message");
    let long = Message { range: Range::send(3, 130), fragment: 1, ..odd };
    let parts: Vec<_> = long.parts().map(|part| (part.range.start, part.range.len, part.fragment)).collect();
    assert_eq!(parts, [(3, 64, 1), (67, 64, 1), (131, 2, 1)], "so many at once");
    assert!(long.parts().flat_map(Message::fragments).eq(long.fragments()));
    assert_eq!((odd.parts().count(), nothing.parts().count()), (1, 1));
}

#[test]
fn places_of_finished_requests_are_used_again() {
    let (actions, requests) = actions_of(0, 2, &STARTED, |comm| {
        for unit in 0..100 {
            let (first, second) = (comm.isend(1, Range::send(unit, 1)), comm.isend(1, Range::send(unit, 1)));
            comm.wait(&[second, first]);
        }
    });
    assert_eq!(requests, 2);
    let waits = actions.iter().filter(|action| matches!(action, Action::Wait { .. })).count();
    assert_eq!(waits, 200, "in the order in which the algorithm waits");
}

#[test]
fn what_begins_when_the_window_is_full_holds_its_place() {
    for copies in WINDOW - 3..WINDOW + 3 {
        let (actions, requests) = actions_of(0, 2, &STARTED, |comm| {
            for unit in 0..copies {
                comm.copy(Range::send(unit, 1), Range::receive(unit, 1));
            }
            let (first, second) = (comm.isend(1, Range::send(0, 1)), comm.irecv(1, Range::receive(0, 1)));
            comm.wait(&[first, second]);
        });
        assert_eq!((requests, actions.len()), (2, copies + 3), "{copies} copies");
        assert_eq!(actions.last(), Some(&Action::Wait { first: 0, number: 2 }), "{copies} copies");
    }
}

#[test]
fn a_list_has_a_limit_and_a_stream_has_none() {
    let choice = parse_choice(Operation::Bcast, "linear").expect("in the catalogue");
    let part = Part { choice: &choice, call: &call(Operation::Bcast, 8), rank: 0, size: 100 };
    // 99 sends of which the last blocks, and a wait for the others.
    assert_eq!(lower(&part, &Form::PLAIN, 99), None);
    let list = lower(&part, &Form::PLAIN, 100).expect("it fits");
    let mut streamed = Kept { actions: Vec::new(), scratch: 0, most: usize::MAX };
    assert_eq!(stream(&part, &Form::PLAIN, &mut streamed), list.requests);
    assert_eq!(streamed.actions[..], *list.actions);
}

#[test]
fn local_reductions_keep_the_order_of_their_sides() {
    let [a, b, c] = [0, 3, 6].map(|start| Range::receive(start, 3));
    let replaced = |may_swap, sides| {
        let [left, right, into] = sides;
        let form = Form { combine: Combine::ReduceLocal { may_swap }, ..Form::PLAIN };
        actions_of(0, 1, &form, |comm| comm.fold(left, right, into)).0
    };
    let reduce = |input, inout| Action::ReduceLocal { input, inout };
    assert_eq!(replaced(false, [a, b, b]), [reduce(a, b)]);
    assert_eq!(replaced(true, [a, b, a]), [reduce(b, a)]);
    assert_eq!(replaced(false, [a, b, c]), [Action::Copy { from: b, into: c }, reduce(a, c)]);
    let spare = Range { buffer: Buffer::Scratch, start: 0, len: 3 };
    let by_spare = [Action::Copy { from: b, into: spare }, reduce(a, spare), Action::Copy { from: spare, into: a }];
    assert_eq!(replaced(false, [a, b, a]), by_spare);
    let fold = |left, right, into| vec![Action::Fold { left, right, into }];
    let own = Range::send(0, 3);
    let shared = |may_swap| local_reduction::apply(&fold(own, b, a), 0, LocalReduction::new(may_swap, 1, false)).0;
    assert_eq!(shared(true), [Action::Copy { from: own, into: a }, reduce(b, a)], "the contribution may lie there");
    assert_eq!(shared(false).len(), 3);
    let list = local_reduction::apply(&fold(a, b, a), 7, LocalReduction::new(false, 1, true));
    assert_eq!((list.0.len(), list.1), (3, 10), "the spare room comes after the algorithm's");
}

#[test]
fn what_is_moved_out_of_the_way_goes_in_pieces() {
    let [into, other] = [0, 1 << 20].map(|start| Range::receive(start, 100_001));
    let lowered = |may_swap, [left, right, into]: [Range; 3]| {
        let local = LocalReduction::new(may_swap, 8, true);
        local_reduction::apply(&[Action::Fold { left, right, into }], 0, local)
    };
    let (actions, scratch) = lowered(false, [into, other, into]);
    assert_eq!((actions.len(), scratch), (3 * 25, 4096));
    let reduced = actions.iter().filter_map(|action| match action {
        Action::ReduceLocal { input, inout } => Some((*input, inout.len)),
        _ => None,
    });
    let mut next = 0;
    for (input, len) in reduced {
        assert_eq!((input, len), (into.part(next, len), len.min(4096)));
        next += len;
    }
    assert_eq!(next, into.len);
    for at_once in [lowered(true, [into, other, into]), lowered(false, [other, into, into])] {
        assert_eq!(at_once.0.len(), 1);
    }
}

#[test]
fn a_right_side_that_is_over_is_written_over() {
    let [left, other] = [0, 3].map(|start| Range::receive(start, 3));
    let [right, elsewhere] = [0, 3].map(|start| Range { buffer: Buffer::Scratch, start, len: 3 });
    let message = |range: Range| Message { peer: 1, range, fragment: 2 };
    let fold = Action::Fold { left, right, into: left };
    let there = [Action::ReduceLocal { input: left, inout: right }, Action::Copy { from: right, into: left }];
    let spare = Range { buffer: Buffer::Scratch, start: 6, len: 3 };
    let apart = [
        Action::Copy { from: right, into: spare },
        Action::ReduceLocal { input: left, inout: spare },
        Action::Copy { from: spare, into: left },
    ];
    let send = Action::StartSend { message: message(right), slot: 3 };
    let wait = |first, number| Action::Wait { first, number };
    let lowered = |before: &[Action], after: &[Action]| {
        let list = [before, &[fold], after].concat();
        let (actions, _) = local_reduction::apply(&list, 6, LocalReduction::new(false, 8, true));
        let own = &actions[before.len()..actions.len() - after.len()];
        assert!(own == there || own == apart, "{own:?}");
        own == there
    };
    let copied = Action::Copy { from: right, into: other };
    assert!(lowered(&[], &[]), "nothing comes after");
    assert!(!lowered(&[], &[copied]), "what comes after reads it");
    assert!(lowered(&[], &[Action::Receive(message(right)), copied]), "it is written anew before");
    let half = Action::Receive(message(right.part(0, 2)));
    assert!(!lowered(&[], &[half, copied]), "half of it is written anew");
    assert!(lowered(&[Action::Send(message(right))], &[]), "it is sent");
    assert!(!lowered(&[send], &[wait(3, 2)]), "it is being sent");
    assert!(!lowered(&[send, wait(4, 1)], &[wait(3, 1)]), "half of it is being sent");
    assert!(!lowered(&[send, wait(0, 3)], &[wait(3, 2)]), "others are waited for");
    assert!(lowered(&[send, wait(4, 1), wait(3, 1)], &[]), "it was sent in two fragments");
    assert!(lowered(&[send, wait(0, 9)], &[]), "it was sent with others");
    let started = Action::StartSend { message: message(elsewhere), slot: 0 };
    assert!(lowered(&[started], &[wait(0, 2)]), "something else is being sent");
    let contribution = Action::Fold { left, right: Range::send(0, 3), into: left };
    let (actions, _) = local_reduction::apply(&[contribution], 6, LocalReduction::new(false, 8, true));
    assert_eq!(actions.len(), 3, "a contribution stays as it is");
}
