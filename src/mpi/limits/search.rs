//! Where the time of a message over its length jumps, and where two pieces are faster for it; and in which pieces a long message
//! is fastest.

use crate::schedule::limits::ProtocolLimits;

/// Lengths that are tried: of each step exactly one lies between it and its double.
const TRIED: [usize; 7] = [512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10];
/// Time of two pieces over that of the whole below which they pay. What they gain must outlast another machine load.
const PAYS: f64 = 0.85;
/// A step is found to this part of the tried length.
const GRAIN: usize = 256;

/// Finds the steps that matter most. `time` gives seconds of a message of so many bytes in so many pieces, and fails when its
/// time is over.
///
/// # Errors
/// What `time` fails with.
pub fn search<E>(mut time: impl FnMut(usize, usize) -> Result<f64, E>) -> Result<ProtocolLimits, E> {
    let mut found: Vec<(f64, usize)> = Vec::new();
    for bytes in TRIED {
        let mut gain = |bytes| Ok(time(bytes, 2)? / time(bytes, 1)?);
        let first: f64 = gain(bytes)?;
        if first >= PAYS {
            continue;
        }
        // One slow moment must not decide.
        let again = gain(bytes)?.max(first);
        if again < PAYS {
            found.push((again, jump(bytes / 2, bytes, &mut time)?));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<usize> = found.into_iter().map(|(_, step)| step).take(ProtocolLimits::MOST).collect();
    steps.sort_unstable();
    steps.dedup();
    Ok(ProtocolLimits::of(steps).expect("lengths in ascending order"))
}

/// A message of so many bytes is tried in pieces, of which each of these lengths is tried.
pub const LONG: usize = 256 << 10;
const PIECES: [usize; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
/// What is slower than the fastest by no more than this share is as good: longer pieces are fewer messages.
const LEVEL: f64 = 1.03;

/// The longest message that had better travel whole, of which longer ones take pieces; `None` if all had better. `time` as for
/// [`search`].
///
/// # Errors
/// What `time` fails with.
pub fn pieces<E>(mut time: impl FnMut(usize, usize) -> Result<f64, E>) -> Result<Option<usize>, E> {
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
fn jump<E>(mut below: usize, above: usize, time: &mut impl FnMut(usize, usize) -> Result<f64, E>) -> Result<usize, E> {
    let between = (time(below, 1)? * time(above, 1)?).sqrt();
    let (mut beyond, grain) = (above, (above / GRAIN).max(8));
    while beyond - below > grain {
        let middle = (below + beyond) / 2;
        *(if time(middle, 1)? < between { &mut below } else { &mut beyond }) = middle;
    }
    Ok(below / 8 * 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library with steps at some lengths, each of which adds to the time, and `noise` of each measurement.
    fn library(steps: &[(usize, f64)], noise: f64) -> impl FnMut(usize, usize) -> Result<f64, ()> {
        let mut random = fastrand::Rng::with_seed(7);
        let steps = steps.to_vec();
        move |bytes, pieces| {
            let extra: f64 =
                steps.iter().filter(|(step, _)| bytes.div_ceil(pieces) > *step).map(|(_, extra)| extra).sum();
            // A second piece costs a third of a message's start-up more.
            let start_up = 0.3 + 0.1 * (pieces - 1) as f64;
            Ok((start_up + bytes as f64 * 1e-4 + extra * pieces as f64) * (1.0 + noise * random.f64()))
        }
    }

    fn found(steps: &[(usize, f64)], noise: f64) -> Vec<usize> {
        search(library(steps, noise)).unwrap().bytes().collect()
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
            Ok::<_, ()>(bytes as f64 * factor + 100.0 * pieces as f64)
        };
        assert_eq!(pieces(turns), Ok(Some(32 << 10)));
        let dear = |bytes: usize, pieces: usize| turns(bytes, pieces).map(|time| time + 1e5 * (pieces - 1) as f64);
        assert_eq!(pieces(dear), Ok(None), "pieces that cost more than they gain");
        assert_eq!(pieces(|bytes, pieces| Ok::<_, ()>((bytes + pieces) as f64)), Ok(None), "nothing to gain");
        assert_eq!(pieces(|_, _| Err(())), Err(()));
    }

    #[test]
    fn the_two_that_gain_most_are_kept() {
        let most = found(&[(256, 0.3), (2000, 3.0), (16000, 20.0)], 0.0);
        assert_eq!(most.len(), 2);
        assert!(most[0].abs_diff(2000) <= 16 && most[1].abs_diff(16000) <= 128, "{most:?}");
    }

    #[test]
    fn when_time_is_over_nothing_is_found() {
        let mut left = 5;
        let mut time = library(&[(4040, 2.0)], 0.0);
        let limited = |bytes, pieces| {
            left -= 1;
            if left == 0 { Err(()) } else { time(bytes, pieces) }
        };
        assert_eq!(search(limited), Err(()));
    }
}
