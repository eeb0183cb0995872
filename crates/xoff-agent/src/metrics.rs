//! What is shown of an agent: the log's counters, and metrics for Prometheus.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use xoff_control::{EndpointStats, RefusedCounts};
use xoff_daemon::{Metrics, Server};

xoff_core::counts! {
    /// Counters of the agent itself.
    pub(crate) struct Counts {
        /// Flowlets reported to the allocator.
        started,
        /// Flowlets that have ended.
        ended,
        /// Flowlets to addresses that are not in the configuration.
        unknown_receivers,
        /// Rates brought into force.
        rates,
        /// Times that a flowlet went back to its own congestion control.
        fall_backs,
        /// Ends that the data plane did not report.
        lost_ends,
        /// Datagrams sent to an allocator.
        sent_datagrams,
        /// Payload of the datagrams sent.
        sent_bytes,
        /// Datagrams from an allocator.
        received_datagrams,
        /// Payload of the datagrams received.
        received_bytes,
        /// Flowlets that have got a rate.
        reactions,
    }
}

/// An agent at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) counts: Counts,
    pub(crate) endpoint: EndpointStats,
    pub(crate) refused: RefusedCounts,
    pub(crate) flowlets: u64,
    /// Flowlets with a rate, and the sum of their rates (bytes per second).
    pub(crate) paced: (u64, u64),
    /// Percentiles of the time from a flowlet's start to its first enforced rate (us).
    pub(crate) reaction_p50_us: f64,
    pub(crate) reaction_p99_us: f64,
    /// The allocators in their order, and the one in use.
    pub(crate) allocators: Vec<SocketAddr>,
    pub(crate) allocator: Option<usize>,
}

impl Snapshot {
    /// Names, meanings and values of the counters.
    fn counters(&self) -> [(&'static str, &'static str, u64); 11] {
        let counts = &self.counts;
        [
            ("started", "Flowlets reported.", counts.started),
            ("ended", "Flowlets that have ended.", counts.ended),
            ("unknown_receivers", "Flowlets to unknown addresses.", counts.unknown_receivers),
            ("rates", "Rates brought into force.", counts.rates),
            ("fall_backs", "Flowlets that lost their rate.", counts.fall_backs),
            ("lost_ends", "Ends that were not seen.", counts.lost_ends),
            ("sent_datagrams", "Datagrams sent.", counts.sent_datagrams),
            ("sent_bytes", "Payload of datagrams sent.", counts.sent_bytes),
            ("received_datagrams", "Datagrams from allocators.", counts.received_datagrams),
            ("received_bytes", "Payload from allocators.", counts.received_bytes),
            ("reactions", "Flowlets that have got a rate.", counts.reactions),
        ]
    }

    /// The fields of the log's line `counters`.
    pub(crate) fn fields(&self) -> Value {
        let counters = self.counters().into_iter();
        let mut fields: Map<String, Value> =
            counters.map(|(name, _, value)| (name.to_owned(), json!(value))).collect();
        fields.insert("flowlets".into(), json!(self.flowlets));
        fields.insert("reaction_p50_us".into(), json!(self.reaction_p50_us));
        fields.insert("reaction_p99_us".into(), json!(self.reaction_p99_us));
        Value::Object(fields)
    }

    /// The text that Prometheus reads.
    fn text(&self) -> String {
        let mut metrics = Metrics::new("xoff_agent_");
        let (paced, sum) = self.paced;
        metrics.gauge("flowlets", "Flowlets.", self.flowlets as f64);
        metrics.gauge("paced_flowlets", "Flowlets with a rate.", paced as f64);
        metrics.gauge("paced_bytes_per_second", "Sum of the rates in force.", sum as f64);
        for (name, help, value) in self.counters() {
            metrics.counter(&format!("{name}_total"), help, value as f64);
        }
        let endpoint = &self.endpoint;
        for (name, help, value) in [
            ("hellos_total", "Hellos sent.", endpoint.hellos),
            ("connections_total", "Connections opened.", endpoint.connections),
            ("resets_total", "Resets received.", endpoint.resets),
            ("expiries_total", "Times that rates expired.", endpoint.expiries),
            ("unreported_total", "Flowlets without room in reports.", endpoint.unreported),
        ] {
            metrics.counter(name, help, value as f64);
        }
        metrics.labelled(
            ("reaction_seconds", "gauge", "Time from a start to the first rate."),
            "quantile",
            [("0.5", self.reaction_p50_us / 1e6), ("0.99", self.reaction_p99_us / 1e6)],
        );
        metrics.labelled(
            ("refused_datagrams_total", "counter", "Datagrams refused."),
            "reason",
            self.refused.iter().map(|(reason, count)| (reason.name(), count as f64)),
        );
        let addresses: Vec<String> = self.allocators.iter().map(SocketAddr::to_string).collect();
        let in_use = |number| f64::from(self.allocator == Some(number));
        metrics.labelled(
            ("allocator", "gauge", "1 for the allocator in use."),
            "address",
            addresses.iter().enumerate().map(|(number, text)| (text.as_str(), in_use(number))),
        );
        metrics.text()
    }
}

/// Serves the newest snapshot.
pub(crate) struct Shown {
    newest: Arc<Mutex<Snapshot>>,
    _server: Server,
}

impl Shown {
    pub(crate) fn start(address: SocketAddr) -> Result<Self, String> {
        let newest = Arc::new(Mutex::new(Snapshot::default()));
        let shown = Arc::clone(&newest);
        let text = move || shown.lock().unwrap_or_else(PoisonError::into_inner).text();
        Ok(Self { newest, _server: Server::start(address, text)? })
    }

    pub(crate) fn set(&self, snapshot: Snapshot) {
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_in_use_and_all_counters_are_shown() {
        let allocators = ["10.0.0.1:4300", "10.0.0.2:4300"].map(|text| text.parse().unwrap());
        let snapshot = Snapshot {
            counts: Counts { fall_backs: 3, ..Counts::default() },
            paced: (2, 1_000_000),
            allocators: allocators.to_vec(),
            allocator: Some(1),
            ..Snapshot::default()
        };
        let text = snapshot.text();
        for line in [
            "xoff_agent_allocator{address=\"10.0.0.1:4300\"} 0\n",
            "xoff_agent_allocator{address=\"10.0.0.2:4300\"} 1\n",
            "xoff_agent_paced_bytes_per_second 1000000\n",
            "xoff_agent_fall_backs_total 3\n",
            "xoff_agent_refused_datagrams_total{reason=\"tag\"} 0\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert_eq!(snapshot.fields()["fall_backs"], json!(3));
    }
}
