//! Results of ports: pauses, losses, utilisation and load.

use xoff_sim::{PortRow, Simulation};

use super::keys::{Named, keys};
use super::totals::Totals;
use super::{Context, share};

/// Mean share of the measured time in which ports had a paused queue.
pub(super) struct PausedShares {
    pub(super) all: f64,
    pub(super) by_link: Named<f64>,
}

impl PausedShares {
    pub(super) fn of(simulation: &Simulation, ports: &[PortRow]) -> Self {
        let measured = simulation.measured().0.max(1) as f64;
        let share = |kind: Option<&str>| {
            let chosen = ports.iter().filter(|port| kind.is_none_or(|kind| port.link == kind));
            let (sum, count) = chosen
                .fold((0.0, 0u64), |(sum, count), port| (sum + port.paused_ps as f64, count + 1));
            sum / (measured * count.max(1) as f64)
        };
        let by_link = kinds(ports).into_iter().map(|kind| (kind, share(Some(kind)))).collect();
        Self { all: share(None), by_link }
    }
}

keys! {
    /// Pauses by PFC, by switches with ingress queues, and by NICs with a `nic.receive_rate`. All
    /// are zero without these.
    pub struct Pfc {
        /// Frames that paused a neighbour, over the whole run.
        pause_frames: u64,
        /// Share of the measured time in which a port was paused, mean over ports.
        pause_time_share: f64,
        /// The same by kind of link.
        pause_time_share_by_link: Named<f64>,
        /// The watchdog of switches. Null with `pfc.watchdog = "off"`.
        watchdog: Option<PfcWatchdog>,
    }
}

keys! {
    /// The PFC watchdog (`pfc.watchdog`), over the whole run.
    pub struct PfcWatchdog {
        /// Queues that stayed paused and were released; a queue may count several times.
        stuck_queues: u64,
        /// Queues that obeyed pauses again.
        restored_queues: u64,
        /// Packets that it dropped, a part of `drops_packets`.
        dropped_packets: u64,
    }
}

impl PfcWatchdog {
    fn of(simulation: &Simulation) -> Option<Self> {
        let stuck = simulation.stuck_queues()?;
        Some(Self {
            stuck_queues: stuck.len() as u64,
            restored_queues: stuck.iter().filter(|row| row.restored_ps > 0).count() as u64,
            dropped_packets: stuck.iter().map(|row| row.dropped).sum(),
        })
    }
}

impl Pfc {
    pub(super) fn of(simulation: &Simulation, ports: &[PortRow], totals: &Totals) -> Self {
        let (switch, nic) = (&simulation.setup().switch, &simulation.setup().hosts.nic);
        let by_switches = switch.hop.pauses_classes() || switch.architecture.has_ingress_queues();
        let pauses = by_switches || nic.receive_rate.0 > 0;
        let shares = PausedShares::of(simulation, if pauses { ports } else { &[] });
        Self {
            pause_frames: totals.nic_pauses + if by_switches { totals.pauses } else { 0 },
            pause_time_share: shares.all,
            pause_time_share_by_link: shares.by_link,
            watchdog: PfcWatchdog::of(simulation),
        }
    }
}

keys! {
    /// Packets lost at ports in the measured time, and the traffic that hosts sent in it.
    pub struct Dropped {
        /// Lost packets.
        packets: u64,
        /// Their bytes on the wire.
        bytes: u64,
        /// Rate of these bytes.
        bps: f64,
        /// Bytes that hosts put on their links.
        hosts_sent_bytes: u64,
        /// Rate of these bytes.
        hosts_sent_bps: f64,
        /// `bytes` over `hosts_sent_bytes`.
        share: f64,
    }
}

impl Dropped {
    pub(super) fn of(simulation: &Simulation, ports: &[PortRow]) -> Self {
        let seconds = simulation.measured().seconds();
        let bytes: u64 = ports.iter().map(|port| port.drop_bytes).sum();
        let of_hosts = ports.iter().filter(|port| port.link.starts_with("host-"));
        let sent: u64 = of_hosts.map(|port| port.tx_bytes).sum();
        let rate = |bytes: u64| bytes as f64 * 8.0 / seconds;
        Self {
            packets: ports.iter().map(|port| port.drops).sum(),
            bytes,
            bps: rate(bytes),
            hosts_sent_bytes: sent,
            hosts_sent_bps: rate(sent),
            share: share(bytes, sent),
        }
    }
}

keys! {
    /// Bytes sent over capacity in the measured time.
    pub struct Utilisation {
        /// All links between switches, except those of gateways.
        core: f64,
        /// All links of hosts.
        hosts: f64,
        /// Each kind of link, such as `gateway-gateway`.
        by_link: Named<f64>,
    }
}

impl Utilisation {
    pub(super) fn of(simulation: &Simulation, ports: &[PortRow]) -> Self {
        let seconds = simulation.measured().seconds();
        let share = |of: &dyn Fn(&str) -> bool| used_share(ports, seconds, of);
        let by_link = kinds(ports).into_iter().map(|kind| (kind, share(&|link| link == kind)));
        Self {
            core: share(&|link| is_of(link, false)),
            hosts: share(&|link| is_of(link, true)),
            by_link: by_link.collect(),
        }
    }
}

keys! {
    /// Load in the measured time: a share of the core links, or of the hosts' links if there is no
    /// core or the traffic is balanced between both.
    pub struct Load {
        /// Load that the scenario asks for: that of open-loop, incast and web request traffic.
        nominal: f64,
        /// Payload of the measured flows, over the capacity of these links one way, as if each flow
        /// crossed one of them. Flows within a rack cross no core link, and flows may end later, so
        /// the links may carry less.
        payload: f64,
        /// Bytes that these links carried in both directions over their capacity, with headers,
        /// acknowledgements, retransmissions and flows of the warm-up: the same as in
        /// `utilisation`.
        wire: f64,
    }
}

impl Load {
    pub(super) fn of(simulation: &Simulation, context: &Context, ports: &[PortRow]) -> Self {
        let seconds = simulation.measured().seconds();
        let has_core = ports.iter().any(|port| is_of(&port.link, false));
        let payload = simulation.payload_measured() as f64 * 8.0;
        Self {
            nominal: context.nominal_load,
            payload: payload / seconds / context.load_capacity.0 as f64,
            wire: used_share(ports, seconds, &|link| is_of(link, !has_core)),
        }
    }
}

/// Bytes sent over capacity, at the ports of some links; not a number without any.
fn used_share(ports: &[PortRow], seconds: f64, of: &dyn Fn(&str) -> bool) -> f64 {
    let chosen = ports.iter().filter(|port| of(&port.link));
    let (sent, possible) = chosen.fold((0.0, 0.0), |(sent, possible), port| {
        (sent + port.tx_bytes as f64 * 8.0, possible + port.rate_bps as f64 * seconds)
    });
    sent / possible
}

/// Whether a kind of link joins servers to switches, or else switches of a data centre.
fn is_of(link: &str, of_hosts: bool) -> bool {
    let of_neither = link.contains("attached") || link.contains("gateway");
    link.contains("host") == of_hosts && !of_neither
}

/// The kinds of links, such as `leaf-spine`, in the order of their names.
fn kinds(ports: &[PortRow]) -> Vec<&str> {
    let mut kinds: Vec<&str> = ports.iter().map(|port| port.link.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}
