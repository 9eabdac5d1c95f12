//! When a channel's longer messages begin to use its [track](super::super::track), and when pages are mapped.

use super::super::track::{Along, Track};
use std::fmt;
use std::rc::Rc;

/// Makes the memory of a track ready, which is there from then on, if there is enough.
#[derive(Clone)]
pub struct Preparation {
    /// Bytes of long messages that come first: making it ready takes as long as it saves in some of them.
    pub after: usize,
    /// Whether the bytes at that address are there now.
    pub prepare: Rc<dyn Fn(*mut u8, usize) -> bool>,
}

impl fmt::Debug for Preparation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Preparation").field("after", &self.after).finish_non_exhaustive()
    }
}

/// A sender's track.
#[derive(Debug)]
pub(super) enum Tracking {
    /// None, or there was no memory for it.
    Never,
    /// Not ready yet.
    Later(Preparation),
    /// Ready.
    Now(Along),
}

impl Tracking {
    /// Whether it is ready for a message of `length` bytes; it is made so when enough has gone through.
    #[cold]
    pub(super) fn prepare(&mut self, track: Track, length: usize) -> bool {
        let Self::Later(Preparation { after, prepare }) = self else { return false };
        *after = after.saturating_sub(length);
        if *after > 0 {
            return false;
        }
        let (at, bytes) = track.parts();
        let is_ready = prepare(at, bytes);
        *self = if is_ready { Self::Now(Along::begin(track)) } else { Self::Never };
        is_ready
    }
}

/// What is done before pages at that address are used, which are there: they are mapped together, not one by one.
pub type Mapping = fn(*mut u8, usize);

#[cold]
pub(super) fn map_track(map: Mapping, track: Track) {
    let (at, bytes) = track.parts();
    map(at, bytes);
}
