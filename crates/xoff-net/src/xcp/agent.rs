//! XCP at one egress port.
//!
//! Two clocks run: one for control intervals, one for the persistent queue. Both are checked when a
//! packet arrives or leaves. That is as exact as a timer, because nothing they measure changes
//! between two packets. A clock stops at the end of a period without packets, and the next packet
//! restarts it. An idle port thus does no work, and restarts with a whole interval. Clocks that run
//! all the time (`xcp.clocks`) are advanced by the next packet.
//!
//! Times are picoseconds, and throughputs bytes per picosecond; both are floating-point numbers
//! where they are multiplied. The end of a period is an integer.

use super::{Clocks, Form, XcpConfig, XcpHeader};

/// The end of a stopped clock.
const STOPPED: u64 = u64::MAX;
/// What ns-2 divides an increase by if no RTT is known: 1 s (ps).
const NS2_UNKNOWN: f64 = 1e12;

/// XCP at one egress port.
#[derive(Clone, Debug)]
pub struct Agent {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// Bytes per ps.
    capacity: f64,
    initial_interval_ps: u64,
    min_interval_ps: u64,
    min_search_ps: u64,
    /// True if clocks never stop.
    runs_free: bool,
    /// True for the arithmetic of ns-2.
    as_ns2: bool,
    /// End and length of the control interval.
    interval_end: u64,
    interval_ps: u64,
    arrived: Arrived,
    mean_rtt_ps: f64,
    give: Share,
    take: Share,
    /// End of the current search for the persistent queue.
    queue_end: u64,
    /// Whether no packet arrived or left since it began.
    queue_rested: bool,
    /// Fewest bytes in the queue since it began.
    queue_min: u32,
    /// Result of the previous search.
    pub(super) persistent_queue: u32,
}

/// Arrivals in a control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// All bytes.
    bytes: u64,
    /// Bytes of packets with a known RTT.
    known_bytes: u64,
    /// Sum of the times between packets of a flow (ps). Each flow adds one interval, at any rate.
    spacing: f64,
    /// The same sum, weighted with the RTT (ps^2).
    rtt_spacing: f64,
}

/// A change of throughput to divide in one control interval.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// The share of each unit of a packet's claim: the paper's xi.
    scale: f64,
    /// The rest of the change (bytes/ps).
    left: f64,
}

impl Share {
    fn new(total: f64, claims: f64) -> Self {
        if claims > 0.0 { Self { scale: total / claims, left: total } } else { Self::default() }
    }

    /// The share of a claim.
    fn of(&self, claim: f64) -> f64 {
        (self.scale * claim).min(self.left)
    }

    /// Subtracts a share from the rest.
    fn spend(&mut self, amount: f64) {
        self.left = (self.left - amount).max(0.0);
    }
}

/// A rate in bit/s, as bytes per picosecond.
fn bytes_per_ps(rate: u64) -> f64 {
    rate as f64 / 8e12
}

impl Agent {
    /// The port works at `rate` (bit/s) from now on: what the next control intervals distribute.
    pub(super) fn set_rate(&mut self, rate: u64) {
        self.capacity = bytes_per_ps(rate);
    }

    /// At a port of `rate` bit/s. Derived settings are filled in.
    #[must_use]
    pub fn new(config: &XcpConfig, rate: u64) -> Self {
        let initial_interval_ps = config.initial_interval.0;
        let runs_free = config.clocks == Clocks::Free;
        let first_end = if runs_free { config.first_interval_end.0 } else { STOPPED };
        Self {
            alpha: config.alpha,
            beta: config.beta,
            gamma: config.gamma,
            capacity: bytes_per_ps(rate),
            initial_interval_ps,
            min_interval_ps: config.min_interval.0,
            min_search_ps: config.min_queue_interval.0,
            runs_free,
            as_ns2: config.router == Form::Ns2,
            interval_end: first_end,
            interval_ps: initial_interval_ps,
            arrived: Arrived::default(),
            mean_rtt_ps: initial_interval_ps as f64,
            give: Share::default(),
            take: Share::default(),
            queue_end: first_end,
            queue_rested: true,
            queue_min: 0,
            persistent_queue: 0,
        }
    }

    /// A packet arrives and finds `queue_bytes` waiting.
    pub fn on_arrival(
        &mut self,
        now: u64,
        queue_bytes: u32,
        wire_bytes: u16,
        header: Option<&XcpHeader>,
    ) {
        self.advance(now, queue_bytes);
        if self.interval_end == STOPPED {
            self.interval_ps = self.initial_interval_ps;
            self.interval_end = now + self.interval_ps;
        }
        let arrived = &mut self.arrived;
        arrived.bytes += u64::from(wire_bytes);
        if let Some(header) = header.filter(|header| header.rtt_ps > 0.0) {
            arrived.known_bytes += u64::from(wire_bytes);
            arrived.spacing += header.spacing_ps;
            arrived.rtt_spacing += header.rtt_ps * header.spacing_ps;
        }
    }

    /// A packet starts to leave and leaves `queue_bytes` behind it.
    pub fn on_departure(
        &mut self,
        now: u64,
        queue_bytes: u32,
        wire_bytes: u16,
        header: Option<&mut XcpHeader>,
    ) {
        // A packet that did not wait has arrived at this instant, so both clocks are up to date.
        let with_this = queue_bytes + u32::from(wire_bytes);
        self.advance(now, with_this);
        self.queue_min = self.queue_min.min(if self.as_ns2 { with_this } else { queue_bytes });
        if let Some(header) = header {
            self.write_feedback(header, wire_bytes);
        }
    }

    /// Ends all periods that are over. `queue_bytes` have waited since the last packet arrived or
    /// left.
    #[inline]
    fn advance(&mut self, now: u64, queue_bytes: u32) {
        while now >= self.interval_end.min(self.queue_end) {
            if self.queue_end <= self.interval_end {
                self.end_search(queue_bytes);
            } else {
                self.end_interval();
            }
        }
        if self.queue_end == STOPPED {
            self.queue_min = queue_bytes;
            self.queue_end = now + self.search_ps(queue_bytes);
        }
        self.queue_rested = false;
    }

    /// "We compute Q by taking the minimum queue seen by an arriving packet during the last
    /// propagation delay" (§3.5.1). That is the minimum of the queue, which only grows by arrivals.
    fn end_search(&mut self, queue_bytes: u32) {
        self.persistent_queue = self.queue_min;
        self.queue_min = queue_bytes;
        self.queue_end = if self.queue_rested && !self.runs_free {
            STOPPED
        } else {
            self.queue_end + self.search_ps(queue_bytes)
        };
        self.queue_rested = true;
    }

    /// "... which we estimate by subtracting the local queuing delay from the average RTT"
    /// (§3.5.1); the draft and ns-2 take half of it.
    fn search_ps(&self, queue_bytes: u32) -> u64 {
        let queueing_ps = f64::from(queue_bytes) / self.capacity;
        (((self.mean_rtt_ps - queueing_ps) / 2.0) as u64).max(self.min_search_ps)
    }

    /// A control interval ends: "a single control decision every average RTT" (§3.5).
    #[inline(never)]
    fn end_interval(&mut self) {
        let arrived = core::mem::take(&mut self.arrived);
        self.mean_rtt_ps = if arrived.spacing > 0.0 {
            arrived.rtt_spacing / arrived.spacing
        } else {
            self.initial_interval_ps as f64
        };
        if arrived.bytes == 0 {
            (self.give, self.take) = (Share::default(), Share::default());
            self.interval_ps = self.initial_interval_ps;
            self.interval_end =
                if self.runs_free { self.interval_end + self.interval_ps } else { STOPPED };
            return;
        }
        // "phi = alpha d S - beta Q" (§3.5.1), as a throughput: divided by d.
        let input = arrived.bytes as f64 / self.interval_ps as f64;
        let queue = f64::from(self.persistent_queue);
        let change = self.alpha * (self.capacity - input) - self.beta * queue / self.mean_rtt_ps;
        // "h = max(0, gamma y - |phi|)" (§3.5.2).
        let shuffled = (self.gamma * input - change.abs()).max(0.0);
        // "If phi > 0, allocate it so that the increase in throughput of all flows is the same. If
        // phi < 0, allocate it so that the decrease in throughput of a flow is proportional to its
        // current throughput" (§3.5.2).
        let (flows, bytes) = if self.as_ns2 {
            let known = if arrived.spacing > 0.0 { arrived.spacing } else { NS2_UNKNOWN };
            (known, arrived.bytes)
        } else {
            (arrived.spacing, arrived.known_bytes)
        };
        self.give = Share::new(shuffled + change.max(0.0), flows);
        self.take = Share::new(shuffled + (-change).max(0.0), bytes as f64);
        self.interval_ps = (self.mean_rtt_ps as u64).max(self.min_interval_ps);
        self.interval_end += self.interval_ps;
    }

    /// A packet's share of the change. If an earlier switch allowed less, the difference increases
    /// the decrease left to distribute, or reduces the increase left (the draft's lines 20 to 29).
    /// A large decrease by an earlier switch does not add to the increase of this one.
    fn write_feedback(&mut self, header: &mut XcpHeader, wire_bytes: u16) {
        if header.rtt_ps <= 0.0 {
            header.feedback = 0.0;
            return;
        }
        let (mut more, mut less) =
            (self.give.of(header.spacing_ps), self.take.of(f64::from(wire_bytes)));
        let feedback = more - less;
        if header.feedback >= feedback {
            header.feedback = feedback;
        } else {
            less = (less + (feedback - header.feedback)).min(self.take.left);
            more = (header.feedback + less).max(0.0);
        }
        self.give.spend(more);
        self.take.spend(less);
    }

    /// The mean RTT of the last control interval (ps).
    #[must_use]
    pub fn mean_rtt_ps(&self) -> f64 {
        self.mean_rtt_ps
    }
}
