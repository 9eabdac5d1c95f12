//! Places in the table of requests: those of finished messages are used again, so that long programs need no longer
//! table than they have messages under way.

use crate::schedule::Request;
use std::collections::VecDeque;

/// Which requests hold which places.
#[derive(Debug, Default)]
pub struct Slots {
    /// By request, from number `base` on: first place and number of places; none if it holds none.
    held: VecDeque<Option<(u32, u32)>>,
    base: u32,
    in_use: Vec<bool>,
    most: usize,
}

impl Slots {
    /// A request that may come to hold places.
    pub fn expect(&mut self, request: Request) {
        debug_assert_eq!(request.0, self.base + self.held.len() as u32, "requests come in order");
        self.held.push_back(None);
    }

    /// Gives a request `number` places in a row; the first of them.
    pub fn take(&mut self, request: Request, number: usize) -> u32 {
        let first = self.in_use.len() as u32;
        self.in_use.resize(self.in_use.len() + number, true);
        self.most = self.most.max(self.in_use.len());
        self.held[(request.0 - self.base) as usize] = Some((first, number as u32));
        first
    }

    /// Tells the runs of places that requests hold, in the order of the requests, and frees them.
    ///
    pub fn wait(&mut self, requests: &[Request], mut run: impl FnMut(u32, u32)) {
        let mut last: Option<(u32, u32)> = None;
        for request in requests {
            let place = request.0.checked_sub(self.base).map(|place| place as usize);
            // One that blocked holds no place, and may have been forgotten.
            let held = place.and_then(|place| self.held.get_mut(place)).and_then(Option::take);
            let Some((first, number)) = held else { continue };
            self.in_use[first as usize..(first + number) as usize].fill(false);
            last = match last {
                Some((start, so_far)) if start + so_far == first => Some((start, so_far + number)),
                Some((start, so_far)) => {
                    run(start, so_far);
                    Some((first, number))
                }
                None => Some((first, number)),
            };
        }
        if let Some((start, number)) = last {
            run(start, number);
        }
        while self.in_use.last() == Some(&false) {
            self.in_use.pop();
        }
        while self.held.front().is_some_and(Option::is_none) {
            self.held.pop_front();
            self.base += 1;
        }
    }

    /// The most places that were held at once.
    pub const fn most(&self) -> usize {
        self.most
    }
}
