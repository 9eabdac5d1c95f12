//! One clock for all ranks: what ping-pongs say of another rank's clock, and the model that a rank keeps of the common
//! one.
//!
//! After Hunold and Carpen-Amarie, *Hierarchical Clock Synchronization in MPI*, CLUSTER 2018 (HCA3): ranks learn the
//! reference's time along a binomial tree, each pair by the fastest of several ping-pongs. Departures: 1. the drift is
//! not fitted at the start from points a second apart, which a program would have to wait for, but taken from the
//! points of the start, of the end and of the synchronisations between, so the model is linear between each two of
//! them; 2. ranks of one node share a clock of the system, and take it instead where the ping-pongs do not contradict
//! it.

/// One ping-pong, seen by the rank that asks; nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong {
    /// By the asking rank's clock, when the question left.
    pub sent: i64,
    /// The common time that the reference answered with.
    pub answer: i64,
    /// By the asking rank's clock, when the answer was there.
    pub received: i64,
}

impl PingPong {
    /// Time there and back.
    pub const fn round_trip(&self) -> i64 {
        self.received - self.sent
    }

    /// What to add to the own clock to get the common time, if there and back took equally long. The truth is no
    /// further off than half the round trip.
    pub const fn offset(&self) -> i64 {
        self.answer - (self.sent + self.round_trip() / 2)
    }

    /// Whether the truth may be `offset`.
    pub const fn allows(&self, offset: i64) -> bool {
        (self.offset() - offset).abs() <= self.round_trip() / 2 + 1
    }

    /// The faster of two: what it says is the surer.
    pub const fn or_faster(self, other: Self) -> Self {
        if other.round_trip() < self.round_trip() { other } else { self }
    }
}

/// The common time as a function of this rank's: linear between the points where both are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonClock {
    /// (own nanoseconds since the start, common nanoseconds), both ascending.
    points: Vec<(u64, i64)>,
}

impl CommonClock {
    /// Without points.
    pub const fn new() -> Self {
        Self { points: Vec::new() }
    }

    /// Adds a point; one that is not later than the last is passed over.
    pub fn add(&mut self, own: u64, common: i64) {
        if self.points.last().is_none_or(|&(last, _)| own > last) {
            self.points.push((own, common));
        }
    }

    /// How far a new point is from the line through the last two. Where the clocks' speeds change steadily, what
    /// lies between two points is off by an eighth of that at most: so far is a parabola from its chord. Nothing is known
    /// of it before there are two.
    pub fn drift(&self, own: u64, common: i64) -> u64 {
        if self.points.len() < 2 { 0 } else { self.common(own).abs_diff(common) }
    }

    /// Number of points.
    pub const fn points(&self) -> usize {
        self.points.len()
    }

    /// The common time when this rank's clock showed `own`. Before the first point and after the last the nearest line
    /// goes on; with one point both clocks run equally fast; without any they are one.
    pub fn common(&self, own: u64) -> i64 {
        let after = self.points.partition_point(|&(point, _)| point <= own);
        let right = after.clamp(1, self.points.len().saturating_sub(1).max(1));
        match (self.points.get(right - 1), self.points.get(right)) {
            (Some(&(left, from)), Some(&(right, to))) => {
                let slope = (to - from) as f64 / (right - left) as f64;
                from + ((own as i64 - left as i64) as f64 * slope).round() as i64
            }
            (Some(&(point, common)), None) => common + (own as i64 - point as i64),
            _ => own as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_ping_pong_bounds_the_truth() {
        // The reference is 1,000 ahead; the way there takes 10 to 90, the way back 20.
        let ping = |there: i64| {
            let sent = 5_000 + there * 100;
            PingPong { sent, answer: sent + there + 1_000, received: sent + there + 20 }
        };
        let fastest = [90, 30, 10, 50].map(ping).into_iter().reduce(PingPong::or_faster).unwrap();
        assert_eq!((fastest.round_trip(), fastest.offset()), (30, 995));
        assert!(fastest.allows(1_000) && !fastest.allows(1_100));
    }

    #[test]
    fn the_model_goes_through_its_points_and_straight_between_them() {
        let mut clock = CommonClock::new();
        assert_eq!(clock.common(17), 17);
        clock.add(1_000, 501_000);
        assert_eq!((clock.common(0), clock.common(3_000)), (500_000, 503_000));
        // 100 ppm faster, then as fast.
        clock.add(1_001_000, 1_501_100);
        clock.add(2_001_000, 2_501_100);
        clock.add(2_001_000, 0);
        assert_eq!(clock.points(), 3);
        assert_eq!(
            (clock.common(1_000), clock.common(501_000), clock.common(1_001_000)),
            (501_000, 1_001_050, 1_501_100)
        );
        assert_eq!((clock.common(1_501_000), clock.common(3_001_000)), (2_001_100, 3_501_100));
        assert_eq!(clock.common(0), 500_000);
    }

    #[test]
    fn a_new_point_tells_how_far_the_line_between_was_off() {
        // Its speed changes by 1e-10 a second.
        let common = |t: f64| (t * 1e9 + 0.5e-10 * t * t * 1e9) as i64;
        let mut clock = CommonClock::new();
        for t in [0.0, 1000.0] {
            assert_eq!(clock.drift((t * 1e9) as u64, common(t)), 0);
            clock.add((t * 1e9) as u64, common(t));
        }
        let drift = clock.drift(2_000_000_000_000, common(2000.0));
        let between = clock.common(500_000_000_000).abs_diff(common(500.0));
        assert_eq!((drift, between), (100_000, 12_500));
        clock.add(2_000_000_000_000, common(2000.0));
        assert!(clock.common(1_500_000_000_000).abs_diff(common(1500.0)) <= drift / 4);
    }

    #[test]
    fn drifting_clocks_meet_again_within_the_error_of_the_points() {
        // A clock 50 ppm slow against one 30 ppm fast, an hour, points every ten minutes that are up to 200 ns off.
        let (slow, fast) = (|t: f64| t * (1.0 - 50e-6), |t: f64| t * (1.0 + 30e-6) + 7e9);
        let mut clock = CommonClock::new();
        for point in 0..=6 {
            let t = f64::from(point) * 600e9;
            let error = f64::from(point * 7919 % 401 - 200);
            clock.add(slow(t) as u64, (fast(t) + error) as i64);
        }
        for second in 0..3600 {
            let t = f64::from(second) * 1e9;
            let off = clock.common(slow(t) as u64) as f64 - fast(t);
            assert!(off.abs() < 250.0, "{off} ns off after {second} s");
        }
    }
}
