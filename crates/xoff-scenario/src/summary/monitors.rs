//! Queueing delays: at monitored ports, and by kind of link.

use xoff_sim::measure::{LinkDelays, MonitorResults};

use super::keys::keys;

keys! {
    /// The access link of a host of `run.monitor`, on the switch's side.
    pub struct Monitor {
        /// The host.
        name: String,
        /// Share of the link's capacity in use.
        utilisation: f64,
        /// Median queueing delay of data packets.
        delay_p50_ps: Option<u64>,
        /// 99th percentile of the delay.
        delay_p99_ps: Option<u64>,
        /// Mean bytes in the data queues of the port, sampled on the grid.
        queue_mean_bytes: f64,
        /// 99th percentile of these bytes.
        queue_p99_bytes: Option<u64>,
        /// Maximum of these bytes.
        queue_max_bytes: u64,
    }
}

impl Monitor {
    pub(super) fn of(monitor: &MonitorResults) -> Self {
        Self {
            name: monitor.name.clone(),
            utilisation: monitor.utilisation,
            delay_p50_ps: monitor.delays.quantile(0.5),
            delay_p99_ps: monitor.delays.quantile(0.99),
            queue_mean_bytes: monitor.bytes.mean(),
            queue_p99_bytes: monitor.bytes.quantile(0.99),
            queue_max_bytes: monitor.bytes.max(),
        }
    }
}

keys! {
    /// Queueing delays of data packets at all ports of switches on one kind of link.
    pub struct LinkDelay {
        /// Layers that the links join, from the port to its neighbour, such as `spine-leaf`.
        link: String,
        /// The packets counted: `all`, or those of one group of queues.
        packets: &'static str,
        /// Number of packets.
        count: u64,
        /// Mean.
        mean_ps: f64,
        /// Median.
        p50_ps: Option<u64>,
        /// 95th percentile.
        p95_ps: Option<u64>,
        /// 99th percentile.
        p99_ps: Option<u64>,
        /// Maximum.
        max_ps: u64,
    }
}

impl LinkDelay {
    pub(super) fn of(found: &LinkDelays) -> Self {
        let delays = &found.delays;
        Self {
            link: found.link.clone(),
            packets: found.packets,
            count: delays.count(),
            mean_ps: delays.mean(),
            p50_ps: delays.quantile(0.5),
            p95_ps: delays.quantile(0.95),
            p99_ps: delays.quantile(0.99),
            max_ps: delays.max(),
        }
    }
}
