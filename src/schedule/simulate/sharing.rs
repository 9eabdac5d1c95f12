//! Ports that serve all who want them at once, evenly.

use std::collections::VecDeque;

/// Messages that a port serves at once; more than these wait. So many in one place are rare outside linear algorithms,
/// whose time hardly depends on it, and every one costs a look at all others when it comes and goes.
const MOST: usize = 64;

/// A message on its way, from its departure until its last byte has left.
pub struct Flow<M> {
    pub message: M,
    /// When it got its ports.
    pub start: f64,
    ports: [usize; 2],
    /// Seconds that the rest would take alone, as of `since`.
    left: f64,
    since: f64,
    /// Share of a port that it has.
    rate: f64,
    /// Which of the ends predicted for it counts.
    version: u32,
}

/// An end predicted: it counts unless the flow's share changes before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    pub time: f64,
    pub flow: u32,
    pub version: u32,
}

struct Port<M> {
    capacity: f64,
    /// Seconds of a message that pass at once after as long a pause, and what there was of them when it last went idle.
    burst: f64,
    saved: f64,
    idle_since: f64,
    active: Vec<u32>,
    waiting: VecDeque<(M, [usize; 2], f64)>,
    /// Whether its messages' shares are to be worked out anew.
    changed: bool,
}

impl<M> Port<M> {
    fn saved_at(&self, time: f64) -> f64 {
        if self.active.is_empty() { self.burst.min(self.saved + (time - self.idle_since)) } else { self.saved }
    }
}

/// Ports, each in one direction, and the messages that share them. A message goes at the least of the shares that its
/// two ports give it.
pub struct Sharing<M> {
    ports: Vec<Port<M>>,
    flows: Vec<Option<Flow<M>>>,
    spare: Vec<u32>,
    version: u32,
    /// Ports that messages came to or went from since shares were last worked out: many do at one time, and one look at the
    /// others is enough for all of them.
    changed: Vec<usize>,
    /// Ends predicted since they were last taken.
    pub predicted: Vec<End>,
}

impl<M> Sharing<M> {
    /// Ports that serve so many messages each at full speed, and let so many seconds through at once after a pause.
    pub fn new(ports: impl Iterator<Item = (f64, f64)>) -> Self {
        let port = |(capacity, burst)| Port {
            capacity,
            burst,
            saved: burst,
            idle_since: 0.0,
            active: Vec::new(),
            waiting: VecDeque::new(),
            changed: false,
        };
        Self {
            ports: ports.map(port).collect(),
            flows: Vec::new(),
            spare: Vec::new(),
            version: 0,
            changed: Vec::new(),
            predicted: Vec::new(),
        }
    }

    /// A message wants the two `ports` for `seconds` if it has them for itself.
    pub fn join(&mut self, message: M, ports: [usize; 2], time: f64, seconds: f64) {
        if let Some(full) = ports.into_iter().find(|port| self.ports[*port].active.len() >= MOST) {
            self.ports[full].waiting.push_back((message, ports, seconds));
            return;
        }
        let [out, into] = ports.map(|port| self.ports[port].saved_at(time));
        let at_once = out.min(into).min(seconds);
        for port in ports {
            self.ports[port].saved = self.ports[port].saved_at(time) - at_once;
        }
        self.version += 1;
        let left = seconds - at_once;
        let flow = Flow { message, start: time, ports, left, since: time, rate: 0.0, version: self.version };
        let place = self.spare.pop().unwrap_or_else(|| {
            self.flows.push(None);
            self.flows.len() as u32 - 1
        });
        self.flows[place as usize] = Some(flow);
        for port in ports {
            self.ports[port].active.push(place);
            self.change(port);
        }
    }

    fn change(&mut self, port: usize) {
        if !std::mem::replace(&mut self.ports[port].changed, true) {
            self.changed.push(port);
        }
    }

    /// Whether shares are to be worked out anew before time goes on.
    pub fn is_due(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The flow whose end is due, which makes room for others; none if its share has changed since.
    pub fn end(&mut self, end: End) -> Option<Flow<M>> {
        let current = self.flows[end.flow as usize].as_ref().is_some_and(|flow| flow.version == end.version);
        let flow = self.flows[end.flow as usize].take_if(|_| current)?;
        self.spare.push(end.flow);
        for port in flow.ports {
            self.ports[port].active.retain(|active| *active != end.flow);
            if self.ports[port].active.is_empty() {
                self.ports[port].idle_since = end.time;
            }
            self.change(port);
        }
        for port in flow.ports {
            if let Some((message, ports, seconds)) = self.ports[port].waiting.pop_front() {
                self.join(message, ports, end.time, seconds);
            }
        }
        Some(flow)
    }

    /// Seconds that something new at `port` waits behind what it has taken on of the messages on their way: `of` says
    /// how much of each at most.
    pub fn backlog(&self, port: usize, time: f64, of: impl Fn(&M) -> f64) -> f64 {
        let flows = self.ports[port].active.iter().map(|place| self.flows[*place as usize].as_ref());
        let left = |flow: &Flow<M>| (flow.left - (time - flow.since) * flow.rate).max(0.0).min(of(&flow.message));
        flows.flatten().map(left).sum()
    }

    /// Gives all that use ports which have changed their share from `time` on.
    pub fn share_out(&mut self, time: f64) {
        let Self { ports, flows, version, changed, predicted, .. } = self;
        for port in changed.iter() {
            ports[*port].changed = false;
        }
        let share = |port: usize| {
            let Port { capacity, active, .. } = &ports[port];
            (capacity / active.len() as f64).min(1.0)
        };
        for place in changed.drain(..).flat_map(|port| &ports[port].active) {
            let flow = flows[*place as usize].as_mut().expect("active flows are there");
            let rate = share(flow.ports[0]).min(share(flow.ports[1]));
            if rate == flow.rate {
                continue;
            }
            flow.left = (flow.left - (time - flow.since) * flow.rate).max(0.0);
            *version += 1;
            (flow.rate, flow.since, flow.version) = (rate, time, *version);
            predicted.push(End { time: time + flow.left / rate, flow: *place, version: *version });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of some messages ends, which want their ports at the given times.
    fn ends(capacities: &[f64], wanted: &[([usize; 2], f64, f64)]) -> Vec<f64> {
        let mut sharing = Sharing::new(capacities.iter().map(|capacity| (*capacity, 0.0)));
        let mut ends = vec![f64::NAN; wanted.len()];
        let mut due: Vec<End> = Vec::new();
        let mut next = 0;
        while ends.iter().any(|end| end.is_nan()) {
            due.append(&mut sharing.predicted);
            due.sort_by(|a, b| b.time.total_cmp(&a.time));
            match wanted.get(next) {
                Some((ports, time, seconds)) if due.last().is_none_or(|end| end.time > *time) => {
                    sharing.join(next, *ports, *time, *seconds);
                    sharing.share_out(*time);
                    next += 1;
                }
                _ => {
                    let end = due.pop().unwrap();
                    if let Some(flow) = sharing.end(end) {
                        ends[flow.message] = end.time;
                        sharing.share_out(end.time);
                    }
                }
            }
        }
        ends
    }

    #[test]
    fn a_port_is_shared_evenly() {
        assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0)]), [3.0]);
        assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([0, 2], 0.0, 3.0)]), [6.0, 6.0]);
        assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([0, 2], 1.0, 1.0)]), [4.0, 3.0]);
        assert_eq!(ends(&[1.0; 4], &[([0, 1], 0.0, 3.0), ([2, 3], 0.0, 3.0)]), [3.0, 3.0]);
        assert_eq!(ends(&[2.0; 4], &[([0, 1], 0.0, 3.0), ([0, 1], 0.0, 3.0)]), [3.0, 3.0]);
    }

    #[test]
    fn what_was_saved_in_a_pause_passes_at_once() {
        let mut sharing = Sharing::new([(1.0, 2.0); 2].into_iter());
        let mut alone = |time, seconds| {
            sharing.join((), [0, 1], time, seconds);
            sharing.share_out(time);
            let end = sharing.predicted.pop().unwrap();
            sharing.end(end).map(|_| end.time - time)
        };
        assert_eq!(alone(0.0, 3.0), Some(1.0));
        assert_eq!(alone(1.0, 3.0), Some(3.0));
        assert_eq!(alone(5.5, 3.0), Some(1.5));
        assert_eq!(alone(100.0, 1.0), Some(0.0));
    }

    #[test]
    fn a_backlog_is_what_is_left_up_to_a_limit() {
        let mut sharing = Sharing::new([(1.0, 0.0); 3].into_iter());
        sharing.join(5.0, [0, 1], 0.0, 10.0);
        sharing.share_out(0.0);
        assert_eq!((sharing.backlog(0, 2.0, |most| *most), sharing.backlog(0, 8.0, |most| *most)), (5.0, 2.0));
        assert_eq!(sharing.backlog(2, 2.0, |most| *most), 0.0);
    }

    #[test]
    fn a_crowd_waits() {
        let crowd: Vec<_> = (0..2 * MOST).map(|_| ([0, 1], 0.0, 1.0)).collect();
        let ends = ends(&[1.0; 2], &crowd);
        assert!((ends[0] - MOST as f64).abs() < 1e-9 && (ends[2 * MOST - 1] - 2.0 * MOST as f64).abs() < 1e-9);
    }
}
