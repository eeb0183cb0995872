//! Measured values by batch of time, with flows that did not end.

use xoff_core::Ps;
use xoff_host::FlowStart;

use super::Simulation;
use crate::measure::Slowdowns;
use crate::tables::BatchRow;

impl Simulation {
    /// The run is over: censors what has not ended and adds the rows of all batches.
    pub(super) fn add_batches(&mut self) {
        if self.plan.batches == 0 {
            return;
        }
        self.censor_flows();
        self.requests.censor(self.now);
        let rows = &mut self.rows.batches;
        for (class, found) in (0..).zip(&self.classes) {
            found.named().for_each(|group| add_rows(rows, "flows", class, group));
        }
        for (class, found) in (0..).zip(&self.requests.results) {
            found.named_queries().for_each(|group| add_rows(rows, "queries", class, group));
        }
        for (class, found) in (0..).zip(&self.requests.results) {
            found.named_requests().for_each(|group| add_rows(rows, "requests", class, group));
        }
    }

    /// Adds each measured flow that has not ended to its batch. A flow that began is known to its
    /// sender until it ends. A flow that waits for another one has not begun. Open flows carry
    /// Flowtune's messages and belong to no class of traffic.
    fn censor_flows(&mut self) {
        let stops = |start: &FlowStart| self.stopping.contains(&start.id);
        let counts = |start: &FlowStart| {
            self.counts(start, stops(start)) && !self.dead.have_cut_off(start.id)
        };
        let alive = self.flows_under_way().map(|flow| flow.start);
        let mut left: Vec<FlowStart> = alive.filter(|start| counts(start)).collect();
        debug_assert_eq!(left.len() as u64, self.outstanding, "every flow left is alive");
        // Partitions hold different flows: sums must not depend on the partitioning.
        left.sort_unstable_by_key(|start| start.id);
        for start in &left {
            let lasted = self.now - Ps(start.start_ps);
            let bound = lasted.0 as f64 / self.ideal_fct(start).0 as f64;
            let batch = self.plan.batch_of(Ps(start.start_ps)).expect("there are batches");
            let class = self.class_of[start.source as usize] as usize;
            let bytes = self.own_bytes(start);
            self.classes[class].with_groups(bytes, |group| group.censor(bound, batch));
        }
    }
}

/// Adds the rows of a group.
fn add_rows(rows: &mut Vec<BatchRow>, kind: &str, class: u16, (name, group): (String, &Slowdowns)) {
    let batches = group.batches();
    let counts = (group.finished(), group.flows() - group.finished());
    debug_assert_eq!(batches.counts(), counts, "finished and censored {kind} of {name}");
    rows.extend(batches.buckets().map(|(batch, values, bucket)| BatchRow {
        kind: kind.into(),
        class,
        group: name.clone(),
        batch,
        low: values.start as f64 / 1000.0,
        high: values.end as f64 / 1000.0,
        finished: bucket.finished,
        sum: bucket.sum,
        censored: bucket.censored,
        censored_sum: bucket.censored_sum,
    }));
}
