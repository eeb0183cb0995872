//! Metrics in Prometheus' text format.

use serde_json::{Map, Value, json};
use xoff_control::{RefusedCounts, SessionsStats};
use xoff_daemon::Metrics;

use crate::allocation::AllocationStats;

xoff_core::counts! {
    /// Counters of the daemon itself.
    pub struct DaemonStats {
        /// Datagrams received.
        received,
        /// Datagrams from another address than their endpoint's.
        strangers,
        /// Datagrams that could not be sent.
        unsent,
        /// Iterations that began late, because the last one took longer than the interval.
        late,
        /// Time in iterations (ns).
        iteration_ns,
        /// Processor time (ns).
        cpu_ns,
    }
}

/// Refused datagrams by reason, as far as there are any.
pub(crate) fn by_reason(counts: &RefusedCounts) -> Map<String, Value> {
    let reasons = counts.iter().filter(|&(_, count)| count > 0);
    reasons.map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect()
}

/// What is shown of an allocator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    /// Counters.
    pub daemon: DaemonStats,
    /// Counters of the allocation.
    pub allocation: AllocationStats,
    /// Counters of the protocol.
    pub sessions: SessionsStats,
    /// Refused datagrams.
    pub refused: RefusedCounts,
    /// Endpoints in the configuration.
    pub endpoints: usize,
    /// Open connections.
    pub connections: usize,
    /// Flowlets.
    pub flowlets: usize,
    /// True if it stands by for another allocator.
    pub stands_by: bool,
    /// Longest iteration since the last snapshot (ns).
    pub longest_ns: u64,
    /// The busiest links with the ratio of demand to capacity.
    pub links: Vec<(String, f64)>,
}

impl Snapshot {
    /// The text that Prometheus reads.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        let mut metrics = Metrics::new("xoff_allocator_");
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (daemon, sessions) = (&self.daemon, &self.sessions);
        for (name, help, value) in [
            ("endpoints", "Endpoints in the configuration.", self.endpoints as f64),
            ("connections", "Open connections.", self.connections as f64),
            ("flowlets", "Flowlets.", self.flowlets as f64),
            ("stands_by", "1 while another allocator works.", f64::from(self.stands_by)),
            (
                "longest_iteration_seconds",
                "Longest iteration of the last tenth of a second.",
                seconds(self.longest_ns),
            ),
        ] {
            metrics.gauge(name, help, value);
        }
        for (name, help, value) in [
            ("iterations_total", "Iterations with flowlets.", self.allocation.iterations as f64),
            ("late_iterations_total", "Iterations that began late.", daemon.late as f64),
            ("iteration_seconds_total", "Time in iterations.", seconds(daemon.iteration_ns)),
            ("cpu_seconds_total", "Processor time of the loop.", seconds(daemon.cpu_ns)),
            ("starts_total", "Flowlets started.", sessions.starts as f64),
            ("ends_total", "Flowlets ended.", sessions.ends as f64),
            ("unroutable_total", "Flowlets without path.", self.allocation.unroutable as f64),
            ("received_datagrams_total", "Datagrams received.", daemon.received as f64),
            ("reports_total", "Reports accepted.", sessions.reports as f64),
            ("sent_datagrams_total", "Datagrams with rates sent.", sessions.datagrams as f64),
            ("unsent_datagrams_total", "Datagrams not sent.", daemon.unsent as f64),
            ("rates_total", "Rates sent.", sessions.rates as f64),
            ("resends_total", "Rates not acknowledged in time.", sessions.resends as f64),
            ("connections_total", "Connections opened.", sessions.connections as f64),
            ("silent_total", "Connections that ended by silence.", sessions.silent as f64),
        ] {
            metrics.counter(name, help, value);
        }
        let refused = self.refused.iter().map(|(reason, count)| (reason.name(), count as f64));
        metrics.labelled(
            ("refused_datagrams_total", "counter", "Datagrams refused."),
            "reason",
            refused.chain([("address", daemon.strangers as f64)]),
        );
        metrics.labelled(
            ("link_demand_ratio", "gauge", "Demand to capacity of busy links."),
            "link",
            self.links.iter().map(|(link, ratio)| (link.as_str(), (ratio * 1e4).round() / 1e4)),
        );
        metrics.text()
    }
}
