//! Whose turn it is: epochs of a few calls run natively or with Collie's algorithm, in pairs of one of each.
//!
//! Programs repeat themselves. With epochs of one length that strictly alternate, a program with two kinds of call in
//! turns may have all of one kind run natively and all of the other by Collie, and what is told as a difference of the
//! two is one of the program. So a coin decides which of a pair comes first, and epochs are not equally long: whatever
//! the program does, and however it drifts, each order of a pair was as likely as the other. That is all that the test
//! of [`compare`](super::compare) rests on. The coin is a hash of a number that the ranks agreed on, the kind of call,
//! and the number of the pair, so all ranks see it fall alike.

/// Calls of the shortest epoch, and how many more an epoch may have: few, so that programs with few calls get enough
/// epochs for the test. Sixty calls make six pairs at least.
const SHORTEST: u32 = 3;
const LENGTHS: u64 = 3;

/// The turns of one kind of call.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    hash: u64,
    pair: u32,
    /// Whether the second epoch of the pair is under way.
    second: bool,
    /// Calls left of the epoch that is under way.
    left: u32,
}

impl Turn {
    /// None yet; `seed` is the same on all ranks, and differs between kinds of call.
    pub const fn new(seed: u64) -> Self {
        let hash = mixed(seed);
        let left = length(hash, 0, false);
        Self { hash, pair: 0, second: false, left }
    }

    /// The epoch of the next call: of each pair 2k is the native one and 2k + 1 Collie's, whichever comes first.
    pub const fn next(&mut self) -> u32 {
        if self.left == 0 {
            if self.second {
                self.pair += 1;
            }
            self.second = !self.second;
            self.left = length(self.hash, self.pair, self.second);
        }
        self.left -= 1;
        // As many calls as there are numbers is more than a program makes; then the last pair goes on.
        let pair = if self.pair < u32::MAX / 2 { self.pair } else { u32::MAX / 2 - 1 };
        2 * pair + (self.second as u32 ^ (coin(self.hash, pair) & 1) as u32)
    }
}

/// Random bits of a pair.
const fn coin(hash: u64, pair: u32) -> u64 {
    mixed(hash ^ pair as u64)
}

const fn length(hash: u64, pair: u32, second: bool) -> u32 {
    let bits = coin(hash, pair) >> if second { 32 } else { 8 };
    SHORTEST + ((bits & 0xFF_FFFF) % LENGTHS) as u32
}

/// All bits of the result depend on all bits of the number (the finalizer of splitmix64, Steele, Lea and Flood, Fast
/// Splittable Pseudorandom Number Generators, OOPSLA 2014).
pub const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::super::compare::compare;
    use super::super::{Bucket, Collective, Comparison, Epochs, FoldKind, Function, Verdict};
    use super::*;

    #[test]
    fn each_pair_has_an_epoch_of_each_side_and_sixty_calls_have_six_pairs() {
        let (mut orders, mut lengths) = ([0; 2], [0; 8]);
        for seed in 0..500 {
            let mut turn = Turn::new(seed);
            let epochs: Vec<u32> = (0..60).map(|_| turn.next()).collect();
            let runs: Vec<&[u32]> = epochs.chunk_by(|left, right| left == right).collect();
            for (number, pair) in runs.chunks_exact(2).enumerate() {
                let mut sides = [pair[0][0], pair[1][0]];
                orders[sides[0] as usize % 2] += 1;
                sides.sort_unstable();
                assert_eq!(sides, [2 * number as u32, 2 * number as u32 + 1]);
            }
            // The last one may be cut short.
            runs[..runs.len() - 1].iter().for_each(|run| lengths[run.len()] += 1);
            assert!(runs.len() >= 12, "{epochs:?}");
        }
        assert!(orders[0] * 10 > orders[1] * 9 && orders[1] * 10 > orders[0] * 9, "{orders:?}");
        assert_eq!((lengths[..3].iter().sum::<i32>(), lengths[6..].iter().sum::<i32>()), (0, 0));
        assert!(lengths[3..6].iter().all(|epochs| *epochs > 1500), "{lengths:?}");
    }

    /// What is told of `calls` calls, of which the one with that number takes so long natively, and by Collie that
    /// divided by `speedup`.
    fn comparison(seed: u64, calls: u64, speedup: f64, seconds: impl Fn(u64) -> f64) -> Comparison {
        let (mut turn, mut epochs) = (Turn::new(seed), Epochs::new());
        let function = Function::blocking(Collective::Allreduce);
        for call in 0..calls {
            let epoch = turn.next();
            let seconds = seconds(call) / if Epochs::is_native(epoch) { 1.0 } else { speedup };
            epochs.record((function, Bucket(3), FoldKind::USUAL), epoch, (seconds * 1e9) as u64);
        }
        let [record] = &epochs.records(1.0)[..] else { panic!("one cell") };
        let means = record.epochs.iter().map(|&(epoch, calls, ns)| (epoch, ns as f64 * 1e-9 / f64::from(calls)));
        compare(&means.collect::<Vec<_>>()).expect("both sides have epochs")
    }

    /// −1 to 1.
    fn noise(seed: u64, call: u64) -> f64 {
        mixed(seed << 32 ^ call ^ 0xABCD) as f64 / (u64::MAX / 2) as f64 - 1.0
    }

    /// A program in which one call of each `period` takes four times as long, and all are a little noisy.
    fn periodic(seed: u64, period: u64, phase: u64, noisy: f64) -> impl Fn(u64) -> f64 {
        move |call| {
            let slow = call % period == phase;
            20e-6 * if slow { 4.0 } else { 1.0 } * (1.0 + noisy * noise(seed, call))
        }
    }

    /// Verdicts of `cells` comparisons of native with native.
    fn verdicts(cells: impl Iterator<Item = Comparison>) -> (u32, u32) {
        cells.fold((0, 0), |(wrong, all), comparison| {
            let verdict = comparison.verdict;
            assert_ne!(verdict, Verdict::TooFewEpochs);
            (wrong + u32::from(verdict != Verdict::NoDifference), all + 1)
        })
    }

    /// As many as five in a hundred make, and three standard deviations.
    fn by_chance(cells: u32) -> u32 {
        let expected = f64::from(cells) * 0.05;
        (expected + 3.0 * (expected * 0.95).sqrt()).ceil() as u32
    }

    #[test]
    fn native_against_native_is_told_apart_as_rarely_as_promised_whatever_the_program_repeats() {
        let mut sum = (0, 0);
        for (number, noisy) in [0.0, 0.05, 0.5].into_iter().enumerate() {
            for period in [1, 2, 5, 10, 64] {
                let cells = (0..200u64.next_multiple_of(period)).map(|cell| {
                    let seed = cell * 1000 + number as u64 * 100 + period;
                    comparison(seed, 400, 1.0, periodic(seed, period, cell % period, noisy))
                });
                let (wrong, all) = verdicts(cells);
                assert!(wrong <= by_chance(all), "period {period}, noise {noisy}: {wrong} of {all}");
                sum = (sum.0 + wrong, sum.1 + all);
            }
        }
        assert!(sum.0 <= by_chance(sum.1), "{sum:?}");
    }

    #[test]
    fn drifts_and_long_runs_make_no_differences_either() {
        let drifting = (0..300).map(|seed| comparison(seed, 300, 1.0, move |call| 1e-6 * (1.0 + call as f64 / 50.0)));
        let (wrong, all) = verdicts(drifting);
        assert!(wrong <= by_chance(all), "drift: {wrong} of {all}");
        // So many epochs that pairs are put together.
        let long = (0..100).map(|seed| comparison(seed, 20_000, 1.0, periodic(seed, 10, seed % 10, 0.05)));
        let (wrong, all) = verdicts(long);
        assert!(wrong <= by_chance(all), "long: {wrong} of {all}");
    }

    #[test]
    fn a_real_difference_is_seen_through_what_the_program_repeats() {
        for period in [1, 2, 5, 10, 64] {
            let compared =
                |phase: u64, speedup| comparison(phase, 2000, speedup, periodic(phase, period, phase % period, 0.05));
            let sped_up: Vec<_> = (0..32).map(|seed| compared(seed, 1.3)).collect();
            let faster = sped_up.iter().filter(|comparison| comparison.verdict == Verdict::Faster).count();
            let slower = (0..32).filter(|seed| compared(*seed, 0.7).verdict == Verdict::Slower).count();
            assert!(faster > 20 && slower > 20, "period {period}: {faster} and {slower} of 32");
            let holds = |comparison: &&Comparison| {
                comparison.ratio_low.unwrap() <= 1.3 && 1.3 <= comparison.ratio_high.unwrap()
            };
            let covered = sped_up.iter().filter(holds).count();
            assert!(covered >= 26, "period {period}: {covered} of 32 intervals hold the ratio");
        }
    }
}
