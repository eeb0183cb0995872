//! Source flow control (SFC): a congested switch asks the sources of its traffic to pause.
//!
//! A switch copies the header of a data packet that arrives for a queue above a threshold, or for a
//! receiver that it knows to be congested. The egress builder sends the copy a moment later as a
//! Back-to-Sender frame (BTS) with the length of the pause. Switches on the way to the sender may
//! remember it. Sections, figures and lines are those of "SFC: Near-Source Congestion Signaling and
//! Flow Control" (Le et al.).

mod bit;
mod cache;
mod estimator;
mod filter;
mod settings;
#[cfg(test)]
mod tests;

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

use self::bit::CongestionBit;
use self::cache::PauseCache;
use self::estimator::IncastEstimator;
use self::filter::Suppression;
use self::settings::without_filter;
use super::{CopyUse, HopControl, Signal, quanta};
use crate::packet::{CONTROL_QUEUE, Kind, NONE, Packet, flag};
use crate::sched::Scheduler;

const CLASSES: usize = 8;

choices! {
    /// Where a switch checks a queue before it sends a signal.
    pub enum SignalAt {
        /// Before the packet joins the queue (SFC §3.2).
        Ingress = "ingress",
        /// When the packet leaves the queue (§2.3, "Egress BTS"): one signal for each packet sent.
        Egress = "egress",
    }
}

choices! {
    /// Which switches run SFC.
    pub enum Deployment {
        /// Those with hosts ("we enable SFC only at the ToR layer", §5.3).
        Tor = "tor",
        /// All.
        All = "all",
    }
}

choices! {
    /// The fields that distinguish flows in the suppression filter.
    pub enum FilterKey {
        /// Addresses and ports (Algorithm 1, line 13).
        FiveTuple = "5-tuple",
        /// Addresses and class: Intel's open P4 implementation hashes source, destination and DSCP.
        Pair = "pair",
    }
}

knobs! {
    /// Source flow control.
    pub struct SfcConfig in "sfc" {
        /// Where a switch checks a queue.
        signal: SignalAt = SignalAt::Ingress,
        /// Which switches run SFC.
        deployment: Deployment = Deployment::Tor,
        /// Depth above which a queue is congested (Q_Th); 0: two bandwidth-delay products of the
        /// hosts' rate and the base RTT (§3.3).
        trigger: Bytes = Bytes(0),
        /// Depth to which a pause lets the queue drain (Q_Tg); 0: one bandwidth-delay product
        /// (§3.3).
        target: Bytes = Bytes(0),
        /// Delay until the ingress knows that a queue has become congested, or has ceased to be.
        /// Footnote 1 only bounds it by the pipeline's latency, which §5.3 puts at 600 ns.
        bit_delay: Ps = Ps::from_ns(600) => [
            Effect::Unless(|sfc| because(
                sfc.signal == SignalAt::Egress,
                "sfc.signal = \"egress\"",
            )),
        ],
        /// Time from the arrival of a packet to the departure of its copy. The copy takes the
        /// egress pipeline and, recirculated, the ingress pipeline (§4): one more pass of 600 ns
        /// (§5.3).
        mirror_delay: Ps = Ps::from_ns(600),
        /// Pauses are rounded down to a whole multiple of this; 0: exact (§3.3: "We express T_P in
        /// microseconds").
        pause_unit: Ps = Ps::from_us(1),
        /// Suppress further signals to a flow for a while (§3.2).
        filter: bool = true,
        /// The fields that distinguish flows in the filter.
        filter_key: FilterKey = FilterKey::FiveTuple => [Effect::Unless(without_filter)],
        /// Hash functions of the filter (App. B.2: "the minimal 3-hash filter design").
        filter_hashes: u32 = 3 => [Effect::Unless(without_filter)],
        /// Cells for each hash function. The paper states less than 0.1 % of the SRAM; Intel's open
        /// P4 implementation has 65 536.
        filter_cells: u32 = 65_536 => [Effect::Unless(without_filter)],
        /// Interval of the filter's resets; 0: half the base RTT (§3.2).
        filter_reset: Ps = Ps(0) => [Effect::Unless(without_filter)],
        /// Change the filter's hashes with every reset (§4).
        filter_version: bool = true => [Effect::Unless(without_filter)],
        /// Remember congested receivers at switches that forward their signals (§3.4).
        cache: bool = true,
        /// Entries of that cache (§4).
        cache_entries: u32 = 32_768 => [
            Effect::Unless(|sfc| because(!sfc.cache, "sfc.cache = false")),
        ],
        /// Estimate incasts at the senders' switches from the traffic that passes them (§3.4,
        /// optional).
        estimator: bool = false,
        /// Time window of the estimator (not stated); 0: the base RTT, after which signals arrive
        /// from the queue itself.
        estimator_tau: Ps = Ps(0) => [
            Effect::Unless(|sfc| because(!sfc.estimator, "sfc.estimator = false")),
        ],
        /// Turn signals into PFC frames at the sender's switch (§4, "SFC-P").
        to_pfc: bool = false,
        /// Bytes of a signal on the wire (Intel's open P4 implementation truncates it to 64 B).
        frame_size: Bytes = Bytes(64),
    }
}

impl SfcConfig {
    /// Fills in the settings that depend on the bandwidth-delay product (bytes) and the base RTT.
    #[must_use]
    pub fn derived(mut self, bdp: u64, base_rtt: Ps) -> Self {
        let or = |value: u64, otherwise: u64| if value == 0 { otherwise } else { value };
        self.trigger = Bytes(or(self.trigger.0, 2 * bdp));
        self.target = Bytes(or(self.target.0, bdp));
        self.filter_reset = Ps(or(self.filter_reset.0, base_rtt.0 / 2));
        self.estimator_tau = Ps(or(self.estimator_tau.0, base_rtt.0));
        self
    }

    /// Checks derived settings.
    ///
    /// # Errors
    /// The key that is wrong and what is allowed.
    pub fn check(&self, base_rtt: Ps) -> Result<(), (&'static str, String)> {
        for (key, time) in [
            ("bit_delay", self.bit_delay),
            ("mirror_delay", self.mirror_delay),
            ("pause_unit", self.pause_unit),
        ] {
            if time > base_rtt {
                let message = format!(
                    "{time} is more than the base RTT ({base_rtt}): signals \
                    would be too late"
                );
                return Err((key, message));
            }
        }
        if self.target >= self.trigger {
            let (target, trigger) = (self.target, self.trigger);
            let message = format!(
                "target ({target}) must be less than trigger ({trigger}): the pause is the time to \
                 drain from one to the other (SFC §3.3)"
            );
            return Err(("target", message));
        }
        if self.cache && self.cache_entries == 0 {
            let message = "a cache needs at least one entry: set cache = false for none";
            return Err(("cache_entries", message.into()));
        }
        if self.filter && (self.filter_hashes == 0 || self.filter_cells == 0) {
            let key = if self.filter_hashes == 0 { "filter_hashes" } else { "filter_cells" };
            let message = "a filter without cells suppresses everything: set filter = false";
            return Err((key, message.into()));
        }
        for (key, count, most) in [
            ("filter_hashes", self.filter_hashes, 16),
            ("filter_cells", self.filter_cells, 1 << 20),
            ("cache_entries", self.cache_entries, 1 << 20),
        ] {
            if count > most {
                return Err((key, format!("up to {most}")));
            }
        }
        if !(32..=1_500).contains(&self.frame_size.0) {
            return Err(("frame_size", "a signal has 32B to 1500B".into()));
        }
        Ok(())
    }
}

/// The properties of a port that SFC uses.
#[derive(Clone, Copy, Debug)]
pub struct SfcPort {
    /// Bits per second.
    pub rate: u64,
    /// Whether the port leads to a host.
    pub host: bool,
}

/// Counts of SFC at a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SfcStats {
    /// Data packets that triggered a signal.
    pub triggered: u64,
    /// Triggers without a signal, because the flow was signalled a moment before.
    pub suppressed: u64,
    /// Signals sent.
    pub sent: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Signals sent for remote congestion, known from the cache or the estimator.
    pub sent_near_source: u64,
    /// Signals turned into PFC frames.
    pub converted: u64,
}

impl SfcStats {
    /// Adds another switch's counts.
    pub fn add(&mut self, other: &Self) {
        self.triggered += other.triggered;
        self.suppressed += other.suppressed;
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.sent_near_source += other.sent_near_source;
        self.converted += other.converted;
    }
}

/// One queue of an egress port.
#[derive(Debug, Default)]
struct QueueState {
    /// Bytes in the queue.
    depth: u64,
    /// Its depth in the egress pipeline, from the data packet that was dequeued last (§3.3).
    register: u64,
    bit: CongestionBit,
}

/// The SFC state of one switch.
#[derive(Debug)]
pub struct Sfc {
    config: Box<SfcConfig>,
    ports: Vec<SfcPort>,
    /// The rate of each port at this time (bit/s).
    rates: Vec<u64>,
    queues: Vec<[QueueState; CLASSES]>,
    filter: Option<Box<Suppression>>,
    cache: Option<Box<PauseCache>>,
    estimator: Option<Box<IncastEstimator>>,
    /// Counts so far.
    pub stats: SfcStats,
}

impl Sfc {
    /// For a switch with these ports in a network of `hosts` hosts. The settings are derived.
    #[must_use]
    pub fn new(config: &SfcConfig, ports: &[SfcPort], hosts: usize) -> Self {
        let host_rate = ports.iter().find(|port| port.host).map(|port| port.rate);
        let filter = || {
            let (cells, reset) = (u64::from(config.filter_cells), config.filter_reset.0);
            Suppression::new(config.filter_hashes, cells, reset.max(1), config.filter_version)
        };
        let estimator = |rate| IncastEstimator::new(config.estimator_tau.0, rate, hosts);
        Self {
            ports: ports.to_vec(),
            rates: ports.iter().map(|port| port.rate).collect(),
            queues: ports.iter().map(|_| Default::default()).collect(),
            filter: config.filter.then(|| Box::new(filter())),
            cache: config.cache.then(|| Box::new(PauseCache::new(config.cache_entries as usize))),
            estimator: host_rate.filter(|_| config.estimator).map(|rate| Box::new(estimator(rate))),
            config: Box::new(config.clone()),
            stats: SfcStats::default(),
        }
    }

    /// Most flows that its filter held in one period.
    #[must_use]
    pub fn filter_peak(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| filter.peak)
    }

    /// Flows that its filter suppressed although it did not hold them.
    #[must_use]
    pub fn false_positives(&self) -> u64 {
        self.filter.as_ref().map_or(0, |filter| filter.false_positives)
    }

    /// Most receivers that its cache held as congested at one time.
    #[must_use]
    pub fn cache_peak(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.peak)
    }

    /// Signals its cache could not hold.
    #[must_use]
    pub fn cache_collisions(&self) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.collisions)
    }

    /// The time a port takes to drain a queue to the target (ps): `T_P = (qd - Q_Tg) / R` (§3.3).
    fn drain_time(&self, egress: u16, depth: u64) -> u64 {
        let excess = u128::from(depth.saturating_sub(self.config.target.0));
        (excess * 8_000_000_000_000 / u128::from(self.rates[egress as usize])) as u64
    }

    /// The time for which the receiver of a packet is known or estimated to be congested (ps).
    #[inline]
    fn remote_pause(&mut self, now: u64, egress: u16, packet: &Packet) -> u64 {
        let cached = self.cache.as_ref();
        let cached = cached.map_or(0, |cache| cache.remaining(now, packet.dst, packet.class()));
        let estimate = self.local_estimate(now, egress, packet);
        self.in_units(cached.max(estimate))
    }

    /// A pause rounded down to the unit of frames.
    fn in_units(&self, pause_ps: u64) -> u64 {
        match self.config.pause_unit.0 {
            0 => pause_ps,
            unit => pause_ps / unit * unit,
        }
    }

    /// The pause for a remote queue by this switch's own estimate: "we take the max of cache_time
    /// and local_estimate in line 13" (§3.4).
    #[inline]
    fn local_estimate(&mut self, now: u64, egress: u16, packet: &Packet) -> u64 {
        let of_own_host = self.ports[packet.ingress as usize].host;
        let leaves_rack = !self.ports[egress as usize].host;
        match &mut self.estimator {
            Some(estimator) if of_own_host && leaves_rack => {
                let depth = estimator.on_packet(now, packet.dst, packet.wire_bytes);
                let over = depth > self.config.trigger.0;
                if over { self.drain_time(packet.ingress, depth) } else { 0 }
            }
            _ => 0,
        }
    }

    /// A copy of a packet's header with the input of the egress builder: the packet's queue, and
    /// the pause that the ingress has computed (Algorithm 1, lines 16 and 17). `near`: only remote
    /// congestion triggered it.
    fn copy(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        pause: u64,
        near: bool,
    ) -> Option<Packet> {
        self.stats.triggered += 1;
        let rest = match self.config.filter_key {
            FilterKey::FiveTuple => packet.label,
            FilterKey::Pair => u32::from(packet.class()),
        };
        if let Some(filter) = &mut self.filter
            && filter.suppresses(now, (packet.src, packet.dst, rest))
        {
            self.stats.suppressed += 1;
            return None;
        }
        let mut copy = *packet;
        copy.kind = Kind::BackToSender;
        copy.record = NONE;
        let mut signal = copy.as_back_to_sender_mut();
        signal.set_pause(pause);
        signal.set_reach(near, self.ports[egress as usize].host);
        copy.ingress = egress;
        copy.queue = packet.class();
        Some(copy)
    }
}

impl HopControl for Sfc {
    fn is_apart<S: Scheduler>() -> bool {
        S::TAKES_TURNS
    }

    fn mirrors_arrivals(&self) -> bool {
        self.config.signal == SignalAt::Ingress
    }

    #[inline]
    fn mirror_arrival(&mut self, now: u64, egress: u16, packet: &Packet) -> Option<Packet> {
        // Algorithm 1, lines 10 to 14.
        let pause = self.remote_pause(now, egress, packet);
        let queue = &mut self.queues[egress as usize][packet.class() as usize];
        let congested = queue.bit.read(now, self.config.bit_delay.0);
        if !congested && pause == 0 {
            return None;
        }
        self.copy(now, egress, packet, pause, !congested)
    }

    #[inline]
    fn mirror_departure<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Packet> {
        if packet.kind != Kind::Data {
            return None;
        }
        let depth = self.queues[egress as usize][packet.class() as usize].depth;
        let congested = depth > self.config.trigger.0;
        if self.config.signal != SignalAt::Egress || !congested {
            return None;
        }
        self.copy(now, egress, packet, 0, false)
    }

    fn mirror_delay(&self, _now: u64) -> u64 {
        self.config.mirror_delay.0
    }

    /// The egress builder (Algorithm 1, lines 20 to 25). It sends nothing if the queue has drained
    /// to its target in the meantime.
    fn use_copy(&mut self, _now: u64, copy: &mut Packet) -> CopyUse {
        let egress = copy.ingress;
        let depth = self.queues[egress as usize][copy.queue as usize].register;
        let signal = copy.as_back_to_sender();
        let pause = signal.pause_ps().max(self.in_units(self.drain_time(egress, depth)));
        if pause == 0 {
            return CopyUse::Nothing;
        }
        self.stats.sent_near_source += u64::from(signal.is_near_source());
        copy.as_back_to_sender_mut().set_pause(pause);
        self.stats.sent += 1;
        self.stats.sent_bytes += self.config.frame_size.0;
        std::mem::swap(&mut copy.src, &mut copy.dst);
        copy.label = copy.label.rotate_left(16);
        copy.wire_bytes = self.config.frame_size.0 as u16;
        copy.flags &= 7 << flag::CLASS_SHIFT;
        copy.queue = CONTROL_QUEUE;
        CopyUse::ToSender
    }

    /// Algorithm 1, lines 3 to 8.
    fn remember(&mut self, now: u64, signal: &Packet) {
        let header = signal.as_back_to_sender();
        if let Some(cache) = &mut self.cache
            && header.is_cacheable()
        {
            cache.store(now, signal.src, signal.class(), header.pause_ps());
        }
    }

    fn on_rate(&mut self, egress: u16, rate: u64) {
        self.rates[egress as usize] = rate;
    }

    /// "The sender-side ToR converts the BTS packet to a PFC frame and sends this instead to the
    /// sender NIC queue addressed by the BTS" (§4, SFC-P).
    fn convert(&mut self, egress: u16, signal: &Packet) -> Option<Signal> {
        let port = self.ports[egress as usize];
        if !self.config.to_pfc || !port.host {
            return None;
        }
        self.stats.converted += 1;
        let pause_ps = signal.as_back_to_sender().pause_ps();
        Some(Signal::pause_for(egress, signal.class(), quanta(pause_ps, port.rate)))
    }

    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        let queue = &mut self.queues[egress as usize][packet.queue as usize];
        queue.depth += u64::from(packet.wire_bytes);
        queue.bit.update(now, queue.depth > self.config.trigger.0, self.config.bit_delay.0);
        None
    }

    #[inline]
    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        let queue = &mut self.queues[egress as usize][packet.queue as usize];
        queue.depth -= u64::from(packet.wire_bytes);
        queue.register = queue.depth;
        queue.bit.update(now, queue.depth > self.config.trigger.0, self.config.bit_delay.0);
        None
    }
}
