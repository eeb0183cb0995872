//! XCP (Katabi, Handley, Rohrs, SIGCOMM 2002). At each port a switch computes the change of the
//! total throughput of all flows, divides it among packets, and writes each packet's share into its
//! congestion header.
//!
//! Sections named § are the paper's; "draft" is draft-falk-xcp-spec-03. The arithmetic has the
//! draft's form: feedback is a change of throughput, not of the window, and packets carry the time
//! between two packets of their flow instead of the flow's window, which saves the switch two
//! divisions. The control of the hosts is in `xoff-host`.
//!
//! Not modelled: a host's NIC is no XCP router. Its flows wait there for their turn, so that no
//! queue builds up, and a flow that waits there claims a higher rate than it has.

mod agent;
#[cfg(test)]
mod tests;

use xoff_core::knobs::{Effect, because};
use xoff_core::{Bytes, Ps, choices, knobs};

use crate::fabric::Fabric;
use crate::packet::{CONTROL_QUEUE, Kind, NONE};
use crate::record::Record;

pub use crate::record::XcpHeader;
pub use agent::Agent;

choices! {
    /// When the clocks of a switch run.
    pub enum Clocks {
        /// From the first packet until the end of a period without packets. A port that was idle
        /// begins with a whole interval.
        OnDemand = "on-demand",
        /// All the time, as in ns-2: the interval after one without packets of XCP has the length
        /// `initial_interval`, so a new flow waits up to that long for its first feedback.
        Free = "free",
    }
}

choices! {
    /// Arithmetic of XCP where implementations differ.
    pub enum Form {
        /// The paper's, in the form of the draft.
        Draft = "draft",
        /// That of ns-2.35.
        Ns2 = "ns2",
    }
}

knobs! {
    /// XCP, in switches and hosts. The gains are the paper's (§4: alpha 0.4, beta 0.226; §3.5.2: a
    /// tenth is shuffled). ns-2 and the draft have times in milliseconds; the defaults here suit a
    /// data centre.
    pub struct XcpConfig in "xcp" {
        /// Share of the spare bandwidth that is distributed in a control interval: more than 0,
        /// less than pi / (4 sqrt 2), about 0.555, below which the control is stable (§4).
        alpha: f64 = 0.4,
        /// Share of the persistent queue that is drained in a control interval. Stability requires
        /// alpha^2 sqrt 2 (§4); a deviation of up to 1 % is accepted.
        beta: f64 = 0.226,
        /// Least share of the traffic that is redistributed in a control interval, so that
        /// bandwidth moves to flows with less of it even on a full link (§3.5.2).
        gamma: f64 = 0.1,
        /// Control interval of a port without a known RTT, also after an idle period; 0: derived,
        /// the base RTT. (ns-2: 50 ms.)
        initial_interval: Ps = Ps(0),
        /// Shortest control interval. (ns-2: 1 ms.)
        min_interval: Ps = Ps::from_us(1),
        /// Shortest search for the persistent queue; 0: `min_interval`. (ns-2: 2 ms.)
        min_queue_interval: Ps = Ps(0),
        /// When the clocks of switches run.
        clocks: Clocks = Clocks::OnDemand,
        /// End of the first control interval and of the first search, at all ports; 0: after
        /// `initial_interval`. (ns-2 draws it for each port.)
        first_interval_end: Ps = Ps(0) => [Effect::Unless(|xcp| because(
            xcp.clocks == Clocks::OnDemand,
            "clocks = \"on-demand\": the first packet begins an interval",
        ))],
        /// Arithmetic of switches. ns-2's divides a decrease among the bytes of all packets, counts
        /// the departing packet as queued, and divides an increase by 1 s where no packet of the
        /// interval knew its RTT.
        router: Form = Form::Draft,
        /// Arithmetic of senders. ns-2's has windows of whole packets, takes feedback for a change
        /// of payload, not of bytes on the wire, at the sender's RTT, not the packet's, and asks
        /// for any rate.
        sender: Form = Form::Draft,
        /// Tick of the sender's clock, in which RTTs are whole numbers; 0: none. (ns-2: 10 ms
        /// unless set, and an RTT of 0 ticks counts as unknown.)
        rtt_tick: Ps = Ps(0),
        /// First window of a flow (ns-2's TCP: 2 packets).
        initial_window_packets: u32 = 2,
        /// Gain of the moving average of the RTT; 1: the last sample, which is exact here. TCP's
        /// 1/8 (RFC 6298) lags by several RTTs with a window of a few packets, and the control then
        /// oscillates.
        rtt_gain: f64 = 1.0,
        /// Bytes of the congestion header, in data packets and acknowledgements (draft).
        header: Bytes = Bytes(20),
    }
}

/// Greatest deviation of beta from the value that stability requires: the paper rounds it to three
/// digits.
const BETA_TOLERANCE: f64 = 0.01;

impl XcpConfig {
    /// Checks the settings together.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let most = core::f64::consts::PI / (4.0 * core::f64::consts::SQRT_2);
        let beta = self.alpha * self.alpha * core::f64::consts::SQRT_2;
        let (first, least) = (self.initial_interval, self.min_interval);
        for (holds, key, message) in [
            (
                self.alpha > 0.0 && self.alpha < most,
                "alpha",
                format!("alpha must be more than 0 and less than {most:.3} to be stable"),
            ),
            (
                (self.beta - beta).abs() <= BETA_TOLERANCE * beta,
                "beta",
                format!("beta must be alpha^2 sqrt 2: {beta:.4} at alpha = {}", self.alpha),
            ),
            (self.gamma <= 1.0, "gamma", "gamma is a share of the traffic: 0 to 1".into()),
            (least.0 > 0, "min_interval", "min_interval must be more than zero".into()),
            (
                first.0 == 0 || first >= least,
                "initial_interval",
                format!(
                    "initial_interval = {first} must not be shorter than min_interval = {least}"
                ),
            ),
            (
                self.initial_window_packets > 0,
                "initial_window_packets",
                "a flow starts with a window of at least one packet".into(),
            ),
            (
                self.rtt_gain > 0.0 && self.rtt_gain <= 1.0,
                "rtt_gain",
                "rtt_gain is a share: more than 0, up to 1".into(),
            ),
            (self.header.0 <= 4096, "header", "header is 4096B at most".into()),
        ] {
            if !holds {
                return Err((key, message));
            }
        }
        Ok(())
    }

    /// The same, with the first interval derived from `base_rtt` unless it is configured.
    #[must_use]
    pub fn derived(mut self, base_rtt: Ps) -> Self {
        if self.initial_interval.0 == 0 {
            self.initial_interval = base_rtt.max(self.min_interval);
        }
        if self.min_queue_interval.0 == 0 {
            self.min_queue_interval = self.min_interval;
        }
        if self.first_interval_end.0 == 0 {
            self.first_interval_end = self.initial_interval;
        }
        self
    }
}

/// XCP of a switch: an agent for each egress port.
#[derive(Debug)]
pub struct Router {
    agents: Vec<Agent>,
}

impl Router {
    /// For ports of these rates (bit/s). Derived settings are filled in.
    #[must_use]
    pub fn new(config: &XcpConfig, rates: impl Iterator<Item = u64>) -> Self {
        Self { agents: rates.map(|rate| Agent::new(config, rate)).collect() }
    }

    /// Port `egress` works at `rate` (bit/s) from now on.
    pub(crate) fn set_rate(&mut self, egress: u16, rate: u64) {
        self.agents[egress as usize].set_rate(rate);
    }

    /// A packet is about to join the queues of port `egress`, in which `queue_bytes` wait.
    pub(crate) fn on_arrival(&mut self, fabric: &Fabric, egress: u16, id: u32, queue_bytes: u32) {
        let packet = &fabric.packets[id];
        let header = match (packet.kind, packet.record) {
            (Kind::Data, record) if record != NONE => match &fabric.records[record] {
                Record::Xcp(header) => Some(header),
                Record::Int(_) | Record::Pint(_) => None,
            },
            _ => None,
        };
        self.agents[egress as usize].on_arrival(fabric.now, queue_bytes, packet.wire_bytes, header);
    }

    /// A packet starts to leave port `egress`, where `queue_bytes` stay behind. Packets of the
    /// control queue are counted only now: they wait for one packet at most.
    #[inline(never)]
    pub(crate) fn on_departure(
        &mut self,
        fabric: &mut Fabric,
        egress: u16,
        id: u32,
        queue_bytes: u32,
    ) {
        let (now, packet) = (fabric.now, &fabric.packets[id]);
        let agent = &mut self.agents[egress as usize];
        if packet.queue == CONTROL_QUEUE {
            agent.on_arrival(now, queue_bytes, packet.wire_bytes, None);
        }
        let header = match (packet.kind, packet.record) {
            (Kind::Data, record) if record != NONE => match &mut fabric.records[record] {
                Record::Xcp(header) => Some(header),
                Record::Int(_) | Record::Pint(_) => None,
            },
            _ => None,
        };
        agent.on_departure(now, queue_bytes, packet.wire_bytes, header);
    }

    /// The agent of each port.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }
}
