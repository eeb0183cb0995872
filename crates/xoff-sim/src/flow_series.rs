//! What each flow's receiver gets in each interval of the measured time.
//!
//! Nothing is counted while packets arrive: at the end of an interval the receivers are asked how far
//! they are. A receiver that has all bytes of its flow forgets it, so of a flow whose bytes all came
//! within one interval it is known only when its sender hears of it, half a round trip later.

use std::collections::BTreeMap;

use xoff_core::Ps;
use xoff_host::FlowStart;
use xoff_host::receiver::Got;

use crate::tables::FlowSeriesRow;

/// A flow that has begun.
#[derive(Clone, Copy, Debug)]
struct Followed {
    src: u32,
    dst: u32,
    /// Its size: of a flow that is stopped, once it has ended, what it has sent.
    bytes: u64,
    /// Whether it is to stop, so that its size is not known before it has ended.
    stops: bool,
    ended: bool,
    /// What its receiver had when the current interval began.
    got: Got,
}

impl Followed {
    /// What its receiver has now, which says nothing (`None`) before the first packet and after the
    /// last.
    fn now(&self, receiver: Option<Got>) -> Got {
        let all = Got { received: self.bytes, delivered: self.bytes };
        let has_begun = self.got != Got::default();
        match receiver {
            _ if self.ended => all,
            None if has_begun && !self.stops => all,
            None => self.got,
            // A receiver that counts packets takes the last one for a full one.
            Some(got) => Got {
                received: got.received.clamp(self.got.received, self.bytes),
                delivered: got.delivered.clamp(self.got.delivered, self.bytes),
            },
        }
    }
}

/// Follows all flows.
#[derive(Clone, Debug)]
pub struct FlowSeries {
    interval: Ps,
    /// When the current interval ends; `None` outside the measured time.
    end: Option<Ps>,
    /// Those that have not ended, and those that ended in this interval.
    flows: BTreeMap<u64, Followed>,
}

impl FlowSeries {
    /// Follows flows over intervals of this length; `None` if it is 0.
    #[must_use]
    pub fn new(interval: Ps) -> Option<Self> {
        (interval > Ps(0)).then(|| Self { interval, end: None, flows: BTreeMap::new() })
    }

    /// A flow begins, and may be stopped later.
    pub fn begin_flow(&mut self, start: &FlowStart, stops: bool) {
        let FlowStart { id, src, dst, bytes, .. } = *start;
        let followed = Followed { src, dst, bytes, stops, ended: false, got: Got::default() };
        self.flows.insert(id, followed);
    }

    /// A flow ends, of which so many bytes were sent.
    pub fn end_flow(&mut self, flow: u64, bytes: u64) {
        if self.end.is_none() {
            self.flows.remove(&flow);
        } else if let Some(followed) = self.flows.get_mut(&flow) {
            followed.bytes = bytes;
            followed.ended = true;
        }
    }

    /// The measured time begins; `receiver` says what the receiver of a flow at a host has.
    pub fn begin(&mut self, now: Ps, receiver: impl Fn(u64, u32) -> Option<Got>) {
        self.end = Some(now + self.interval);
        for (&flow, followed) in &mut self.flows {
            followed.got = followed.now(receiver(flow, followed.dst));
        }
    }

    /// Whether an interval ends now.
    #[must_use]
    pub fn is_due(&self, now: Ps) -> bool {
        self.end == Some(now)
    }

    /// An interval ends, and another one begins: a row for each flow, in the order of their numbers.
    pub fn next(
        &mut self,
        now: Ps,
        receiver: impl Fn(u64, u32) -> Option<Got>,
        rows: &mut Vec<FlowSeriesRow>,
    ) {
        self.end = Some(now + self.interval);
        self.flows.retain(|&flow, followed| {
            let got = followed.now(receiver(flow, followed.dst));
            let before = std::mem::replace(&mut followed.got, got);
            rows.push(FlowSeriesRow {
                time_ps: now.0,
                flow,
                src: followed.src,
                dst: followed.dst,
                received_bytes: got.received - before.received,
                delivered_bytes: got.delivered - before.delivered,
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
        FlowStart { id, start_ps, src: 1, dst: 2, bytes, label, source, class }
    }

    fn got(received: u64, delivered: u64) -> Option<Got> {
        Some(Got { received, delivered })
    }

    /// The flow's number, and what arrived and was delivered, of each row of an interval.
    fn interval(
        series: &mut FlowSeries,
        now: u64,
        receiver: impl Fn(u64, u32) -> Option<Got>,
    ) -> Vec<(u64, u64, u64)> {
        let mut rows = Vec::new();
        series.next(Ps(now), receiver, &mut rows);
        assert!(rows.iter().all(|row| (row.time_ps, row.src, row.dst) == (now, 1, 2)));
        rows.iter().map(|row| (row.flow, row.received_bytes, row.delivered_bytes)).collect()
    }

    #[test]
    fn bytes_count_once_and_a_forgotten_flow_has_got_all() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(7, 1000), false);
        series.begin(Ps(100), |_, _| got(100, 50));
        assert!(!series.is_due(Ps(109)) && series.is_due(Ps(110)));
        series.begin_flow(&flow(9, 300), false);
        let of = |flow, _| if flow == 7 { got(600, 50) } else { None };
        assert_eq!(interval(&mut series, 110, of), [(7, 500, 0), (9, 0, 0)]);
        // The receiver of flow 7 has all. Flow 9 came and went: that is known when it has ended.
        assert_eq!(interval(&mut series, 120, |_, _| None), [(7, 400, 950), (9, 0, 0)]);
        series.end_flow(7, 1000);
        series.end_flow(9, 300);
        assert_eq!(interval(&mut series, 130, |_, _| None), [(7, 0, 0), (9, 300, 300)]);
        assert_eq!(interval(&mut series, 140, |_, _| None), []);
    }

    #[test]
    fn a_flow_that_is_stopped_has_the_bytes_it_sent() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, ENDLESS), true);
        series.begin(Ps(0), |_, _| None);
        assert_eq!(interval(&mut series, 10, |_, _| got(400, 400)), [(0, 400, 400)]);
        // Its receiver has all, which its sender has not heard yet.
        assert_eq!(interval(&mut series, 20, |_, _| None), [(0, 0, 0)]);
        series.end_flow(0, 500);
        assert_eq!(interval(&mut series, 30, |_, _| got(500, 500)), [(0, 100, 100)]);
    }

    /// A packet that is repeated after the receiver has forgotten its flow begins it anew.
    #[test]
    fn what_was_delivered_stays_so() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, 500), false);
        series.begin(Ps(0), |_, _| None);
        assert_eq!(interval(&mut series, 10, |_, _| got(400, 400)), [(0, 400, 400)]);
        assert_eq!(interval(&mut series, 20, |_, _| got(100, 100)), [(0, 0, 0)]);
    }

    #[test]
    fn what_ends_before_the_measured_time_is_not_followed() {
        let mut series = FlowSeries::new(Ps(10)).unwrap();
        series.begin_flow(&flow(0, 100), false);
        series.end_flow(0, 100);
        series.begin(Ps(50), |_, _| None);
        assert_eq!(interval(&mut series, 60, |_, _| None), []);
        assert!(FlowSeries::new(Ps(0)).is_none());
    }
}
