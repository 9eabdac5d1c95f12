//! Where between two measured sizes one row ends and the next begins.

use super::losses::Size;

/// Where the times of neighbouring rows differ by less at both sizes, they do not tell where to cut.
const LEVEL: f64 = 0.02;

/// The most bytes that belong to `one`, which carries out calls of the size `before`, and not to `other`, which does
/// those of `after`: where their times meet if each goes from size to size along a straight line, in ratio. A row then
/// ends near the size at which little is lost by its successor, which matters where a time jumps at a length that
/// nobody measured: native's messages beyond 4,040 bytes take up to four times as long, and of 2 KiB and 8 KiB the
/// middle, 4 KiB, is already beyond.
pub fn between(before: &Size, one: &str, after: &Size, other: &str) -> usize {
    let (low, high) = (before.longest(), after.shortest());
    let share = share(before, one, after, other).unwrap_or(0.5);
    let (from, to) = ((low.max(1) as f64).ln(), (high.max(1) as f64).ln());
    ((from + share * (to - from)).exp() as usize).clamp(low, high.saturating_sub(1).max(low))
}

/// How far from `before` to `after` that is, 0 to 1; nothing where times do not tell.
pub fn share(before: &Size, one: &str, after: &Size, other: &str) -> Option<f64> {
    let behind = |size: &Size, name: &str| size.candidates.get(name).map(|candidate| candidate.behind);
    let lost_before = (behind(before, other)? - behind(before, one)?).max(0.0);
    let lost_after = (behind(after, one)? - behind(after, other)?).max(0.0);
    (lost_before.max(lost_after) >= LEVEL).then(|| lost_before / (lost_before + lost_after))
}
