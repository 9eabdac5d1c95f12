//! A transport's steps on a board: what a step means there, and where a range of shared memory lies.

use crate::operation::{Place, Range, Shared};
use crate::shared::Board;

/// Looks after which a rank that waits for another finds out whether the other one will ever come: one of another
/// length may write to other places, and fewer or more of them.
const LOOKS: u32 = 512;
/// Looks from one time to the next.
const BETWEEN: u32 = 16;

/// Takes a step on the board. What is not there yet is waited for by `wait`, which gets what says whether it is.
///
/// # Errors
/// What `wait` says.
#[inline(always)]
pub fn take<E>(
    board: &mut Board,
    step: Shared,
    wait: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<(), E>,
) -> Result<(), E> {
    match step {
        Shared::Enter { step } => board.enter(step),
        Shared::Signal { step } => board.signal(step),
        Shared::Post => board.post(),
        Shared::Release { rank } => board.release(rank as usize),
        Shared::Arrive => board.arrive(),
        waits => {
            if !is_over(board, waits) {
                let mut looks = 0;
                return wait(&mut || {
                    looks = u32::wrapping_add(looks, 1);
                    is_over(board, waits)
                        || (looks % BETWEEN == 0 && (looks >= LOOKS || board.disagrees()) && never(board, waits))
                });
            }
        }
    }
    Ok(())
}

/// Takes a step of a call in which the rank has met an error: it moves no data any more, but raises its flags, so that
/// nobody waits for it in vain and all count the same calls. Whoever would get data from it learns that it gets none
/// ([`Board::fail`]).
///
/// It does not wait for others, who may wait for messages that it does not send, and then its error would never be
/// told. Two waits remain, which are for calls that others are in already or will come to without it: it stays near
/// enough for others to look at what it has told of each call, and it arrives in one call after another.
///
/// # Errors
/// What `wait` says; the step is taken all the same.
#[cold]
pub fn pass<E>(
    board: &mut Board,
    step: Shared,
    wait: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<(), E>,
) -> Result<(), E> {
    board.fail();
    match step {
        Shared::Enter { step } => {
            let waited = wait(&mut || board.may_enter());
            board.enter(step);
            return waited;
        }
        Shared::AwaitArrivals => return wait(&mut || board.have_arrived()),
        waits if waits.waits() => {}
        tells => return take(board, tells, wait),
    }
    Ok(())
}

/// Whether what a step waits for is there.
#[inline(always)]
fn is_over(board: &mut Board, waits: Shared) -> bool {
    match waits {
        Shared::Await { rank, step } => board.has_reached(rank as usize, step),
        Shared::Begun { before } => board.have_begun(before),
        Shared::AwaitPost { rank } => board.has_posted(rank as usize),
        Shared::AwaitRelease => board.is_released(),
        Shared::AwaitArrivals => board.have_arrived(),
        _ => true,
    }
}

/// Whether the rank that a step waits for has told another length, so that nothing can be waited for.
#[cold]
fn never(board: &mut Board, waits: Shared) -> bool {
    match waits {
        Shared::Await { rank, .. } | Shared::AwaitPost { rank } => board.differs(rank as usize),
        _ => false,
    }
}

/// Where a range of shared memory lies that starts so ([`Range::place`]), of units `stride` bytes apart.
#[inline(always)]
pub fn address(board: &Board, start: usize, stride: isize) -> *mut u8 {
    let (place, rank, unit) = Range::place(start);
    let memory = board.memory();
    let base = match place {
        Place::Window => memory.window(rank, board.bank(false)),
        Place::OtherWindow => memory.window(rank, board.bank(true)),
        Place::Line => memory.payload(rank, board.line()),
    };
    base.wrapping_offset(unit as isize * stride)
}

// What algorithms are told of lines, steps and long messages, and what the board and the channels do.
const _: () = {
    use crate::operation::SharedMemory;
    assert!(SharedMemory::LINE == crate::shared::PAYLOAD);
    assert!(SharedMemory::LINES as usize == crate::shared::LINES);
    assert!(SharedMemory::LENT_FROM == crate::shared::LENT_FROM);
    assert!(SharedMemory::PLAIN.last_step == crate::shared::LONGEST_STEP as usize);
    assert!(crate::shared::BANKS == 2);
};
