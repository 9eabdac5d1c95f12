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
    /// Ends with one that is in use.
    in_use: Vec<bool>,
    /// Places that are not.
    free: usize,
    /// No so long run of them has been found since some were last freed; 0 if none was looked for.
    not_found: usize,
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
        let first = match self.free_run(number) {
            Some(first) => {
                self.in_use[first..first + number].fill(true);
                self.free -= number;
                first
            }
            None => {
                let first = self.in_use.len();
                self.in_use.resize(first + number, true);
                first
            }
        } as u32;
        self.most = self.most.max(self.in_use.len());
        self.held[(request.0 - self.base) as usize] = Some((first, number as u32));
        first
    }

    /// The first run of so many free places that others are in use behind. The usual case, in which there is no free
    /// place at all, takes no search.
    fn free_run(&mut self, number: usize) -> Option<usize> {
        let is_known_to_fail = self.not_found > 0 && number >= self.not_found;
        if number == 0 || self.free < number || is_known_to_fail {
            return None;
        }
        let mut run = 0;
        let found = self.in_use.iter().enumerate().find_map(|(place, in_use)| {
            run = if *in_use { 0 } else { run + 1 };
            (run == number).then(|| place + 1 - number)
        });
        if found.is_none() {
            self.not_found = number;
        }
        found
    }

    /// Tells the runs of places that requests hold, in the order of the requests, and frees them.
    pub fn wait(&mut self, requests: &[Request], mut run: impl FnMut(u32, u32)) {
        let mut last: Option<(u32, u32)> = None;
        for request in requests {
            let place = request.0.checked_sub(self.base).map(|place| place as usize);
            // One that blocked holds no place, and may have been forgotten.
            let held = place.and_then(|place| self.held.get_mut(place)).and_then(Option::take);
            let Some((first, number)) = held else { continue };
            self.in_use[first as usize..(first + number) as usize].fill(false);
            self.free += number as usize;
            self.not_found = 0;
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
            self.free -= 1;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts requests of `number` places each, and waits for each of them when `under_way` more have been started.
    fn windows(requests: u32, under_way: u32, number: usize) -> Slots {
        let mut slots = Slots::default();
        let mut held: VecDeque<(Request, u32)> = VecDeque::new();
        for request in (0..requests).map(Request) {
            slots.expect(request);
            let first = slots.take(request, number);
            let apart = |other: u32| other + number as u32 <= first || first + number as u32 <= other;
            assert!(held.iter().all(|(_, other)| apart(*other)), "{request:?} holds places of another one");
            held.push_back((request, first));
            if held.len() > under_way as usize {
                let (oldest, first) = held.pop_front().unwrap();
                let mut runs = Vec::new();
                slots.wait(&[oldest], |start, number| runs.push((start, number)));
                assert_eq!(runs, [(first, number as u32)]);
            }
        }
        slots
    }

    #[test]
    fn the_table_is_no_longer_than_what_is_under_way_at_once() {
        for under_way in [0, 1, 2, 7] {
            for number in [1, 3] {
                assert_eq!(windows(10_000, under_way, number).most(), number * (under_way as usize + 1));
            }
        }
    }

    #[test]
    fn requests_that_start_together_hold_places_in_a_row() {
        let mut slots = windows(100, 4, 1);
        let together: Vec<_> = (100..104).map(Request).collect();
        // Four are under way, and end first.
        slots.wait(&(96..100).map(Request).collect::<Vec<_>>(), |_, _| ());
        together.iter().for_each(|request| slots.expect(*request));
        together.iter().for_each(|request| _ = slots.take(*request, 2));
        let mut runs = Vec::new();
        slots.wait(&together, |start, number| runs.push((start, number)));
        assert_eq!(runs, [(0, 8)]);
        assert_eq!((slots.in_use.len(), slots.free), (0, 0));
    }

    #[test]
    fn several_places_are_taken_where_there_is_room_for_all_of_them() {
        let mut slots = Slots::default();
        (0..5).map(Request).for_each(|request| slots.expect(request));
        (0..3).for_each(|request| _ = slots.take(Request(request), 1));
        slots.wait(&[Request(1)], |_, _| ());
        assert_eq!(slots.take(Request(3), 2), 3, "there is one free place between two in use");
        assert_eq!((slots.take(Request(4), 1), slots.most()), (1, 5));
    }
}
