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
    /// Index of each egress port's list.
    first: Vec<u32>,
    division: D,
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
        let queues = config.data_queues();
        let list = |&rate: &u64| by_active(config, hrtt_ps, rate, queues);
        let first = |port: &BfcPort| {
            rates.partition_point(|&rate| rate < port.rate) as u32 * (u32::from(queues) + 1)
        };
        Self {
            bytes: rates.iter().flat_map(list).collect(),
            first: ports.iter().map(first).collect(),
            division,
        }
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

/// Th in bytes for every possible N_active: HRTT x (mu / N_active) (§3.3.2), or HRTT x mu for any
/// of them (§3.2). Without an active queue (the packet's own is paused) the whole rate counts.
fn by_active(
    config: &BfcConfig,
    hrtt_ps: u64,
    rate: u64,
    queues: u8,
) -> impl Iterator<Item = u32> + use<> {
    let one_hop_bdp = hrtt_ps as f64 * rate as f64 / 8e12;
    let (factor, rule) = (config.threshold_factor, config.threshold);
    (0..=u32::from(queues)).map(move |active| {
        let shares = match rule {
            ThresholdRule::Active => active.max(1),
            ThresholdRule::Fixed => 1,
        };
        (factor * one_hop_bdp / f64::from(shares)) as u32
    })
}
