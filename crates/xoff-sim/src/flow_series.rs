//! Received bytes of each flow in each interval of the measurement.
//!
//! Nothing is counted per packet: at the end of an interval the receivers report their progress. A
//! receiver that has all bytes of its flow forgets it. If all bytes of a flow arrive within one
//! interval, they are therefore counted only when its sender learns of it, half a round trip later.

use std::collections::BTreeMap;

use xoff_core::{FlowId, HostId, Ps};
use xoff_host::FlowStart;
use xoff_host::recovery::RxProgress;

use crate::tables::FlowSeriesRow;

/// A flow that has begun.
#[derive(Clone, Copy, Debug)]
struct Followed {
    src: HostId,
    dst: HostId,
    /// Its size; for a stopped flow that has ended, the number of bytes sent.
    bytes: u64,
    /// True if it will be stopped, so that its size is unknown until it ends.
    stops: bool,
    ended: bool,
    /// Its receive progress at the start of the current interval.
    rx_progress: RxProgress,
}

impl Followed {
    /// Its current receive progress. The receiver reports `None` before the first packet and after
    /// the last.
    fn now(&self, receiver: Option<RxProgress>) -> RxProgress {
        let all = RxProgress { received: self.bytes, delivered: self.bytes };
        let has_begun = self.rx_progress != RxProgress::default();
        match receiver {
            _ if self.ended => all,
            None if has_begun && !self.stops => all,
            None => self.rx_progress,
            // A receiver that counts packets counts the last one as a full one.
            Some(rx_progress) => RxProgress {
                received: rx_progress.received.clamp(self.rx_progress.received, self.bytes),
                delivered: rx_progress.delivered.clamp(self.rx_progress.delivered, self.bytes),
            },
        }
    }
}

/// Records all flows.
#[derive(Clone, Debug)]
pub struct FlowSeries {
    interval: Ps,
    /// End of the current interval; `None` outside the measurement.
    end: Option<Ps>,
    /// Flows that have not ended, and those that ended in this interval.
    flows: BTreeMap<FlowId, Followed>,
}

impl FlowSeries {
    /// Creates it with this interval; `None` if the interval is 0.
    #[must_use]
    pub fn new(interval: Ps) -> Option<Self> {
        (interval > Ps(0)).then(|| Self { interval, end: None, flows: BTreeMap::new() })
    }

    /// A flow begins; `stops` is true if it will be stopped.
    pub fn begin_flow(&mut self, start: &FlowStart, stops: bool) {
        let FlowStart { id, src, dst, bytes, .. } = *start;
        let followed =
            Followed { src, dst, bytes, stops, ended: false, rx_progress: RxProgress::default() };
        self.flows.insert(id, followed);
    }

    /// A flow ends after `bytes` were sent.
    pub fn end_flow(&mut self, flow: FlowId, bytes: u64) {
        if self.end.is_none() {
            self.flows.remove(&flow);
        } else if let Some(followed) = self.flows.get_mut(&flow) {
            followed.bytes = bytes;
            followed.ended = true;
        }
    }

    /// The measurement begins; `receiver` returns the receive progress of a flow at a host.
    pub fn begin(&mut self, now: Ps, receiver: impl Fn(FlowId, HostId) -> Option<RxProgress>) {
        self.end = Some(now + self.interval);
        for (&flow, followed) in &mut self.flows {
            followed.rx_progress = followed.now(receiver(flow, followed.dst));
        }
    }

    /// True if an interval ends now.
    #[must_use]
    pub fn is_due(&self, now: Ps) -> bool {
        self.end == Some(now)
    }

    /// Ends an interval and begins the next: appends a row for each flow, ordered by number.
    pub fn next(
        &mut self,
        now: Ps,
        receiver: impl Fn(FlowId, HostId) -> Option<RxProgress>,
        rows: &mut Vec<FlowSeriesRow>,
    ) {
        self.end = Some(now + self.interval);
        self.flows.retain(|&flow, followed| {
            let rx_progress = followed.now(receiver(flow, followed.dst));
            let before = std::mem::replace(&mut followed.rx_progress, rx_progress);
            rows.push(FlowSeriesRow {
                time_ps: now.0,
                flow: flow.0,
                src: followed.src.0,
                dst: followed.dst.0,
                received_bytes: rx_progress.received - before.received,
                delivered_bytes: rx_progress.delivered - before.delivered,
            });
            !followed.ended
        });
    }
}

#[cfg(test)]
mod tests {
    use xoff_workload::ENDLESS;

    use super::*;

    fn flow(id: u64, bytes: u64) -> FlowStart {
        let (start_ps, label, source, class) = (0, 0, 0, 0);
        let (src, dst) = (HostId(1), HostId(2));
        FlowStart { id: FlowId(id), start_ps, src, dst, bytes, label, source, class }
    }

    fn rx_progress(received: u64, delivered: u64) -> Option<RxProgress> {
        Some(RxProgress { received, delivered })
    }

    /// Number, received bytes and delivered bytes of each row of an interval.
    fn interval(
        series: &mut FlowSeries,
        now: u64,
        receiver: impl Fn(FlowId, HostId) -> Option<RxProgress>,
    ) -> Vec<(u64, u64, u64)> {
        let mut rows = Vec::new();
        series.next(Ps(now), receiver, &mut rows);
        assert!(rows.iter().all(|row| (row.time_ps, row.src, row.dst) == (now, 1, 2)));
        rows.iter().map(|row| (row.flow, row.received_bytes, row.delivered_bytes)).collect()
    }

    #[test]
    fn bytes_count_once_and_a_forgotten_flow_is_complete() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(7, 1000), false);
        series.begin(Ps(100), |_, _| rx_progress(100, 50));
        assert!(!series.is_due(Ps(109)) && series.is_due(Ps(110)));
        series.begin_flow(&flow(9, 300), false);
        let of = |flow, _| if flow == FlowId(7) { rx_progress(600, 50) } else { None };
        assert_eq!(interval(&mut series, 110, of), [(7, 500, 0), (9, 0, 0)]);
        // The receiver of flow 7 has all bytes. Flow 9 was complete within the interval, which is
        // known when it has ended.
        assert_eq!(interval(&mut series, 120, |_, _| None), [(7, 400, 950), (9, 0, 0)]);
        series.end_flow(FlowId(7), 1000);
        series.end_flow(FlowId(9), 300);
        assert_eq!(interval(&mut series, 130, |_, _| None), [(7, 0, 0), (9, 300, 300)]);
        assert_eq!(interval(&mut series, 140, |_, _| None), []);
    }

    #[test]
    fn a_stopped_flow_has_the_bytes_it_sent() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, ENDLESS), true);
        series.begin(Ps(0), |_, _| None);
        assert_eq!(interval(&mut series, 10, |_, _| rx_progress(400, 400)), [(0, 400, 400)]);
        // Its receiver has all bytes, but its sender has not been told yet.
        assert_eq!(interval(&mut series, 20, |_, _| None), [(0, 0, 0)]);
        series.end_flow(FlowId(0), 500);
        assert_eq!(interval(&mut series, 30, |_, _| rx_progress(500, 500)), [(0, 100, 100)]);
    }

    /// A duplicate packet after the receiver has forgotten its flow starts it anew.
    #[test]
    fn delivered_bytes_never_decrease() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, 500), false);
        series.begin(Ps(0), |_, _| None);
        assert_eq!(interval(&mut series, 10, |_, _| rx_progress(400, 400)), [(0, 400, 400)]);
        assert_eq!(interval(&mut series, 20, |_, _| rx_progress(100, 100)), [(0, 0, 0)]);
    }

    #[test]
    fn flows_that_end_before_the_measurement_are_not_recorded() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, 100), false);
        series.end_flow(FlowId(0), 100);
        series.begin(Ps(50), |_, _| None);
        assert_eq!(interval(&mut series, 60, |_, _| None), []);
        assert!(FlowSeries::new(Ps(0)).is_none());
    }
}
