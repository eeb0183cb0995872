//! CONGA (Alizadeh et al., "CONGA: Distributed Congestion-Aware Load Balancing for Datacenters",
//! SIGCOMM 2014): each flowlet takes the uplink with the least congested path to its leaf.
//!
//! Links estimate their load ([`Dre`]). A packet collects the largest one on its path. The leaf of
//! its receiver keeps the value by sending leaf and uplink, and returns it in the header of a
//! packet the other way. The sending leaf so knows the congestion of each of its paths.
//!
//! The headers are those of the paper's overlay between leaves (§3.1): the tag of the uplink, the
//! congestion, and one tag with its congestion as feedback. A packet carries them in its field
//! [`ingress`](crate::packet::Packet::ingress), which has no meaning on a link. Inside a switch
//! they wait in a table.

#[cfg(test)]
mod tests;

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, SectionDoc, Sections, Settings, need};
use xoff_core::{Ps, Rng, knobs};

use super::flowlets::{Flowlet, FlowletConfig, Flowlets};
use super::{
    AnyBalancer, Arrival, BalanceSettings, Balancer, PathPer, Place, needs_of_several_paths,
};
use crate::packet::{Packet, SIGNALS};

knobs! {
    /// CONGA, where `switch.balance` is "conga". A new flowlet takes the uplink with the least
    /// congested path.
    pub struct CongaConfig in "conga" {
        /// Time constant of the estimate of a link's load (CONGA §3.6: tau).
        tau: Ps = Ps::from_us(160),
        /// Share by which an estimate decays at each tick, one every `alpha` times `tau`
        /// (CONGA §3.2; it leaves the value open).
        alpha: f64 = 0.1,
        /// Bits of a congestion metric (CONGA §3.6: Q). The header has 8 bits for a metric and the
        /// tag of an uplink: with 3 bits, a leaf may have 32 uplinks.
        bits: u32 = 3,
        /// A metric that has not been updated for this time is halved, again after each such time
        /// (CONGA §3.3: it decays gradually after "e.g., 10ms").
        aging: Ps = Ps::from_us(10_000),
    }
}

/// Bits of a metric and of a tag together.
const HALF: u32 = 8;

/// CONGA's settings.
#[derive(Clone, Debug, Default)]
pub struct CongaSettings {
    conga: CongaConfig,
    flowlets: FlowletConfig,
}

impl Settings for CongaSettings {
    fn read(sections: &mut impl Sections) -> Self {
        Self { conga: sections.read(), flowlets: sections.read() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<CongaConfig>(), SectionDoc::of::<FlowletConfig>()]
    }
}

impl BalanceSettings for CongaSettings {
    fn check(&self) -> Checked {
        let CongaConfig { tau, alpha, bits, aging } = &self.conga;
        if !(0.001..1.0).contains(alpha) {
            return Err(("alpha", format!("alpha = {alpha} must be at least 0.001 and below 1")));
        }
        if self.conga.tick() == 0 {
            return Err(("tau", format!("tau = {tau}: alpha times tau must be 1ps or more")));
        }
        if !(1..HALF).contains(bits) {
            return Err(("bits", format!("bits = {bits} must be from 1 to 7")));
        }
        if *aging == Ps(0) {
            return Err(("aging", "aging = 0ps forgets each metric: set a longer time".into()));
        }
        Ok(())
    }

    fn flowlets(&self) -> Option<&FlowletConfig> {
        Some(&self.flowlets)
    }

    fn needs_leaf_spine(&self) -> bool {
        true
    }

    fn check_uplinks(&self, most: usize) -> Checked {
        let bits = self.conga.bits;
        let tags = 1 << (HALF - bits);
        if most <= tags {
            return Ok(());
        }
        let message = format!(
            "a leaf has {most} uplinks: with bits = {bits}, a header can name {tags}; set fewer \
             bits, or fewer spines or links"
        );
        Err(("bits", message))
    }

    fn needs(&self) -> Vec<Need> {
        let mut needs = needs_of_several_paths();
        let header = "a trimmed packet has no header of its own";
        needs.push(need(("switch", "overflow"), &["drop"], header));
        needs
    }

    fn path_per(&self) -> PathPer {
        PathPer::Flowlet
    }

    fn balancer(&self, place: Place) -> Option<AnyBalancer> {
        Some(AnyBalancer::Conga(Box::new(Conga::new(self, place))))
    }
}

impl CongaConfig {
    /// Time between two ticks (ps): tau = Tdre / alpha.
    fn tick(&self) -> u64 {
        (self.tau.0 as f64 * self.alpha) as u64
    }

    fn most(&self) -> u8 {
        ((1u32 << self.bits) - 1) as u8
    }
}

/// The discounting rate estimator of a link (§3.2): a register that each packet adds its bytes to,
/// and that decays by a share at each tick. It follows the rate times `tau`.
#[derive(Clone, Debug)]
struct Dre {
    register: f64,
    /// Ticks so far.
    ticks: u64,
    /// Steps of the metric per byte in the register: all of them for a full link.
    steps_per_byte: f64,
}

impl Dre {
    fn new(config: &CongaConfig, rate: u64) -> Self {
        Self { register: 0.0, ticks: 0, steps_per_byte: Self::steps_per_byte(config, rate) }
    }

    fn steps_per_byte(config: &CongaConfig, rate: u64) -> f64 {
        let full = rate as f64 / 8e12 * config.tau.0 as f64;
        f64::from(1u32 << config.bits) / full
    }

    /// Lets the ticks until `now` (ps) pass.
    fn advance(&mut self, now: u64, config: &CongaConfig) {
        let ticks = now / config.tick();
        for _ in self.ticks..ticks {
            self.register *= 1.0 - config.alpha;
            // Less than a byte is nothing, and a long silence must not take long.
            if self.register < 1.0 {
                self.register = 0.0;
                break;
            }
        }
        self.ticks = ticks;
    }

    fn add(&mut self, now: u64, bytes: u16, config: &CongaConfig) {
        self.advance(now, config);
        self.register += f64::from(bytes);
    }

    /// "The congestion metric for the link is obtained by quantizing X/Ctau to 3 bits".
    fn metric(&mut self, now: u64, config: &CongaConfig) -> u8 {
        self.advance(now, config);
        ((self.register * self.steps_per_byte) as u64).min(config.most().into()) as u8
    }
}

/// The header of a packet between leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Header {
    /// The uplink, and the congestion of the path so far: "LBTag" and "CE".
    path: Report,
    /// The congestion of a path the other way: "FB_LBTag" and "FB_Metric".
    feedback: Report,
}

/// The congestion of the path through an uplink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Report {
    tag: u8,
    metric: u8,
}

impl Header {
    fn pack(self, bits: u32) -> u16 {
        let half = |report: Report| u16::from(report.tag) << bits | u16::from(report.metric);
        half(self.path) | half(self.feedback) << HALF
    }

    fn unpack(field: u16, bits: u32) -> Self {
        let half = |half: u16| Report {
            tag: (half >> bits) as u8,
            metric: (half & ((1 << bits) - 1)) as u8,
        };
        Self { path: half(field & 0xff), feedback: half(field >> HALF) }
    }
}

/// A metric of a table.
#[derive(Clone, Copy, Debug, Default)]
struct Metric {
    value: u8,
    /// Time of its last update (ps).
    at: u64,
    /// Whether it has changed since it was last returned.
    changed: bool,
}

impl Metric {
    fn update(&mut self, now: u64, value: u8) {
        self.changed |= self.value != value;
        (self.value, self.at) = (value, now);
    }

    /// Its value at `now`: "metrics that have not been updated for a long time (e.g., 10ms)
    /// gradually decay to zero" (§3.3).
    fn aged(&self, now: u64, config: &CongaConfig) -> u8 {
        let halvings = ((now - self.at) / config.aging.0).min(7);
        self.value >> halvings
    }
}

/// What a leaf keeps.
#[derive(Debug)]
struct Leaf {
    /// The ports that are uplinks, by tag.
    uplinks: Vec<u16>,
    flowlets: Flowlets,
    /// "Congestion-To-Leaf Table": by leaf and own uplink.
    to: Vec<Metric>,
    /// "Congestion-From-Leaf Table": by leaf and its uplink, up to the last used uplink.
    from: Vec<Vec<Metric>>,
    /// By leaf, the tag of the next feedback.
    next: Vec<u8>,
    rng: Rng,
    /// Scratch: the congestion of each choice.
    congested: Vec<u8>,
}

/// CONGA at one switch.
#[derive(Debug)]
pub struct Conga {
    config: CongaConfig,
    /// The estimate of each port's link; none for the link of a host.
    links: Vec<Option<Dre>>,
    /// Packed headers of packets in this switch, by packet.
    headers: Vec<u16>,
    leaf: Option<Leaf>,
}

impl Conga {
    fn new(settings: &CongaSettings, mut place: Place) -> Self {
        let config = settings.conga.clone();
        let link = |(port, &rate): (u16, &u64)| {
            place.trunks.contains(&port).then(|| Dre::new(&config, rate))
        };
        let links = (0..).zip(&place.rates).map(link).collect();
        let leaf = place.own.map(|_| Leaf {
            flowlets: Flowlets::new(&settings.flowlets, place.rng.u64() as u32),
            to: vec![Metric::default(); place.groups * place.trunks.len()],
            from: vec![Vec::new(); place.groups],
            next: vec![0; place.groups],
            uplinks: place.trunks,
            rng: place.rng,
            congested: Vec::new(),
        });
        Self { config, links, headers: Vec::new(), leaf }
    }
}

impl Leaf {
    fn tag(&self, port: u16) -> Option<usize> {
        self.uplinks.iter().position(|&uplink| uplink == port)
    }

    /// Keeps what the header of a packet for one of its hosts says, from the leaf of group `from`.
    fn receive(&mut self, from: u32, header: Header, now: u64) {
        let Header { path, feedback } = header;
        let (metrics, tag) = (&mut self.from[from as usize], usize::from(path.tag));
        if metrics.len() <= tag {
            metrics.resize(tag + 1, Metric::default());
        }
        metrics[tag].update(now, path.metric);
        let first = from as usize * self.uplinks.len();
        self.to[first + usize::from(feedback.tag)].update(now, feedback.metric);
    }

    /// The feedback to a leaf: "in round-robin fashion while favoring those metrics whose values
    /// have changed since the last time they were fed back" (§3.3). No packet has come from the
    /// leaf: all its paths are idle.
    fn feedback(&mut self, to: u32, now: u64, config: &CongaConfig) -> Report {
        let (metrics, next) = (&mut self.from[to as usize], &mut self.next[to as usize]);
        let tags = metrics.len();
        if tags == 0 {
            return Report::default();
        }
        let in_turn = (0..tags).map(|step| (usize::from(*next) + step) % tags);
        let changed = in_turn.clone().find(|&tag| metrics[tag].changed);
        let tag = changed.unwrap_or(usize::from(*next));
        *next = ((tag + 1) % tags) as u8;
        metrics[tag].changed = false;
        Report { tag: tag as u8, metric: metrics[tag].aged(now, config) }
    }

    /// The uplink of a new flowlet: the one with the least of the larger of the two metrics, of its
    /// own link and of the path. "If multiple uplinks are equally good, one is chosen at random
    /// with preference given to the port cached in the (invalid) entry" (§3.5).
    fn best(
        &mut self,
        arrival: &Arrival<'_>,
        before: Option<u16>,
        links: &mut [Option<Dre>],
        config: &CongaConfig,
    ) -> u32 {
        let (first, now) = (arrival.to as usize * self.uplinks.len(), arrival.now);
        let mut congested = std::mem::take(&mut self.congested);
        let congestion = |&port: &u16| {
            let local = links[port as usize].as_mut().map_or(0, |link| link.metric(now, config));
            let path = self.tag(port).map_or(0, |tag| self.to[first + tag].aged(now, config));
            local.max(path)
        };
        congested.clear();
        congested.extend(arrival.ports.iter().map(congestion));
        let least = congested.iter().copied().min().unwrap_or(0);
        let equal = || (0..).zip(&congested).filter(|&(_, &value)| value == least);
        let kept = before.and_then(|port| arrival.choice_of(port));
        let kept = kept.filter(|&choice| congested[choice as usize] == least);
        let choice = kept.unwrap_or_else(|| {
            let skipped = self.rng.below(equal().count() as u64) as usize;
            equal().nth(skipped).map_or(0, |(choice, _)| choice)
        });
        self.congested = congested;
        choice
    }
}

impl Conga {
    /// A packet from one of the leaf's hosts goes to another leaf.
    fn send(&mut self, arrival: &Arrival<'_>) -> Option<u32> {
        let Self { config, links, headers, leaf } = self;
        let leaf = leaf.as_mut()?;
        let entry = leaf.flowlets.entry(arrival.packet);
        let (same, before) = match leaf.flowlets.arrive(entry, arrival.now) {
            // Routes may have changed since the flowlet began.
            Flowlet::Same(port) => (arrival.choice_of(port), None),
            Flowlet::New(before) => (None, before),
        };
        let choice = same.unwrap_or_else(|| leaf.best(arrival, before, links, config));
        let port = arrival.ports[choice as usize];
        leaf.flowlets.set_port(entry, port);
        let tag = leaf.tag(port).unwrap_or(0) as u8;
        let feedback = leaf.feedback(arrival.to, arrival.now, config);
        let header = Header { path: Report { tag, metric: 0 }, feedback };
        headers[arrival.id as usize] = header.pack(config.bits);
        Some(choice)
    }
}

impl Balancer for Conga {
    fn choose(&mut self, arrival: &Arrival<'_>) -> Option<u32> {
        let id = arrival.id as usize;
        if self.headers.len() <= id {
            self.headers.resize(id + 1, 0);
        }
        let from_host = self.links[arrival.ingress as usize].is_none();
        let is_here = arrival.ports.is_empty();
        match &mut self.leaf {
            Some(_) if from_host && !is_here => return self.send(arrival),
            Some(leaf) if !from_host && is_here => {
                let header = Header::unpack(arrival.packet.ingress, self.config.bits);
                leaf.receive(arrival.sender_group(), header, arrival.now);
            }
            // Spines "forward by ECMP". So does a leaf on the way of a packet around a fault.
            _ => self.headers[id] = arrival.packet.ingress,
        }
        None
    }

    fn follows_departures(&self) -> bool {
        true
    }

    fn on_rate(&mut self, port: u16, rate: u64) {
        if let Some(link) = &mut self.links[port as usize] {
            link.steps_per_byte = Dre::steps_per_byte(&self.config, rate);
        }
    }

    fn on_departure(&mut self, now: u64, port: u16, id: u32, packet: &mut Packet) {
        let Some(link) = &mut self.links[port as usize] else { return };
        link.add(now, packet.wire_bytes, &self.config);
        if BETWEEN_LEAVES & packet.kind.bit() == 0 {
            return;
        }
        let mut header = Header::unpack(self.headers[id as usize], self.config.bits);
        header.path.metric = header.path.metric.max(link.metric(now, &self.config));
        packet.ingress = header.pack(self.config.bits);
    }
}

/// Packets that have a header between leaves: those whose port is chosen. Others are frames of
/// switches.
const BETWEEN_LEAVES: u16 = !SIGNALS;
