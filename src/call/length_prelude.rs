//! What has to be learned before the program of a call is known: lengths of other ranks' blocks.
//!
//! They may change from call to call with nothing changed on this rank, so the prelude that brings them is played in
//! every call. The program that follows is lowered anew where they are not those of the call before.

use crate::mpi::error::{Error, Result};
use crate::operation::{Blocks, Call, Stage};
use crate::schedule::action::{Action, Lowered};
use crate::schedule::lower::{Form, Part, lower_stage};
use std::cell::{Ref, RefCell};
use std::os::raw::c_int;

/// The prelude of a kind of call on one rank, and what the last call learned by it.
#[derive(Debug)]
pub struct LengthPrelude {
    prelude: Lowered,
    /// The own lengths by rank, then the learned ones.
    words: RefCell<Vec<u64>>,
    own: Box<[u64]>,
    /// Which of the learned lengths are those of blocks that end here, and what room there is for them.
    ending: Box<[(usize, usize)]>,
    last: RefCell<Body>,
    /// Actions of the longest program that is kept.
    most: usize,
}

/// A program and the lengths that it rests on.
#[derive(Debug, Default)]
pub struct Body {
    /// What was learned.
    pub learned: Vec<usize>,
    /// None if it is too long to keep, or nothing was learned yet.
    pub lowered: Option<Lowered>,
}

impl LengthPrelude {
    /// Of this rank's part in such calls, whose programs are kept up to `most` actions; `None` if the algorithm has
    /// nothing to learn.
    pub fn of(part: &Part, form: &Form, most: usize) -> Option<Self> {
        part.choice.algorithm.needs.lengths?;
        let Part { choice, call, rank, size } = *part;
        let lengths = choice.lengths(rank, size);
        let own: Box<[u64]> = (0..size).map(|to| call.outgoing(rank, to).len as u64).collect();
        let ending = lengths.iter().enumerate().filter(|(_, (_, to))| *to == rank);
        Some(Self {
            prelude: lower_stage(part, Stage::Prelude, form, usize::MAX).expect("there is no limit"),
            words: RefCell::new(vec![0; size + lengths.len()]),
            own,
            ending: ending.map(|(number, (from, _))| (number, call.incoming(rank, *from).len)).collect(),
            last: RefCell::default(),
            most,
        })
    }

    /// Bytes of memory that it takes, with the longest program that is kept.
    pub fn bytes(&self) -> usize {
        let words = self.words.borrow().len() + self.own.len() + 2 * self.ending.len();
        // A block is copied once when it leaves and once where it ends; a message has an action at most for each of its
        // blocks, twice with the wait.
        let actions = (5 * self.words.borrow().len()).min(self.most);
        self.prelude.bytes() + 2 * words * size_of::<u64>() + actions * size_of::<Action>()
    }

    /// The program that brings the lengths.
    pub const fn prelude(&self) -> &Lowered {
        &self.prelude
    }

    /// Where that program finds the lengths that this rank knows, and puts the others.
    pub fn lengths(&self) -> *mut u8 {
        let mut words = self.words.borrow_mut();
        words[..self.own.len()].copy_from_slice(&self.own);
        words.as_mut_ptr().cast()
    }

    /// The program for the lengths that have just been learned, and these.
    pub fn body(&self, part: &Part, form: &Form) -> Ref<'_, Body> {
        let words = self.words.borrow();
        let learned = words[self.own.len()..].iter().map(|length| *length as usize);
        let known = {
            let last = self.last.borrow();
            last.lowered.is_some() && learned.clone().eq(last.learned.iter().copied())
        };
        if !known {
            let learned: Vec<usize> = learned.collect();
            let lowered = {
                let call = with_learned(part.call, &learned);
                lower_stage(&Part { call: &call, ..*part }, Stage::Body, form, self.most)
            };
            *self.last.borrow_mut() = Body { learned, lowered };
        }
        self.last.borrow()
    }

    /// Checks that there was room for every block that ended here.
    ///
    /// # Errors
    /// One was longer.
    pub fn check(&self) -> Result {
        let words = self.words.borrow();
        let too_long = |(number, room): &(usize, usize)| words[self.own.len() + number] > *room as u64;
        if self.ending.iter().any(too_long) { Err(Error(mpi_sys::MPI_ERR_TRUNCATE as c_int)) } else { Ok(()) }
    }
}

/// The call of a rank that knows these lengths.
pub fn with_learned<'a>(call: &Call<'a>, learned: &'a [usize]) -> Call<'a> {
    match call.blocks {
        Blocks::Own { blocks, .. } => Call { blocks: Blocks::Own { blocks, learned }, ..*call },
        Blocks::Alike | Blocks::All(_) => *call,
    }
}
