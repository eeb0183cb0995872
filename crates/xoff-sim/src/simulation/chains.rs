//! Hands flows to their partitions: flows with a start time, and flows that hosts start after
//! another flow.

use xoff_core::{FlowId, Ps};
use xoff_host::hosts::{Arrived, RoundEnd};
use xoff_host::{FlowStart, FlowStop};
use xoff_workload::{After, Arrival, ENDLESS, Role};

use super::Simulation;
use crate::measure::Slowdowns;

impl Simulation {
    /// Hands a flow to the partition of its sender. Returns true if it begins at its start time.
    pub(super) fn hand_over(&mut self, start: FlowStart, arrival: &Arrival) -> bool {
        let chained = match arrival.role {
            Role::Successive { chain } => self.chains.insert((arrival.source, chain), start.id),
            Role::Activates { sent, received } => {
                self.activate(start.id, arrival, sent, received);
                None
            }
            Role::Alone | Role::Request { .. } | Role::Response => None,
        };
        let partition = &mut self.partitions[self.cut.of_node[arrival.src.index()] as usize];
        match arrival.after {
            Some(After::Arrival { back }) => {
                let before = FlowId(start.id.0 - u64::from(back));
                partition.hosts_mut().chains.await_arrival(before, Some(start));
                return false;
            }
            Some(After::End { until }) => {
                let before = chained.expect("a successor is not the first flow of its chain");
                partition.hosts_mut().chains.await_end(before, start, until.0);
                return false;
            }
            Some(After::Trigger { trigger, activations }) => {
                let trigger = (arrival.source, trigger);
                partition.hosts_mut().chains.await_trigger(trigger, activations, start);
                self.triggered.insert(start.id);
                self.count_measured(&start);
                return false;
            }
            None => partition.add_start(start),
        }
        if arrival.stop != Ps::NEVER {
            self.stopping.insert(start.id);
            let (time_ps, src) = (arrival.stop.0, arrival.src);
            partition.add_stop(FlowStop { time_ps, flow: start.id, src });
        }
        true
    }

    /// Lets a flow activate triggers of its source.
    fn activate(&mut self, flow: FlowId, arrival: &Arrival, sent: u32, received: u32) {
        for (trigger, host, at_end) in [(sent, arrival.src, true), (received, arrival.dst, false)] {
            if trigger == 0 {
                continue;
            }
            let partition = self.cut.of_node[host.index()] as usize;
            let chains = &mut self.partitions[partition].hosts_mut().chains;
            let trigger = (arrival.source, trigger);
            if at_end {
                chains.activate_at_end(flow, trigger);
            } else {
                chains.activate_at_arrival(flow, trigger);
            }
        }
    }

    /// Registers a flow of a measured web request.
    pub(super) fn follow(&mut self, id: FlowId, arrival: &Arrival) {
        let class = self.class_of[arrival.source as usize];
        if !self.is_measured(arrival.start) {
            return;
        }
        let batch = self.plan.batch_of(arrival.start);
        if self.requests.add(id, arrival, class, batch) {
            let partition = self.cut.of_node[arrival.dst.index()] as usize;
            self.partitions[partition].hosts_mut().chains.await_arrival(id, None);
        }
    }

    /// Counts a flow that begins; `stops` is true if it will be stopped.
    pub(super) fn count_start(&mut self, start: &FlowStart, stops: bool) {
        self.add_path(start);
        if let Some(flows) = &mut self.series.flows {
            flows.begin_flow(start, stops);
        }
        if !self.counts(start, stops) {
            return;
        }
        if self.triggered.contains(&start.id) {
            // It was counted when it came. A host may have died since then.
            self.cut_off(start);
        } else {
            self.count_measured(start);
        }
    }

    fn count_measured(&mut self, start: &FlowStart) {
        if start.bytes == ENDLESS {
            return;
        }
        let class = self.class_of[start.source as usize];
        let bytes = self.own_bytes(start);
        self.classes[class as usize].with_groups(bytes, Slowdowns::start);
        self.outstanding += 1;
        // Flows of jobs may begin at any time, but load is that of the measured time.
        if self.is_measured(Ps(start.start_ps)) || !self.jobs.have(start.id) {
            self.payload_measured += bytes;
        }
        self.cut_off(start);
    }

    /// True if a flow counts as measured; `stops` is true if it will be stopped.
    pub(super) fn counts(&self, start: &FlowStart, stops: bool) -> bool {
        let measured = self.is_measured(Ps(start.start_ps)) || self.counts_always(start.id);
        measured && start.bytes != ENDLESS && !stops
    }

    /// True if a flow is measured whenever it begins: it has a trigger or belongs to a job.
    pub(super) fn counts_always(&self, flow: FlowId) -> bool {
        self.triggered.contains(&flow) || self.jobs.have(flow)
    }

    /// True if a flow or request with this start is measured.
    pub(super) fn is_measured(&self, start: Ps) -> bool {
        (self.plan.warmup..self.plan.measured_until()).contains(&start)
    }

    /// Collects chained flows that began in this step and awaited flows that arrived, in the order
    /// (time, flow).
    pub(super) fn collect_chains(&mut self) {
        let (mut begun, mut arrived) = (Vec::new(), Vec::new());
        for partition in &mut self.partitions {
            let chains = &mut partition.hosts_mut().chains;
            begun.append(&mut chains.begun);
            arrived.append(&mut chains.arrived);
        }
        begun.sort_unstable_by_key(|start: &FlowStart| (start.start_ps, start.id));
        arrived.sort_unstable_by_key(|arrived: &Arrived| (arrived.time_ps, arrived.flow));
        for start in &begun {
            self.requests.on_begun(start);
            self.jobs.on_begun(start, self.class_of[start.source as usize]);
            self.count_start(start, false);
        }
        arrived.iter().for_each(|arrived| self.requests.on_arrived(arrived, &mut self.rows));
    }

    /// Collects the rounds that ranks of jobs finished in this step, in the order of time.
    pub(super) fn collect_rounds(&mut self) {
        let mut ends: Vec<RoundEnd> = Vec::new();
        for partition in &mut self.partitions {
            ends.append(&mut partition.hosts_mut().programs.ends);
        }
        ends.sort_unstable();
        for end in &ends {
            let source = self.jobs.hosted[end.job as usize].source;
            self.jobs.on_round(end, self.class_of[source as usize], &mut self.rows);
        }
    }

    /// Gives the programs of jobs to their hosts.
    pub(super) fn add_programs(&mut self) {
        for (index, job) in (0..).zip(&self.jobs.hosted) {
            for (rank, host) in (0..).zip(job.job.hosts()) {
                let partition = self.cut.of_node[host.index()] as usize;
                self.partitions[partition].add_program((index, job), rank, *host);
            }
        }
    }
}
