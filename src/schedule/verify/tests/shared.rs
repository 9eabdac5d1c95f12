//! Deliberately wrong algorithms in shared memory, each of which has to be caught with the right words.

use super::super::*;
use crate::algorithm::{Operation, Shared, SharedMemory};
use crate::schedule::{Comm, Range, record_body};

const SHARED: SharedMemory = SharedMemory { window: 64, ..SharedMemory::PLAIN };
const ALL: Range = Range::receive(0, 4);

fn call() -> Call<'static> {
    Call { shared: Some(SHARED), ..Call::plain(Operation::Bcast, 4, 4) }
}

/// `number` broadcasts of rank 0 among three, one after another.
fn several(number: usize, body: impl Fn(&mut dyn Comm)) -> Result<(), (usize, What)> {
    let programs: Vec<_> = (0..3).map(|rank| record_body(rank, 3, &body)).collect();
    let calls = vec![(&programs[..], call()); number];
    verify_sequence(&calls, Mode::STRICT).map_err(|(number, fault)| (number, fault.what))
}

/// What a broadcast through the window of rank 0 leaves out.
#[derive(Clone, Copy, Default)]
struct Without {
    banks: bool,
    signal: bool,
    waiting: bool,
}

fn bcast(without: Without) -> impl Fn(&mut dyn Comm) {
    move |comm| {
        comm.enter(0);
        let window = Range::window(0, false, 0, 4);
        if comm.rank() == 0 {
            if !without.banks {
                comm.await_begun(1);
            }
            comm.copy(ALL, window);
            if !without.signal {
                comm.signal(1);
            }
        } else {
            if !without.waiting {
                comm.await_flag(0, 1);
            }
            comm.copy(window, ALL);
        }
    }
}

#[test]
fn what_waits_and_tells_is_right_however_often() {
    assert_eq!(several(20, bcast(Without::default())), Ok(()));
}

#[test]
fn a_read_that_waits_for_nothing_is_found() {
    let found = several(1, bcast(Without { waiting: true, ..Without::default() }));
    let range = Range::window(0, false, 0, 4);
    assert_eq!(found, Err((0, What::ReadsUntold { range, writer: 0, ago: 0 })));
    let text = found.unwrap_err().1.to_string();
    assert_eq!(text, "window of rank 0[0..4] was written by rank 0 (in this call), and no flag tells of that");
}

#[test]
fn a_flag_that_nobody_raises_is_found() {
    let found = several(1, bcast(Without { signal: true, ..Without::default() }));
    assert_eq!(found, Err((0, What::NeverTold { partner: 0, call: 1, step: 1 })));
}

#[test]
fn a_bank_that_is_written_while_it_may_be_read_is_found() {
    let found = several(20, bcast(Without { banks: true, ..Without::default() }));
    let Err((2, What::OverwritesUnread { reader, ago: 2, .. })) = found else { panic!("{found:?}") };
    assert!(reader > 0);
}

#[test]
fn the_bank_of_the_call_before_is_not_free_either() {
    let other = |comm: &mut dyn Comm| {
        comm.enter(0);
        let window = Range::window(0, true, 0, 4);
        if comm.rank() == 0 {
            comm.await_begun(0);
            comm.copy(ALL, window);
            comm.signal(1);
        } else {
            comm.await_flag(0, 1);
            comm.copy(window, ALL);
        }
    };
    // All have begun the second call, and left the first; the third call uses the bank as its own.
    assert_eq!(several(3, other), Ok(()));
    let programs = |body: &dyn Fn(&mut dyn Comm)| (0..3).map(|rank| record_body(rank, 3, body)).collect::<Vec<_>>();
    let (other, own) = (programs(&other), programs(&bcast(Without::default())));
    let found = verify_sequence(&[(&other[..], call()), (&own[..], call())], Mode::STRICT);
    let Err((1, Fault { what: What::OverwritesUnread { ago: 1, .. }, .. })) = found else { panic!("{found:?}") };
}

#[test]
fn misuse_is_named() {
    let alone = |body: &dyn Fn(&mut dyn Comm)| several(1, body).unwrap_err().1;
    assert_eq!(alone(&|comm| comm.signal(1)), What::NotEntered);
    let twice = |comm: &mut dyn Comm| {
        comm.enter(1);
        comm.signal(1);
    };
    assert_eq!(alone(&twice), What::FlagDoesNotGrow { from: 1, to: 1 });
    assert_eq!(alone(&|comm| comm.enter(1 << 20)), What::StepTooLong(1 << 20));
    let range = Range::window(2, false, 0, 4);
    let into_others = |comm: &mut dyn Comm| {
        comm.enter(0);
        comm.copy(ALL, range);
    };
    let found = several(1, |comm| if comm.rank() == 0 { into_others(comm) } else { comm.enter(0) });
    assert_eq!(found, Err((0, What::WritesOfOthers { range })));
    let often = |comm: &mut dyn Comm| (0..=comm.rank()).for_each(|_| comm.enter(0));
    assert_eq!(alone(&often), What::CallsDiffer { calls: 2, first: 1 });
    let arrives = |comm: &mut dyn Comm| {
        comm.enter(0);
        (0..2).for_each(|_| comm.shared(Shared::Arrive));
    };
    assert_eq!(alone(&arrives), What::ArrivesTwice);
    let outside = Range::window(0, false, 13, 4);
    let beyond = |comm: &mut dyn Comm| {
        comm.enter(0);
        if comm.rank() == 0 {
            comm.copy(ALL, outside);
        }
    };
    assert_eq!(alone(&beyond), What::Outside { range: outside, units: 16 });
}

#[test]
fn without_shared_memory_there_is_no_window() {
    let programs: Vec<_> = (0..3).map(|rank| record_body(rank, 3, bcast(Without::default()))).collect();
    let found = verify_programs(&programs, &Call { shared: None, ..call() }, Mode::STRICT).map_err(|fault| fault.what);
    assert_eq!(found, Err(What::NoBuffer(crate::schedule::Buffer::Shared)));
}
