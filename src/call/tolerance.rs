//! How far apart two results of a reduction may be whose contributions were folded in different orders.
//!
//! Each element is judged by its own contributions. A sum may be off by what the folds round, a share of the sum of the
//! magnitudes; a product by a share of itself; the least or greatest number is one of the contributions, whatever the
//! order. Where the order may decide whether a partial result overflows, or whether a NaN comes through, nobody can say
//! which of two results is wrong. Of the program's own operations only a bound for the whole vector is known.

use super::aside::bytes_of;
use super::local_arguments::LocalArguments;
use super::meaning::{Meaning, Precision};
use super::wide::Wide;
use crate::communicator::seat::Seat;
use crate::mpi::communicator;
use crate::mpi::error::Result;
use crate::mpi::operation;
use crate::reduction::Op;

/// What two results of an element are to each other; the graver, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same bits.
    Same,
    /// Equal, as far as another order of the folds may tell.
    Alike,
    /// The same by a bound that is wide for elements of small contributions.
    Near,
    /// Nobody can tell whether they may differ.
    Unknown,
    /// One of them is wrong.
    Apart,
}

/// What is known of the contributions to a reduction.
pub enum Tolerance {
    /// The largest magnitude among all of them.
    Largest(f64),
    /// What the fold makes of the weights of each number, or of each complex one in products.
    Each(Fold, Vec<f64>),
}

/// What MPI's own operations do with numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// A weight is the sum of the magnitudes.
    Sum,
    /// Two weights are the binary logarithms of the greatest and, negated, of the least partial product there may be.
    Product,
    /// A weight is NaN if some contribution is, otherwise 0.
    Choice,
}

impl Fold {
    /// Of a call; `None` where nothing is known of the operation, and where it is exact.
    fn of(local: &LocalArguments, meaning: &Meaning) -> Option<Self> {
        let op = operation::predefined(local.reduction?.handle)?;
        match (meaning, op) {
            (Meaning::Numbers(_), Op::Sum) => Some(Self::Sum),
            (Meaning::Numbers(_), Op::Prod) => Some(Self::Product),
            (Meaning::Numbers(_), Op::Min | Op::Max) | (Meaning::Pairs(_), _) => Some(Self::Choice),
            _ => None,
        }
    }

    /// What one rank adds to the weights, for numbers of which `width` make an element.
    fn weights(self, numbers: &[Wide], width: usize) -> Vec<f64> {
        let numbers: Vec<f64> = numbers.iter().map(|number| number.nearest).collect();
        match self {
            Self::Sum => numbers.iter().map(|number| number.abs()).collect(),
            Self::Choice => numbers.iter().map(|number| if number.is_nan() { f64::NAN } else { 0.0 }).collect(),
            Self::Product => numbers.chunks(width).flat_map(|number| reach(magnitude(number))).collect(),
        }
    }

    const fn weights_of_an_element(self, width: usize) -> usize {
        match self {
            Self::Sum | Self::Choice => width,
            Self::Product => 2,
        }
    }
}

/// How many powers of two a factor may take partial products up and down.
fn reach(magnitude: f64) -> [f64; 2] {
    match magnitude {
        // It makes any product of finite numbers zero.
        0.0 => [0.0, 0.0],
        _ if magnitude.is_finite() => [magnitude.log2().max(0.0), (-magnitude.log2()).max(0.0)],
        _ => [f64::INFINITY, f64::INFINITY],
    }
}

/// Of a number, or of a complex one by its two parts.
fn magnitude(parts: &[f64]) -> f64 {
    parts.iter().fold(0.0f64, |all, part| all.hypot(*part))
}

impl Tolerance {
    /// Of calls that reduce nothing.
    pub const NOTHING: Self = Self::Largest(0.0);

    /// Of a reduction whose result goes to `root`, or to all ranks. Collective, also where this rank cannot tell what
    /// its contributions mean.
    ///
    /// The weights are added up by messages: the MPI library's own reductions are what is to be judged.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn of(seat: Seat, local: &LocalArguments, meaning: &Result<Meaning>, root: Option<usize>) -> Result<Self> {
        let own = Own::of(seat, local, meaning);
        let words = own.as_ref().map_or([0; 3], Own::words);
        let all = communicator::allgather(seat.comm, seat.size, words)?;
        let (fold, mut weights) = own.map(|own| (own.fold, own.weights))?;
        if let Some(fold) = fold
            && all.iter().all(|theirs| theirs[1..] == words[1..])
        {
            communicator::sums(seat.comm, seat.rank, seat.size, root, &mut weights)?;
            return Ok(Self::Each(fold, weights));
        }
        Ok(Self::Largest(all.into_iter().map(|[bits, ..]| f64::from_bits(bits)).fold(0.0, f64::max)))
    }

    /// Judges the results of element `element`, which are not the same bits, of a reduction on so many ranks.
    pub fn judge(&self, ranks: usize, meaning: &Meaning, element: usize, native: &[u8], ours: &[u8]) -> Verdict {
        let numbers = (meaning.numbers(native), meaning.numbers(ours));
        let (Some((natives, precision)), Some((of_ours, _))) = numbers else { return Verdict::Apart };
        let ranks = ranks as f64;
        match self {
            Self::Largest(scale) => each(&natives, &of_ours, |_, native, ours| {
                let [near, near_ours] = [native.nearest.abs(), ours.nearest.abs()];
                if !near.is_finite() || !near_ours.is_finite() {
                    return Verdict::Unknown;
                }
                // Partial results are at most p times the largest contribution.
                let largest = near.max(near_ours).max(ranks * scale);
                if largest < precision.told_from {
                    return Verdict::Unknown;
                }
                // Each of the p − 1 folds rounds once.
                let near = native.minus(ours).abs() <= 2.0 * ranks * precision.epsilon * largest;
                if near { Verdict::Near } else { Verdict::Apart }
            }),
            Self::Each(fold, _) => {
                let Some(weights) = self.weights(element, natives.len()) else { return Verdict::Unknown };
                match fold {
                    Fold::Sum => each(&natives, &of_ours, |part, native, ours| {
                        sums(ranks, precision, weights[part], native, ours)
                    }),
                    Fold::Product => products(ranks, precision, weights, &natives, &of_ours),
                    Fold::Choice => {
                        choices(weights[0], meaning.split(native), meaning.split(ours), [natives[0], of_ours[0]])
                    }
                }
            }
        }
    }

    /// Those of one element of so many numbers.
    fn weights(&self, element: usize, width: usize) -> Option<&[f64]> {
        let Self::Each(fold, weights) = self else { return None };
        let number = fold.weights_of_an_element(width);
        weights.get(element * number..(element + 1) * number)
    }
}

/// What this rank contributes.
struct Own {
    largest: f64,
    fold: Option<Fold>,
    weights: Vec<f64>,
}

impl Own {
    fn of(seat: Seat, local: &LocalArguments, meaning: &Result<Meaning>) -> Result<Self> {
        let meaning = (*meaning)?;
        let contribution = local.send.or(local.receive).expect("every rank contributes to a reduction");
        let bytes = bytes_of(seat, contribution)?;
        let Some((numbers, _)) = meaning.numbers(&bytes) else {
            return Ok(Self { largest: 0.0, fold: None, weights: Vec::new() });
        };
        let fold = Fold::of(local, &meaning);
        let width = numbers.len() / contribution.count.max(1);
        let weights = fold.map_or_else(Vec::new, |fold| fold.weights(&numbers, width.max(1)));
        let finite = numbers.into_iter().map(|number| number.nearest).filter(|number| number.is_finite());
        Ok(Self { largest: finite.fold(0.0, |largest, number| largest.max(number.abs())), fold, weights })
    }

    /// What the other ranks have to know of it.
    fn words(&self) -> [u64; 3] {
        let fold = self.fold.map_or(0, |fold| fold as u64 + 1);
        [self.largest.to_bits(), fold, self.weights.len() as u64]
    }
}

/// The gravest verdict on the parts of an element; on equal ones there is nothing to judge.
fn each(natives: &[Wide], ours: &[Wide], judge: impl Fn(usize, Wide, Wide) -> Verdict) -> Verdict {
    let parts = natives.iter().zip(ours).enumerate();
    let verdicts = parts.map(|(part, (native, ours))| match native.is(*ours) {
        true => Verdict::Alike,
        false => judge(part, *native, *ours),
    });
    verdicts.max().unwrap_or(Verdict::Alike)
}

fn sums(ranks: f64, precision: Precision, weight: f64, native: Wide, ours: Wide) -> Verdict {
    let is_told = weight == 0.0 || weight >= precision.told_from;
    if !weight.is_finite() || !is_told || weight.log2() > precision.highest - 1.0 {
        return Verdict::Unknown;
    }
    // Each of the p − 1 folds rounds a partial sum once, and none of those is larger than the sum of the magnitudes.
    if native.minus(ours).abs() <= 2.0 * ranks * precision.epsilon * weight { Verdict::Alike } else { Verdict::Apart }
}

/// Numbers, each with its bytes and those of its place in a pair: but for zeros of either sign and for NaNs, values are
/// the same bits or not the same. Places of equal values do not depend on the order.
fn choices(weight: f64, native: (&[u8], &[u8]), ours: (&[u8], &[u8]), values: [Wide; 2]) -> Verdict {
    let values = values.map(|value| value.nearest);
    let alike = native.0 == ours.0 || values.iter().all(|value| *value == 0.0) || values.iter().all(|it| it.is_nan());
    match alike && native.1 == ours.1 {
        true => Verdict::Alike,
        false if weight.is_nan() => Verdict::Unknown,
        false => Verdict::Apart,
    }
}

fn products(ranks: f64, precision: Precision, weights: &[f64], natives: &[Wide], ours: &[Wide]) -> Verdict {
    if natives.iter().zip(ours).all(|(native, ours)| native.is(*ours)) {
        return Verdict::Alike;
    }
    if weights[0] > precision.highest - 1.0 || weights[1] > -precision.lowest {
        return Verdict::Unknown;
    }
    let differences: Vec<f64> = natives.iter().zip(ours).map(|(native, ours)| native.minus(*ours)).collect();
    let nearest = |numbers: &[Wide]| magnitude(&numbers.iter().map(|number| number.nearest).collect::<Vec<_>>());
    let largest = nearest(natives).max(nearest(ours));
    // A complex product rounds by up to √5 as much, and its parts by a share of all of it.
    let times = if natives.len() > 1 { 4.0 } else { 2.0 };
    let bound = times * ranks * precision.epsilon * largest;
    if magnitude(&differences) <= bound { Verdict::Alike } else { Verdict::Apart }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::datatype::{Datatype, Kind};
    use crate::reduction::Element;

    fn basic(kind: Kind, size: usize) -> Datatype {
        Datatype {
            handle: mpi_sys::MPI_Datatype(1 as _),
            size,
            extent: size as isize,
            lower: 0,
            true_lower: 0,
            true_extent: size,
            contiguous: true,
            kind: Some(kind),
            extended: false,
            element: None,
        }
    }

    fn bytes(numbers: &[f64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    /// The verdict on two results of one element whose parts each rank contributes.
    fn verdict(fold: Fold, contributions: &[&[f64]], native: &[f64], ours: &[f64]) -> Verdict {
        let width = native.len();
        let meaning = Meaning::Numbers(basic(if width == 1 { Kind::Float } else { Kind::Complex }, 8 * width));
        let wide = |numbers: &[f64]| numbers.iter().map(|number| Wide::of(*number)).collect::<Vec<_>>();
        let ranks = contributions.iter().map(|numbers| fold.weights(&wide(numbers), width));
        let weights = ranks.reduce(|all, own| all.iter().zip(own).map(|(all, own)| all + own).collect()).unwrap();
        Tolerance::Each(fold, weights).judge(contributions.len(), &meaning, 0, &bytes(native), &bytes(ours))
    }

    #[test]
    fn a_sum_is_off_by_a_share_of_its_own_contributions() {
        let off = 28.0 * (1.0 + 2.0 * f64::EPSILON);
        assert_eq!(verdict(Fold::Sum, &[&[7.0][..]; 4], &[off], &[28.0]), Verdict::Alike);
        assert_eq!(verdict(Fold::Sum, &[&[7.0][..]; 4], &[28.5], &[28.0]), Verdict::Apart);
        // What is left of large ones may be anything between.
        assert_eq!(verdict(Fold::Sum, &[&[1e17], &[-1e17], &[3.0]], &[0.0], &[3.0]), Verdict::Alike);
        assert_eq!(verdict(Fold::Sum, &[&[1e17, 7.0], &[1.0, 7.0]], &[1e17, 14.5], &[1e17, 14.0]), Verdict::Apart);
        // Large neighbours change nothing.
        let meaning = Meaning::Numbers(basic(Kind::Float, 8));
        let tolerance = Tolerance::Each(Fold::Sum, vec![4e17, 20.0, 28.0]);
        assert_eq!(tolerance.judge(4, &meaning, 2, &bytes(&[28.5]), &bytes(&[28.0])), Verdict::Apart);
        assert_eq!(tolerance.judge(4, &meaning, 0, &bytes(&[28.5]), &bytes(&[28.0])), Verdict::Alike);
    }

    #[test]
    fn sums_that_may_overflow_on_the_way_are_not_judged() {
        let huge = [&[1.7e308][..], &[-1.7e308], &[1.7e308], &[-1.7e308]];
        assert_eq!(verdict(Fold::Sum, &huge, &[f64::NAN], &[0.0]), Verdict::Unknown);
        assert_eq!(verdict(Fold::Sum, &[&[f64::INFINITY], &[1.0]], &[1.0], &[f64::INFINITY]), Verdict::Unknown);
        assert_eq!(verdict(Fold::Sum, &huge, &[f64::NAN], &[-f64::NAN]), Verdict::Alike);
        // Small ones cannot.
        assert_eq!(verdict(Fold::Sum, &[&[1.0], &[2.0]], &[f64::NAN], &[3.0]), Verdict::Apart);
        assert_eq!(verdict(Fold::Sum, &[&[1.0], &[2.0]], &[3.0], &[f64::INFINITY]), Verdict::Apart);
    }

    #[test]
    fn a_product_is_off_by_a_share_of_itself() {
        let small = [&[1e-10][..]; 4];
        assert_eq!(verdict(Fold::Product, &small, &[2e-40], &[1e-40]), Verdict::Apart);
        assert_eq!(verdict(Fold::Product, &small, &[1e-40 * (1.0 + f64::EPSILON)], &[1e-40]), Verdict::Alike);
        let wide = [&[1e300][..], &[1e300], &[1e-300], &[1e-300]];
        assert_eq!(verdict(Fold::Product, &wide, &[f64::NAN], &[f64::INFINITY]), Verdict::Unknown);
        assert_eq!(verdict(Fold::Product, &[&[0.0], &[3.0]], &[1.0], &[0.0]), Verdict::Apart);
        // The small part of a complex product is what is left of large ones.
        let turns = [&[1e8, 1.0][..], &[1e8, -1.0]];
        assert_eq!(verdict(Fold::Product, &turns, &[1e16, 1.0], &[1e16, 0.0]), Verdict::Alike);
        assert_eq!(verdict(Fold::Product, &turns, &[1e16, 1e3], &[1e16, 0.0]), Verdict::Apart);
    }

    /// One and so many of its last places.
    #[cfg(target_arch = "x86_64")]
    fn long(places: u64) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&((1u64 << 63) + places).to_ne_bytes());
        bytes[8..10].copy_from_slice(&0x3FFFu16.to_ne_bytes());
        bytes
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn long_doubles_are_judged_by_their_own_digits() {
        let of = |kind, size| Datatype { extended: true, ..basic(kind, size) };
        let [one, complex] = [of(Kind::Float, 16), of(Kind::Complex, 32)].map(Meaning::Numbers);
        let both = |places| [long(places), long(0)].concat();
        // A last place of a double's is 2,048 of a long double's.
        let verdicts = [(8, Verdict::Alike), (2048, Verdict::Apart)];
        for (places, verdict) in verdicts {
            let sum = Tolerance::Each(Fold::Sum, vec![1.0; 2]);
            assert_eq!(sum.judge(4, &one, 0, &long(places), &long(0)), verdict);
            assert_eq!(sum.judge(4, &complex, 0, &both(places), &both(0)), verdict);
            let product = Tolerance::Each(Fold::Product, vec![0.0; 2]);
            assert_eq!(product.judge(4, &one, 0, &long(places), &long(0)), verdict);
            assert_eq!(product.judge(4, &complex, 0, &both(places), &both(0)), verdict);
            let near = if verdict == Verdict::Alike { Verdict::Near } else { verdict };
            assert_eq!(Tolerance::Largest(0.2).judge(4, &one, 0, &long(places), &long(0)), near);
        }
        // Below and above all doubles nobody can tell.
        let least = |places: u8| [&[places][..], &[0; 15]].concat();
        let own = Fold::Sum.weights(&one.numbers(&least(1)).unwrap().0, 1);
        assert_eq!(Tolerance::Each(Fold::Sum, own).judge(2, &one, 0, &least(2), &least(3)), Verdict::Unknown);
        // Nothing is nothing.
        let nothing = Tolerance::Each(Fold::Sum, vec![0.0]);
        assert_eq!(nothing.judge(2, &one, 0, &least(0), &least(1)), Verdict::Apart);
    }

    #[test]
    fn the_least_and_the_greatest_are_exact() {
        let all = [&[7.0][..], &[8.0]];
        assert_eq!(verdict(Fold::Choice, &all, &[7.0 + 1e-15], &[7.0]), Verdict::Apart);
        assert_eq!(verdict(Fold::Choice, &[&[0.0], &[-0.0]], &[0.0], &[-0.0]), Verdict::Alike);
        assert_eq!(verdict(Fold::Choice, &[&[f64::NAN], &[1.0], &[3.0]], &[1.0], &[3.0]), Verdict::Unknown);
        let pair = |value: f64, place: i32| [&value.to_ne_bytes()[..], &place.to_ne_bytes()].concat();
        let meaning = Meaning::Pairs(Datatype { element: Some(Element::DoubleInt), ..basic(Kind::Pair, 12) });
        let judged = |weight: f64, native: (f64, i32), ours: (f64, i32)| {
            let [native, ours] = [native, ours].map(|(value, place)| pair(value, place));
            Tolerance::Each(Fold::Choice, vec![weight]).judge(2, &meaning, 0, &native, &ours)
        };
        assert_eq!(judged(0.0, (0.0, 3), (-0.0, 3)), Verdict::Alike);
        assert_eq!(judged(0.0, (1.0, 3), (1.0, 2)), Verdict::Apart);
        assert_eq!(judged(0.0, (1.0, 3), (2.0, 3)), Verdict::Apart);
        assert_eq!(judged(f64::NAN, (f64::NAN, 1), (2.0, 0)), Verdict::Unknown);
    }

    #[test]
    fn what_operations_of_the_programs_make_of_numbers_is_near_at_best() {
        let meaning = Meaning::Numbers(basic(Kind::Float, 8));
        let judged =
            |native: f64, ours: f64| Tolerance::Largest(1.0).judge(4, &meaning, 0, &bytes(&[native]), &bytes(&[ours]));
        assert_eq!(judged(1e-16, 2e-16), Verdict::Near);
        assert_eq!(judged(1.0, 1.5), Verdict::Apart);
        assert_eq!(judged(f64::NAN, 1.5), Verdict::Unknown);
    }
}
