//! BFC's pause threshold: the queue length from which upstream queues pause (BFC §3.3.2, "Pause
//! threshold").

use super::config::ThresholdRule;
use super::{BfcConfig, BfcPort};
use crate::division::{Divided, Undivided};
use crate::packet::Packet;
use crate::sched::Scheduler;

/// The pause thresholds of one switch: "a pre-configured match-action table indexed with N_active
/// and mu" (§3.3.2).
#[derive(Debug)]
pub(super) struct Thresholds<D = Undivided> {
    /// Bytes, by the rate of the egress port and the number of active queues.
    bytes: Vec<u32>,
    /// The rates with a list in `bytes` (bit/s), in that order.
    rates: Vec<u64>,
    /// Index of each egress port's list.
    first: Vec<u32>,
    rule: Rule,
    division: D,
}

/// How a threshold depends on the rate of its port.
#[derive(Clone, Copy, Debug)]
struct Rule {
    hrtt_ps: u64,
    factor: f64,
    shares: ThresholdRule,
    queues: u8,
}

impl Thresholds {
    /// For a switch with these ports and this 1-hop RTT.
    pub(super) fn new(config: &BfcConfig, ports: &[BfcPort], hrtt_ps: u64) -> Self {
        Self::divided(config, config.undivided(), ports, hrtt_ps)
    }
}

impl<D: Divided> Thresholds<D> {
    /// For queues with a division.
    pub(super) fn divided(
        config: &BfcConfig,
        division: D,
        ports: &[BfcPort],
        hrtt_ps: u64,
    ) -> Self {
        let mut rates: Vec<u64> = ports.iter().map(|port| port.rate).collect();
        rates.sort_unstable();
        rates.dedup();
        let rule = Rule {
            hrtt_ps,
            factor: config.threshold_factor,
            shares: config.threshold,
            queues: config.data_queues(),
        };
        let first = |port: &BfcPort| rule.first(rates.partition_point(|&rate| rate < port.rate));
        Self {
            bytes: rates.iter().flat_map(|&rate| rule.by_active(rate)).collect(),
            first: ports.iter().map(first).collect(),
            rates,
            rule,
            division,
        }
    }

    /// An egress port works at `rate` (bit/s) from now on.
    pub(super) fn set_rate(&mut self, egress: u16, rate: u64) {
        let place = self.rates.iter().position(|&known| known == rate).unwrap_or_else(|| {
            self.bytes.extend(self.rule.by_active(rate));
            self.rates.push(rate);
            self.rates.len() - 1
        });
        self.first[egress as usize] = self.rule.first(place);
    }

    /// The bytes that a queue of a port may hold while `active` queues are active: those "with data
    /// to transmit that are not paused" (§3.3.2).
    #[inline]
    pub(super) fn at(&self, egress: u16, active: u32) -> u32 {
        self.bytes[(self.first[egress as usize] + active) as usize]
    }

    /// Whether the queue that a packet has joined is above its threshold: "we track the queue
    /// length (and not just the flowTable.size)" (§3.3.2). If classes divide the queues, only
    /// active queues of the packet's class count. More important classes leave it the whole link or
    /// nothing, and less important classes take nothing. So the queue holds enough bytes when the
    /// link turns to it.
    #[inline]
    pub(super) fn exceeded<S: Scheduler>(&self, egress: u16, packet: &Packet, queues: &S) -> bool {
        let beside = self.division.beside(packet);
        let active = (queues.occupied() & !queues.paused() & beside).count_ones();
        queues.queue_bytes(packet.queue) > self.at(egress, active)
    }

    /// Whether a packet alone at its port is within the threshold.
    #[inline]
    pub(super) fn lets_pass(&self, egress: u16, packet: &Packet) -> bool {
        u32::from(packet.wire_bytes) <= self.at(egress, 1)
    }
}

impl Rule {
    /// Index of the list of the rate in this place.
    fn first(self, place: usize) -> u32 {
        place as u32 * (u32::from(self.queues) + 1)
    }

    /// Th in bytes for every possible N_active: HRTT x (mu / N_active) (§3.3.2), or HRTT x mu for
    /// any of them (§3.2). Without an active queue (the packet's own is paused) the whole rate
    /// counts.
    fn by_active(self, rate: u64) -> impl Iterator<Item = u32> {
        let one_hop_bdp = self.hrtt_ps as f64 * rate as f64 / 8e12;
        (0..=u32::from(self.queues)).map(move |active| {
            let shares = match self.shares {
                ThresholdRule::Active => active.max(1),
                ThresholdRule::Fixed => 1,
            };
            (self.factor * one_hop_bdp / f64::from(shares)) as u32
        })
    }
}
