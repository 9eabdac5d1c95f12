//! Where the time of a message over its length jumps, and where two pieces are faster for it; and in which pieces a
//! long message is fastest.

use crate::schedule::limits::{Limit, ProtocolLimits, Way};

/// Lengths that are tried: of each step exactly one lies between it and its double.
pub const TRIED: [usize; 7] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10];
/// Time of two pieces over that of the whole below which they pay at a step that is known by name, where the comparison
/// in the middle decides. What is measured here is rather too much: where of 512 bytes in an exchange they take 0.81 to
/// 0.97 (Open MPI 4.1.4, Intel Emerald Rapids), an allreduce, allgather or alltoall takes 0.87 of its time. Where there
/// is no step they take 1.2 to 1.5.
const KNOWN_PAYS: f64 = 1.0;
/// The same at another one, in each comparison: where ranks share cores, times differ by more. What is gained must
/// outlast another machine load.
const PAYS: f64 = 0.85;
/// A step is found to this part of the tried length.
const GRAIN: usize = 256;

/// The longest message that is cut: so much may lie in queues on its way to a rank that is late, and measuring takes
/// long.
const LONGEST_CUT: usize = 256 << 10;

/// Times of two pieces over those of the whole that are compared; that in the middle decides.
const COMPARED: usize = 3;
/// From this on no other comparison would decide otherwise.
const CLEAR: f64 = 1.15;

/// Seconds of a message of so many bytes in so many pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// From a rank that sends to one that waits for it.
    pub one_way: f64,
    /// The same where several follow one another.
    pub in_a_row: f64,
    /// While the other rank sends as much.
    pub exchange: f64,
}

impl Times {
    const fn of(self, way: Way) -> f64 {
        match way {
            Way::OneWay => self.one_way,
            Way::Exchange => self.exchange,
            Way::Both => self.one_way + self.exchange,
        }
    }
}

/// Finds the steps that matter most, and for which messages. `time` fails when its time is over; where a step is
/// `known`, it is not looked for.
///
/// # Errors
/// What `time` fails with.
pub fn search<E>(
    known: ProtocolLimits,
    mut time: impl FnMut(usize, usize) -> Result<Times, E>,
) -> Result<ProtocolLimits, E> {
    let mut found: Vec<(f64, Limit)> = Vec::new();
    for bytes in TRIED {
        let known = known.bytes().find(|step| (bytes / 2..bytes).contains(step));
        let (mut one_way, mut exchange) = (Vec::new(), Vec::new());
        for _ in 0..COMPARED {
            let (whole, two) = (time(bytes, 1)?, time(bytes, 2)?);
            one_way.push(one_way_share(two, whole, known.is_some()));
            exchange.push(two.exchange / whole.exchange);
            if one_way[0].min(exchange[0]) > CLEAR {
                break;
            }
        }
        log::debug!(
            "two messages in place of one of {bytes} bytes: one way {one_way:.2?}, in an exchange {exchange:.2?} of the time"
        );
        let [one_way, exchange] = [one_way, exchange].map(|shares| Share::of(shares, known.is_some()));
        let way = match (one_way.pays, exchange.pays) {
            (true, true) => Way::Both,
            (true, false) => Way::OneWay,
            (false, true) => Way::Exchange,
            (false, false) => continue,
        };
        let step = match known {
            Some(step) => step,
            None => jump(bytes / 2, bytes, |bytes| Ok(time(bytes, 1)?.of(way)))?,
        };
        found.push((one_way.middle.min(exchange.middle), Limit::of_two(step, way)));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut limits: Vec<Limit> = found.into_iter().map(|(_, limit)| limit).take(ProtocolLimits::MOST).collect();
    limits.sort_unstable_by_key(|limit| limit.bytes);
    limits.dedup_by_key(|limit| limit.bytes);
    Ok(packed(limits))
}

/// Into how many pieces messages may be cut at the limits that were found. `time` gives nothing when its time is over:
/// what has not been measured by then is not assumed.
///
/// # Errors
/// What `time` fails with.
pub fn reach<E>(
    found: ProtocolLimits,
    mut time: impl FnMut(usize, usize) -> Result<Option<Times>, E>,
) -> Result<ProtocolLimits, E> {
    let mut limits: Vec<Limit> = found.limits().collect();
    // A longer message than the next limit takes that one's pieces.
    let ends: Vec<usize> = limits.iter().skip(1).map(|next| next.bytes).chain([LONGEST_CUT]).collect();
    for (limit, end) in limits.iter_mut().zip(ends) {
        while limit.pieces < Limit::MOST_PIECES && 2 * limit.pieces * limit.bytes <= end {
            let pieces = 2 * limit.pieces;
            let bytes = pieces * limit.bytes;
            let (Some(whole), Some(cut)) = (time(bytes, 1)?, time(bytes, pieces)?) else { return Ok(packed(limits)) };
            let one_way = one_way_share(cut, whole, false);
            let exchange = cut.exchange / whole.exchange;
            log::debug!(
                "{pieces} messages in place of one of {bytes} bytes: one way {one_way:.2}, in an exchange {exchange:.2}"
            );
            let share = match limit.way {
                Way::OneWay => one_way,
                Way::Exchange => exchange,
                Way::Both => one_way.max(exchange),
            };
            if share >= PAYS {
                break;
            }
            limit.pieces = pieces;
        }
    }
    Ok(packed(limits))
}

fn packed(limits: Vec<Limit>) -> ProtocolLimits {
    ProtocolLimits::of(limits).expect("lengths in ascending order")
}

/// What two pieces take one way, of what the whole takes.
///
/// A program's calls follow one another, and beyond 256 bytes Open MPI 4.1.4 gains a fifth of a broadcast's time and
/// more by two pieces, also where calls are synchronised, though a message that goes there and back gains nothing. At a
/// step that nobody knows by name both must gain: beyond 8,192 bytes MPICH 4.0.2 takes half as long in a row, but a
/// call alone takes a tenth longer.
fn one_way_share(two: Times, whole: Times, is_known: bool) -> f64 {
    let in_a_row = two.in_a_row / whole.in_a_row;
    if is_known { in_a_row } else { in_a_row.max(two.one_way / whole.one_way) }
}

/// Times of two pieces over those of the whole.
struct Share {
    middle: f64,
    pays: bool,
}

impl Share {
    fn of(mut shares: Vec<f64>, is_known: bool) -> Self {
        shares.sort_by(f64::total_cmp);
        let (middle, most) = (shares[shares.len() / 2], shares[shares.len() - 1]);
        Self { middle, pays: if is_known { middle < KNOWN_PAYS } else { most < PAYS } }
    }
}

/// A message of so many bytes is tried in pieces, of which each of these lengths is tried.
pub const LONG: usize = 256 << 10;
const PIECES: [usize; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
/// What is slower than the fastest by no more than this share is as good: longer pieces are fewer messages.
const LEVEL: f64 = 1.03;

/// The longest message that had better travel whole, of which longer ones take pieces; `None` if all had better. `time`
/// as for [`search`].
///
/// # Errors
/// What `time` fails with.
pub fn pieces<E>(mut time: impl FnMut(usize, usize) -> Result<Times, E>) -> Result<Option<usize>, E> {
    let mut time = |bytes, pieces| time(bytes, pieces).map(|times| times.of(Way::Both));
    let mut found = Vec::new();
    for piece in PIECES {
        found.push((piece, time(LONG, LONG / piece)?));
    }
    // One slow moment must not decide.
    let whole = time(LONG, 1)?.min(time(LONG, 1)?);
    let fastest = found.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
    let longest = found.into_iter().rev().find(|(_, time)| *time <= fastest * LEVEL);
    Ok(longest.filter(|_| fastest < PAYS * whole).map(|(piece, _)| piece))
}

/// The longest message between two lengths that still takes the way of the shorter one; a multiple of 8 bytes.
fn jump<E>(mut below: usize, above: usize, mut time: impl FnMut(usize) -> Result<f64, E>) -> Result<usize, E> {
    let between = (time(below)? * time(above)?).sqrt();
    let (mut beyond, grain) = (above, (above / GRAIN).max(8));
    while beyond - below > grain {
        let middle = (below + beyond) / 2;
        *(if time(middle)? < between { &mut below } else { &mut beyond }) = middle;
    }
    Ok(below / 8 * 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(time: f64) -> Times {
        Times { one_way: time, in_a_row: time, exchange: time }
    }

    /// A library with steps at some lengths, each of which adds to the time, and `noise` of each measurement.
    fn library(steps: &[(usize, f64)], noise: f64) -> impl FnMut(usize, usize) -> Result<Times, ()> + use<> {
        let mut random = fastrand::Rng::with_seed(7);
        let steps = steps.to_vec();
        move |bytes, pieces| {
            let extra: f64 =
                steps.iter().filter(|(step, _)| bytes.div_ceil(pieces) > *step).map(|(_, extra)| extra).sum();
            // A second piece costs a third of a message's start-up more.
            let start_up = 0.3 + 0.1 * (pieces - 1) as f64;
            Ok(alike((start_up + bytes as f64 * 1e-4 + extra * pieces as f64) * (1.0 + noise * random.f64())))
        }
    }

    fn found(steps: &[(usize, f64)], noise: f64) -> Vec<usize> {
        search(ProtocolLimits::NONE, library(steps, noise)).unwrap().bytes().collect()
    }

    #[test]
    fn steps_are_found_where_they_pay() {
        assert!(found(&[], 0.0).is_empty());
        assert!(found(&[], 0.08).is_empty(), "noise is no step");
        assert_eq!(found(&[(256, 0.5)], 0.0), [256]);
        assert!(found(&[(256, 0.05)], 0.0).is_empty(), "a small step does not pay");
        for noise in [0.0, 0.05] {
            let both = found(&[(256, 0.5), (4040, 2.0)], noise);
            assert_eq!(both.len(), 2, "{both:?}");
            assert!(both[0].abs_diff(256) <= 8 && (4000..=4040).contains(&both[1]), "{both:?}");
            let of_ucx = found(&[(8192, 2.5)], noise);
            assert!(of_ucx.len() == 1 && (8100..=8192).contains(&of_ucx[0]), "{of_ucx:?}");
        }
    }

    #[test]
    fn pieces_are_the_longest_that_are_as_fast_as_the_fastest() {
        // Whole messages from 48 KiB on take their turns; each piece costs a start-up.
        let turns = |bytes: usize, pieces: usize| {
            let piece = bytes.div_ceil(pieces);
            let factor = if piece >= 48 << 10 { 2.0 } else { 1.0 };
            Ok::<_, ()>(alike(bytes as f64 * factor + 100.0 * pieces as f64))
        };
        assert_eq!(pieces(turns), Ok(Some(32 << 10)));
        let dear = |bytes: usize, pieces: usize| {
            turns(bytes, pieces).map(|times| alike(times.one_way + 1e5 * (pieces - 1) as f64))
        };
        assert_eq!(pieces(dear), Ok(None), "pieces that cost more than they gain");
        assert_eq!(pieces(|bytes, pieces| Ok::<_, ()>(alike((bytes + pieces) as f64))), Ok(None), "nothing to gain");
        assert_eq!(pieces(|_, _| Err(())), Err(()));
    }

    #[test]
    fn messages_are_cut_as_far_as_it_pays() {
        let reached = |found: ProtocolLimits, time: &mut dyn FnMut(usize, usize) -> Result<Option<Times>, ()>| {
            reach(found, time).unwrap().limits().map(|limit| limit.to_string()).collect::<Vec<_>>()
        };
        // Whole messages beyond 8 KiB take 1.5 us, and 2.5 times as long for each byte; a piece costs 0.4 us.
        let mut ucx = |bytes: usize, pieces: usize| {
            let (start_up, factor) = if bytes / pieces > 8192 { (1.5, 2.5) } else { (0.4 * pieces as f64, 1.0) };
            Ok(Some(alike(start_up + bytes as f64 * factor * 1e-4)))
        };
        let both = ProtocolLimits::of([256, 8192]).unwrap();
        assert_eq!(reached(both, &mut ucx), ["256", "8192x32"], "no further than what is measured at all");
        let mut dear = |bytes: usize, pieces: usize| {
            ucx(bytes, pieces).map(|times| times.map(|times| alike(times.one_way + 1.5 * (pieces - 1) as f64)))
        };
        assert_eq!(
            reached(ProtocolLimits::of([8192]).unwrap(), &mut dear),
            ["8192"],
            "four pieces cost more than they gain"
        );
        let mut left = 5;
        let mut limited = |bytes, pieces| {
            left -= 1;
            if left == 0 { Ok(None) } else { ucx(bytes, pieces) }
        };
        assert_eq!(reached(ProtocolLimits::of([8192]).unwrap(), &mut limited), ["8192x8"], "as far as there was time");
    }

    #[test]
    fn the_two_that_gain_most_are_kept() {
        let most = found(&[(256, 0.3), (2000, 3.0), (16000, 20.0)], 0.0);
        assert_eq!(most.len(), 2);
        assert!(most[0].abs_diff(2000) <= 16 && most[1].abs_diff(16000) <= 128, "{most:?}");
    }

    #[test]
    fn what_pays_one_way_only_is_for_that() {
        // Beyond 256 bytes one way is slow, beyond 4,040 an exchange.
        let mut ways = [(256, 0.5), (4040, 2.0)].map(|step| library(&[step], 0.05));
        let found = search(ProtocolLimits::NONE, |bytes, pieces| {
            let [one_way, exchange] = &mut ways;
            let (one_way, exchange) = (one_way(bytes, pieces)?.one_way, exchange(bytes, pieces)?.exchange);
            Ok::<_, ()>(Times { one_way, in_a_row: one_way, exchange })
        });
        let found: Vec<Limit> = found.unwrap().limits().collect();
        assert_eq!(found.iter().map(|limit| limit.way).collect::<Vec<_>>(), [Way::OneWay, Way::Exchange], "{found:?}");
        assert!(found[0].bytes.abs_diff(256) <= 8 && (4000..=4040).contains(&found[1].bytes), "{found:?}");
    }

    #[test]
    fn where_a_step_is_known_it_is_not_looked_for() {
        let known = ProtocolLimits::of([256, 4040]).unwrap();
        let found = search(known, library(&[(300, 0.5), (9000, 2.0)], 0.0)).unwrap();
        let found: Vec<usize> = found.bytes().collect();
        assert!(found.len() == 2 && found[0] == 256 && (8900..=9000).contains(&found[1]), "{found:?}");
        let none = search(known, library(&[], 0.0)).unwrap();
        assert_eq!(none, ProtocolLimits::NONE, "what is known and does not pay is not used");
    }

    #[test]
    fn what_pays_in_a_row_only_is_for_a_known_step() {
        let (mut alone, mut in_a_row) = (library(&[], 0.0), library(&[(256, 0.5)], 0.0));
        let mut time =
            |bytes, pieces| Ok::<_, ()>(Times { in_a_row: in_a_row(bytes, pieces)?.in_a_row, ..alone(bytes, pieces)? });
        assert_eq!(search(ProtocolLimits::NONE, &mut time), Ok(ProtocolLimits::NONE));
        let found: Vec<Limit> = search(ProtocolLimits::of([256]).unwrap(), time).unwrap().limits().collect();
        assert_eq!(found, [Limit::of_two(256, Way::OneWay)]);
    }

    #[test]
    fn one_slow_moment_decides_nothing() {
        // Of three comparisons one is off, either way; where the step is known, it is found even so.
        let known = ProtocolLimits::of([256]).unwrap();
        let slow = &[(256, 0.5)][..];
        for (known, steps, off, expected) in [
            (ProtocolLimits::NONE, &[][..], 0.3, 0),
            (known, &[], 0.3, 0),
            (known, slow, 3.0, 1),
            (ProtocolLimits::NONE, slow, 3.0, 0),
        ] {
            let (mut library, mut calls) = (library(steps, 0.0), 0);
            let found = search(known, |bytes, pieces| {
                let times = library(bytes, pieces)?;
                calls += 1;
                // The second comparison's two pieces.
                Ok::<_, ()>(if calls == 4 { alike(times.one_way * off) } else { times })
            });
            assert_eq!(found.unwrap().bytes().count(), expected);
        }
    }

    #[test]
    fn when_time_is_over_nothing_is_found() {
        let mut left = 5;
        let mut time = library(&[(4040, 2.0)], 0.0);
        let limited = |bytes, pieces| {
            left -= 1;
            if left == 0 { Err(()) } else { time(bytes, pieces) }
        };
        assert_eq!(search(ProtocolLimits::NONE, limited), Err(()));
    }
}
