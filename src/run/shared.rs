//! A transport's steps on a board: what a step means there, and where a range of shared memory lies.

use crate::operation::{Place, Range, Shared};
use crate::shared::Board;

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
            let mut is_over = || match waits {
                Shared::Await { rank, step } => board.has_reached(rank as usize, step),
                Shared::Begun { before } => board.have_begun(before),
                Shared::AwaitPost { rank } => board.has_posted(rank as usize),
                Shared::AwaitRelease => board.is_released(),
                Shared::AwaitArrivals => board.have_arrived(),
                _ => true,
            };
            if !is_over() {
                return wait(&mut is_over);
            }
        }
    }
    Ok(())
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

// What algorithms are told of lines and steps, and what the board does.
const _: () = {
    use crate::operation::SharedMemory;
    assert!(SharedMemory::LINE == crate::shared::PAYLOAD);
    assert!(SharedMemory::LINES as usize == crate::shared::LINES);
    assert!(SharedMemory::LONGEST_STEP == crate::shared::LONGEST_STEP as usize);
    assert!(crate::shared::BANKS == 2);
};
