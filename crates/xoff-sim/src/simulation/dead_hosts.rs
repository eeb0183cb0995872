//! Hosts that are down for good, and what they cut off: flows, web requests and jobs that cannot
//! end. The run does not wait for them, and no percentile counts them.

use std::collections::{BTreeMap, BTreeSet};

use xoff_core::{FlowId, HostId, Ps, rng::mix64};
use xoff_host::FlowStart;
use xoff_host::flow::Sender;

use super::Simulation;
use crate::faults::{Defect, Fault};
use crate::measure::Slowdowns;
use crate::partition::Partition;
use crate::tables::CutOffRow;

/// A host that is down for good, and what it has cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadHost {
    /// The host.
    pub host: HostId,
    /// The time at which it went down.
    pub since: Ps,
    /// Measured flows.
    pub flows: u64,
    /// Measured web requests.
    pub requests: u64,
}

/// All such hosts.
#[derive(Debug, Default)]
pub(super) struct DeadHosts {
    since: BTreeMap<HostId, Ps>,
    /// Flows that cannot end, with the host that cut each off.
    flows: BTreeMap<FlowId, HostId>,
    /// The number of web requests by the host that cut them off.
    requests: BTreeMap<HostId, u64>,
}

impl DeadHosts {
    /// The end of a flow that is dead: if both are, the end that died first.
    fn end_of(&self, src: HostId, dst: HostId) -> Option<HostId> {
        let dead = [src, dst].into_iter().filter(|host| self.since.contains_key(host));
        dead.min_by_key(|&host| self.order(host))
    }

    /// Dead hosts in the order of their deaths.
    fn order(&self, host: HostId) -> (Ps, HostId) {
        (self.since[&host], host)
    }

    /// True if this flow cannot end.
    pub(super) fn have_cut_off(&self, flow: FlowId) -> bool {
        self.flows.contains_key(&flow)
    }
}

impl Simulation {
    /// Hosts that are down for good, in the order of their numbers.
    #[must_use]
    pub fn dead_hosts(&self) -> Vec<DeadHost> {
        let hosts = self.dead.since.iter().map(|(&host, &since)| DeadHost {
            host,
            since,
            flows: self.dead.flows.values().filter(|&&other| other == host).count() as u64,
            requests: self.dead.requests.get(&host).copied().unwrap_or(0),
        });
        hosts.collect()
    }

    /// A dead host among the ranks of the job with this index: the host that died first.
    #[must_use]
    pub fn dead_rank(&self, job: usize) -> Option<HostId> {
        let hosts = self.jobs.hosted[job].job.hosts().iter();
        let dead = hosts.filter_map(|host| self.dead.since.get_key_value(host));
        dead.min_by_key(|&(_, since)| since).map(|(&host, _)| host)
    }

    /// True if a host is down and will be back, so that flows wait for a reason.
    pub(super) fn awaits_host(&self) -> bool {
        self.setup.faults.iter().any(|fault| {
            let is_away = (fault.at..fault.until).contains(&self.now);
            fault.defect == Defect::HostDown && is_away && fault.until != Ps::NEVER
        })
    }

    /// Faults have begun: stops waiting for the flows under way that a dead host cuts off.
    pub(super) fn add_dead_hosts(&mut self) {
        let known = self.dead.since.len();
        let has_died = |fault: &&Fault| fault.is_death() && fault.at <= self.now;
        for fault in self.setup.faults.iter().filter(has_died) {
            if let Some(host) = fault.host(&self.setup.topology) {
                let since = self.dead.since.entry(host).or_insert(fault.at);
                *since = fault.at.min(*since);
            }
        }
        if self.dead.since.len() == known {
            return;
        }
        let starts: Vec<FlowStart> = self.flows_under_way().map(|flow| flow.start).collect();
        for start in starts {
            let stops = self.stopping.contains(&start.id);
            if self.counts(&start, stops) {
                self.cut_off(&start);
            }
        }
    }

    /// The flows that have begun and not ended.
    pub(super) fn flows_under_way(&self) -> impl Iterator<Item = &Sender> {
        let hosts = self.partitions.iter().map(Partition::hosts);
        hosts.flat_map(|hosts| hosts.alive()).filter(|flow| !flow.open)
    }

    /// Stops waiting for a measured flow if one of its ends is dead.
    pub(super) fn cut_off(&mut self, start: &FlowStart) {
        if self.dead.since.is_empty() || self.dead.have_cut_off(start.id) {
            return;
        }
        if let Some(host) = self.dead.end_of(start.src, start.dst) {
            self.cut_off_by(host, start);
        }
    }

    fn cut_off_by(&mut self, host: HostId, start: &FlowStart) {
        self.dead.flows.insert(start.id, host);
        self.outstanding -= 1;
        self.change_groups(start, Slowdowns::withdraw);
    }

    /// After the measured time: stops waiting for flows whose triggers nothing can activate any
    /// more. A flow of their source is stuck at a dead host, none is under way between living
    /// hosts, and none will begin by itself.
    pub(super) fn cut_off_untriggered(&mut self) {
        let may_end = self.now >= self.plan.measured_until() && self.outstanding > 0;
        if !may_end || self.dead.since.is_empty() || self.triggered.is_empty() {
            return;
        }
        let mut culprits: BTreeMap<u16, (Ps, HostId)> = BTreeMap::new();
        let mut live: BTreeSet<u16> = BTreeSet::new();
        for FlowStart { src, dst, source, .. } in self.flows_under_way().map(|flow| flow.start) {
            let Some(host) = self.dead.end_of(src, dst) else {
                live.insert(source);
                continue;
            };
            let found = self.dead.order(host);
            culprits.entry(source).and_modify(|first| *first = found.min(*first)).or_insert(found);
        }
        for start in self.untriggered() {
            let source = start.source;
            if let Some(&(_, host)) = culprits.get(&source)
                && !live.contains(&source)
                && !self.traffic.has_more_of(source)
                && !self.dead.have_cut_off(start.id)
            {
                self.cut_off_by(host, &start);
            }
        }
    }

    /// The flows that wait for triggers, in the order of their numbers.
    fn untriggered(&self) -> Vec<FlowStart> {
        let hosts = self.partitions.iter().map(Partition::hosts);
        let mut flows: Vec<FlowStart> =
            hosts.flat_map(|hosts| hosts.chains.untriggered()).copied().collect();
        flows.sort_unstable_by_key(|start| start.id);
        flows
    }

    /// A measured flow has ended: if it was cut off, its last acknowledgement was on its way.
    pub(super) fn reinstate(&mut self, start: &FlowStart) {
        if self.dead.flows.remove(&start.id).is_some() {
            self.outstanding += 1;
            self.change_groups(start, Slowdowns::start);
        }
    }

    fn change_groups(&mut self, start: &FlowStart, change: fn(&mut Slowdowns)) {
        let bytes = self.own_bytes(start);
        let class = self.class_of[start.source as usize];
        self.classes[class as usize].with_groups(bytes, change);
    }

    /// Stops waiting for the web requests that a dead host cuts off.
    pub(super) fn cut_off_requests(&mut self) {
        if self.dead.since.is_empty() {
            return;
        }
        for host in self.requests.cut_off(|client, server| self.dead.end_of(client, server)) {
            *self.dead.requests.entry(host).or_insert(0) += 1;
        }
    }

    /// True if a job goes on. A job with a dead host goes on while other hosts compute for it or
    /// messages between them are under way.
    pub(super) fn waits_for_jobs(&self) -> bool {
        let unfinished = self.jobs.unfinished() > 0;
        if !unfinished || self.dead.since.is_empty() {
            return unfinished;
        }
        let jobs = self.jobs.results.iter().enumerate();
        let mut unfinished = jobs.filter(|(_, job)| (job.durations.len() as u32) < job.rounds);
        unfinished.any(|(index, _)| self.dead_rank(index).is_none() || self.goes_on(index as u32))
    }

    fn goes_on(&self, job: u32) -> bool {
        let is_under_way = |flow: &Sender| {
            self.jobs.job_of(flow.start.id) == Some(job) && !self.dead.have_cut_off(flow.start.id)
        };
        let hosts = self.partitions.iter().map(Partition::hosts);
        hosts.clone().any(|hosts| hosts.programs.compute(job))
            || self.flows_under_way().any(is_under_way)
    }

    /// The run is over: adds a row for each flow that was cut off.
    pub(super) fn add_cut_off_rows(&mut self) {
        let every = self.plan.row_every;
        let has_row = |id: FlowId| {
            every > 0 && mix64(id.0).is_multiple_of(every) && self.dead.have_cut_off(id)
        };
        let topology = &self.setup.topology;
        let row = |(start, acked): (FlowStart, u64)| {
            let host = self.dead.flows[&start.id];
            let size_bytes = self.own_bytes(&start);
            CutOffRow {
                flow: start.id.0,
                src: topology.given_number(start.src.node()),
                dst: topology.given_number(start.dst.node()),
                size_bytes,
                start_ps: start.start_ps,
                acked_bytes: acked.min(size_bytes),
                host: topology.given_number(host.node()),
                down_ps: self.dead.since[&host].0,
                class: self.class_of[start.source as usize],
            }
        };
        let begun = self.flows_under_way().map(|flow| (flow.start, flow.snd_una));
        let all = begun.chain(self.untriggered().into_iter().map(|start| (start, 0)));
        let mut rows: Vec<CutOffRow> =
            all.filter(|(start, _)| has_row(start.id)).map(row).collect();
        // Partitions hold different flows: the order of rows must not depend on the partitioning.
        rows.sort_unstable_by_key(|row| row.flow);
        self.rows.cut_off = rows;
    }
}
