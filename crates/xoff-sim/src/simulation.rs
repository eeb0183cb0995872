//! Runs a network under a traffic, one step of the grid at a time.

mod batches;
mod chains;
mod checks;
mod dead_hosts;
mod delays;
mod padding;
mod places;
mod results;
mod snapshot;
mod unfinished;

use rustc_hash::{FxHashMap, FxHashSet};
use xoff_core::invariant::Violation;
use xoff_core::{FlowId, HostId, PortId, Ps, rng::mix64};
use xoff_host::{Finished, FlowStart};
use xoff_net::arch::Switch;
use xoff_net::fabric::Captured;
use xoff_net::topo::Port;
use xoff_workload::{Arrival, Traffic};

use self::dead_hosts::DeadHosts;
use self::snapshot::Snapshot;
use crate::backlog::Backlog;
use crate::cut::{Cut, Threads};
use crate::fault_actions::FaultActions;
use crate::ideal;
use crate::invariants::Invariants;
use crate::jobs::Jobs;
use crate::measure::{
    ClassResults, Distribution, LinkDelays, Measured, MonitorResults, Outstanding,
};
use crate::partition::{Owner, Partition, Place};
use crate::paths::Paths;
use crate::requests::Requests;
use crate::series::{Series, View};
use crate::setup::{Setup, path};
use crate::tables::{FlowRow, Rows, SampleRow};
use crate::throughput::Throughput;
use crate::watchdog::Watchdog;
use crate::watermarks::Watermarks;
use crate::windows::Stretch;
use crate::worker_pool::WorkerPool;

/// The times of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Warm-up: flows that begin before this time are not measured.
    pub warmup: Ps,
    /// Measurement: flows that begin within this time after the warm-up are measured.
    pub measure: Ps,
    /// Drain: maximum time after the measurement for measured flows to finish.
    pub drain: Ps,
    /// Grid: stop conditions are evaluated, samples taken and results returned at multiples of
    /// this.
    pub grid: Ps,
    /// A run is stuck if nothing is acknowledged for this long while flows wait.
    pub watchdog: Ps,
    /// One in this many measured flows gets a row; 0: none.
    pub row_every: u64,
    /// Interval of the record of each flow's received bytes; 0: no record.
    pub flow_series: Ps,
    /// Interval of port samples; 0: no samples.
    pub port_samples: Ps,
    /// Record queueing delays at all ports of switches, by kind of link.
    pub link_delays: bool,
    /// Record the path of each flow that gets a row; every flow has one.
    pub paths: bool,
    /// Number of batches of time that the measurement is divided into; 0: none.
    pub batches: u16,
    /// Number of partitions; 0: chosen for the number of threads.
    pub partitions: usize,
    /// Check invariants.
    pub check_invariants: bool,
}

impl Plan {
    /// End of the measurement: time by which the last measured flow begins.
    #[must_use]
    pub fn measured_until(&self) -> Ps {
        self.warmup + self.measure
    }

    /// The batch of a measured flow or web request with this start, if there are batches. A flow of
    /// a job may begin earlier or later, and counts for the nearest.
    fn batch_of(&self, start: Ps) -> Option<u16> {
        let last = self.batches.checked_sub(1)?;
        let since = u128::from(start.0.saturating_sub(self.warmup.0)) * u128::from(self.batches);
        Some((since / u128::from(self.measure.0)).min(u128::from(last)) as u16)
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub sim_ps: u64,
    /// End of the measurement.
    pub end_ps: u64,
    /// Flows begun.
    pub flows_started: u64,
    /// Flows finished.
    pub flows_finished: u64,
    /// Packets put on a link.
    pub packet_hops: u64,
    /// True while the run waits for the last measured flows.
    pub draining: bool,
    /// The latest end of that wait.
    pub drain_end_ps: u64,
    /// Measured flows begun.
    pub measured_flows: u64,
    /// Measured flows that have not ended.
    pub missing_flows: u64,
    /// Measured web requests begun.
    pub measured_requests: u64,
    /// Measured web requests that have not ended.
    pub missing_requests: u64,
}

/// A simulation in progress.
pub struct Simulation {
    setup: Setup,
    plan: Plan,
    partitions: Vec<Partition>,
    /// The place of each port of the topology.
    place: Vec<Place>,
    cut: Cut,
    /// Number of windows simulated so far.
    windows: u64,
    worker_pool: WorkerPool,
    traffic: Traffic,
    classes: Vec<ClassResults>,
    class_of: Vec<u16>,
    now: Ps,
    arrivals: Vec<Arrival>,
    sports: FxHashMap<(HostId, HostId), u16>,
    /// The sizes of flows that are padded to whole packets, until they end.
    padded: FxHashMap<FlowId, u64>,
    /// Flows that will be stopped and have not ended, and the bytes sent by those that have ended,
    /// by class.
    stopping: FxHashSet<FlowId>,
    stopped_bytes: Vec<u64>,
    outstanding: u64,
    outstanding_then: Outstanding,
    requests: Requests,
    jobs: Jobs,
    /// The traffic classes of all flows so far, a bit for each.
    used_classes: u8,
    /// The last flow so far of each chain of successive flows, by source and chain.
    chains: FxHashMap<(u16, u32), FlowId>,
    /// Flows with a trigger: measured whenever they begin.
    triggered: FxHashSet<FlowId>,
    finished: Vec<Finished>,
    /// The ends of flows since they were last taken, if they are recorded.
    ends: Option<Vec<Finished>>,
    rows: Rows,
    captured: Vec<Captured>,
    buffer: Distribution,
    active: Distribution,
    sharing: Distribution,
    backlog: Backlog,
    watermarks: Watermarks,
    throughput: Throughput,
    faults: FaultActions,
    dead: DeadHosts,
    /// What says which path a flow takes, if paths are recorded.
    paths: Option<Paths>,
    series: Series,
    monitored: Vec<PortId>,
    monitors: Vec<MonitorResults>,
    link_delays: Vec<LinkDelays>,
    begin: Option<Snapshot>,
    end: Option<Snapshot>,
    payload_measured: u64,
    uniform: Option<ideal::Leg>,
    watchdog: Watchdog,
    /// Checks of invariants, if they are on, and the violation that ended the run.
    invariants: Option<Box<Invariants>>,
    violation: Option<Box<Violation>>,
}

impl Simulation {
    /// Creates a simulation of a network under a traffic. `class_of` maps each traffic source to
    /// its class, an index into `classes`. `monitored` are hosts whose access link is monitored at
    /// the switch's port.
    ///
    /// # Errors
    /// The reason that the network cannot be built.
    pub fn new(
        setup: Setup,
        plan: Plan,
        traffic: Traffic,
        classes: &[String],
        class_of: Vec<u16>,
        monitored: &[HostId],
        threads: Threads,
    ) -> Result<Self, String> {
        let jobs = Jobs::new(&traffic, &setup, plan.row_every)?;
        let cut = Cut::new(&setup, plan.partitions, threads.count);
        let parts = setup.build(&cut.of_node, plan.check_invariants)?;
        let faults = FaultActions::new(&setup)?;
        let mut counts = vec![0; parts.len()];
        let place = setup.topology.ports().iter().map(|port| {
            let partition = cut.of_node[port.node.index()];
            let count = &mut counts[partition as usize];
            *count += 1;
            Place { partition, port: *count - 1 }
        });
        let place = place.collect();
        let first = setup.topology.ports()[0];
        let same = |port: &Port| (port.rate, port.delay) == (first.rate, first.delay);
        let uniform = setup.topology.ports().iter().all(same);
        let to_host = |&host: &HostId| setup.topology.port_of_host(host).peer;
        let mut simulation = Self {
            jobs,
            watchdog: Watchdog::new(plan.watchdog),
            watermarks: Watermarks::default(),
            throughput: Throughput::new(plan.grid, setup.topology.servers()),
            faults,
            dead: DeadHosts::default(),
            paths: plan.paths.then(|| setup.paths()),
            backlog: Backlog::new(&setup.topology),
            series: Series::new(plan.flow_series, plan.port_samples),
            uniform: uniform.then_some(ideal::Leg { rate: first.rate.0, delay: first.delay }),
            monitored: monitored.iter().map(to_host).collect(),
            monitors: monitored.iter().map(MonitorResults::of_host).collect(),
            link_delays: Vec::new(),
            setup,
            plan,
            worker_pool: WorkerPool::new(cut.threads, cut.parts(), threads),
            partitions: parts,
            windows: 0,
            place,
            cut,
            traffic,
            classes: classes.iter().map(|name| ClassResults::new(name)).collect(),
            class_of,
            now: Ps(0),
            arrivals: Vec::new(),
            sports: FxHashMap::default(),
            padded: FxHashMap::default(),
            stopping: FxHashSet::default(),
            stopped_bytes: vec![0; classes.len()],
            outstanding: 0,
            outstanding_then: Outstanding::default(),
            requests: Requests::new(classes.len(), plan.row_every),
            used_classes: 0,
            chains: FxHashMap::default(),
            triggered: FxHashSet::default(),
            finished: Vec::new(),
            ends: None,
            rows: Rows::default(),
            captured: Vec::new(),
            buffer: Distribution::default(),
            active: Distribution::default(),
            sharing: Distribution::default(),
            begin: None,
            end: None,
            payload_measured: 0,
            invariants: None,
            violation: None,
        };
        if plan.check_invariants {
            simulation.watch_invariants();
        }
        simulation.add_programs();
        Ok(simulation)
    }

    /// Advances by one step of the grid. Returns true if there is more to do.
    ///
    /// # Errors
    /// If the run is stuck: a description of the waiting flows and ports. If an invariant does not
    /// hold: the violation, which [`Self::violation`] returns from then on.
    pub fn step(&mut self) -> Result<bool, String> {
        if self.windows == 0 {
            self.rows.nodes = self.nodes();
        }
        if self.now >= self.plan.warmup && self.begin.is_none() {
            self.begin = Some(self.snapshot());
            self.throughput.begin(self.now, received(&self.setup, &self.partitions));
            self.with_series(|series, now, view, _| series.begin(now, view));
            self.watch_delays();
        }
        let first_path = self.rows.paths.len();
        if self.faults.is_due(self.now) {
            self.apply_faults();
        }
        let step_end = self.now + self.plan.grid;
        self.start_flows(step_end);
        self.cut_off_requests();
        self.simulate_until(step_end);
        self.collect_chains();
        self.sort_paths(first_path);
        self.collect();
        self.collect_rounds();
        self.cut_off_untriggered();
        self.collect_captured();
        self.sample();
        self.take_watermarks();
        self.take_throughput();
        self.count_outstanding();
        if self.was_measured() {
            self.with_series(Series::step);
        }
        if self.now >= self.plan.measured_until() && self.end.is_none() {
            self.end = Some(self.snapshot());
            self.collect_delays();
            self.series.finish();
        }
        if self.awaits_host() {
            self.watchdog.skip_to(self.now);
        }
        let waiting = self.waiting();
        let progress = self.watchdog.check(self.now, &self.setup, &self.partitions, waiting);
        self.check_invariants(progress.is_err() || self.is_over())?;
        progress?;
        self.skip_idle_start();
        let is_over = self.is_over();
        if is_over {
            self.add_final_rows();
        }
        Ok(!is_over)
    }

    /// Number of measured flows and web requests that have begun and not ended.
    fn waiting(&self) -> u64 {
        self.outstanding + self.requests.outstanding()
    }

    fn is_over(&self) -> bool {
        if self.now < self.plan.measured_until() {
            return false;
        }
        (self.waiting() == 0 && !self.waits_for_jobs())
            || self.now >= self.plan.measured_until() + self.plan.drain
    }

    /// Before the first flow nothing is measured, although nodes may exchange messages: advances to
    /// the step of the first flow, or of the next fault, at once.
    fn skip_idle_start(&mut self) {
        if !self.jobs.hosted.is_empty() {
            return;
        }
        let Some(next) = self.traffic.next_start() else { return };
        let next = next.min(self.plan.warmup).min(self.faults.next());
        let to = Ps(next.0 / self.plan.grid.0 * self.plan.grid.0);
        if self.traffic.issued() == 0 && to > self.now {
            self.simulate_until(to);
            self.watchdog.skip_to(self.now);
        }
    }

    /// Hands the flows that begin before `until` to their partitions.
    fn start_flows(&mut self, until: Ps) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        let first = self.traffic.take_before(until, &mut arrivals);
        for (id, arrival) in (first.0..).map(FlowId).zip(&arrivals) {
            let start = FlowStart {
                id,
                start_ps: arrival.start.0,
                src: arrival.src,
                dst: arrival.dst,
                bytes: self.sent_bytes(id, arrival),
                label: self.label(id, arrival),
                source: arrival.source,
                class: arrival.priority,
            };
            self.used_classes |= 1 << arrival.priority;
            self.follow(id, arrival);
            if self.hand_over(start, arrival) {
                self.count_start(&start, arrival.stop != Ps::NEVER);
            }
        }
        arrivals.clear();
        self.arrivals = arrivals;
    }

    fn simulate_until(&mut self, until: Ps) {
        let stretch = Stretch {
            from_ps: self.now.0,
            until_ps: until.0,
            lookahead_ps: self.cut.lookahead.0,
            first_window: self.windows,
        };
        self.windows = self.worker_pool.simulate(&mut self.partitions, stretch);
        self.now = until;
    }

    /// Collects the flows that finished in this step, in the order (time, flow).
    fn collect(&mut self) {
        let mut finished = std::mem::take(&mut self.finished);
        for partition in &mut self.partitions {
            finished.append(&mut partition.hosts_mut().finished);
        }
        if let Some(ends) = &mut self.ends {
            // In an uncut network, in the order of events.
            ends.extend_from_slice(&finished);
        }
        finished.sort_unstable_by_key(|done| (done.end_ps, done.flow.id));
        for done in &finished {
            self.finish(done);
        }
        finished.clear();
        self.finished = finished;
    }

    fn finish(&mut self, done: &Finished) {
        let flow = &done.flow;
        if let Some(flows) = &mut self.series.flows {
            flows.end_flow(flow.id, flow.bytes);
        }
        if !self.stopping.is_empty() && self.stopping.remove(&flow.id) {
            self.finish_stopped(flow);
            return;
        }
        self.jobs.on_finished(done, &mut self.rows);
        if !self.is_measured(Ps(flow.start_ps)) && !self.counts_always(flow.id) {
            return;
        }
        self.reinstate(flow);
        let row = FlowRow {
            flow: flow.id.0,
            src: self.setup.topology.given_number(flow.src.node()),
            dst: self.setup.topology.given_number(flow.dst.node()),
            size_bytes: self.own_bytes(flow),
            start_ps: flow.start_ps,
            fct_ps: done.end_ps - flow.start_ps,
            rx_fct_ps: done.received_ps - flow.start_ps,
            ideal_fct_ps: self.ideal_fct(flow).0,
            class: self.class_of[flow.source as usize],
        };
        let measured = Measured::new(row.slowdown(), self.plan.batch_of(Ps(flow.start_ps)));
        self.classes[row.class as usize]
            .with_groups(row.size_bytes, |group| group.finish(measured));
        self.outstanding -= 1;
        self.padded.remove(&flow.id);
        let every = self.plan.row_every;
        if every > 0 && mix64(flow.id.0).is_multiple_of(every) {
            self.rows.flows.push(row);
        }
    }

    /// Ends a stopped flow: its duration is meaningless. Its receiver may still wait for bytes that
    /// were never sent.
    fn finish_stopped(&mut self, flow: &FlowStart) {
        self.stopped_bytes[self.class_of[flow.source as usize] as usize] += flow.bytes;
        let partition = self.cut.of_node[flow.dst.index()] as usize;
        self.partitions[partition].hosts_mut().end_receiver(self.now.0, flow.id);
    }

    fn ideal_fct(&self, flow: &FlowStart) -> Ps {
        let (frame, rounding) = (&self.setup.hosts.frame, self.setup.rounding);
        if let Some(leg) = self.uniform {
            let legs = [leg; 16];
            let count = self.setup.routes.links_between(flow.src, flow.dst) as usize;
            if let Some(legs) = legs.get(..count) {
                return ideal::fct(legs, flow.bytes, frame, rounding);
            }
        }
        let legs = path(&self.setup.topology, &self.setup.routes, flow.src, flow.dst);
        ideal::fct(&legs, flow.bytes, frame, rounding)
    }

    /// True if the step that has just ended belongs to the measurement.
    fn was_measured(&self) -> bool {
        self.now > self.plan.warmup && self.now <= self.plan.measured_until()
    }

    fn take_watermarks(&mut self) {
        let measured = self.was_measured();
        for partition in &mut self.partitions {
            partition.take_watermarks().for_each(|bytes| self.watermarks.add(bytes, measured));
        }
    }

    fn take_throughput(&mut self) {
        if self.was_measured() && self.throughput.is_due(self.now) {
            self.throughput.next(self.now, received(&self.setup, &self.partitions));
        }
    }

    /// Records the number of outstanding flows in the middle of the measurement and at its end.
    fn count_outstanding(&mut self) {
        let middle = self.plan.warmup.0 + self.plan.measure.0 / 2;
        if self.now.0 <= middle {
            self.outstanding_then.middle = self.outstanding;
        }
        if self.now <= self.plan.measured_until() {
            self.outstanding_then.end = self.outstanding;
        }
    }

    /// Applies `act` to the interval records, with a view of the ports and receivers.
    fn with_series(&mut self, act: impl FnOnce(&mut Series, Ps, View<'_>, &mut Rows)) {
        let view = View {
            partitions: &self.partitions,
            of_node: &self.cut.of_node,
            ports: self.setup.topology.ports(),
            place: &self.place,
        };
        let first_new = (self.rows.flow_series.len(), self.rows.port_samples.len());
        act(&mut self.series, self.now, view, &mut self.rows);
        if self.setup.topology.given_numbers().is_some() {
            self.renumber_series(first_new);
        }
    }

    fn sample(&mut self) {
        if !self.was_measured() {
            return;
        }
        let first_new = self.rows.samples.len();
        // Most ports are idle in many networks; they are recorded together.
        let mut idle = 0;
        self.backlog.begin_sample();
        for partition in &self.partitions {
            for (node, switch) in partition.switches() {
                let bytes = switch.used_bytes();
                self.buffer.add(bytes);
                let mut most = 0;
                let ports = switch.egress().len() as u16;
                let busy_ports = if switch.is_empty() { 0 } else { ports };
                idle += u64::from(ports - busy_ports);
                for number in 0..busy_ports {
                    let active = switch.active_flows(number);
                    if active == 0 {
                        idle += 1;
                    } else {
                        most = most.max(active);
                        self.active.add(u64::from(active));
                        if let Some(sharing) =
                            switch.hop().and_then(|hop| hop.sharing_flows(number))
                        {
                            self.sharing.add(u64::from(sharing));
                        }
                    }
                    let waiting = switch.egress()[number as usize].data_bytes();
                    self.backlog.add(*node, number, waiting.into());
                }
                let time_ps = self.now.0;
                self.rows.samples.push(SampleRow {
                    time_ps,
                    node: self.setup.topology.given_number(*node),
                    port: u16::MAX,
                    bytes,
                    active: most,
                });
            }
        }
        self.active.add_many(0, idle);
        for index in 0..self.monitored.len() {
            let port = self.setup.topology.port(self.monitored[index]);
            let Place { partition, port: number } = self.place[self.monitored[index].index()];
            let Owner::Switch(switch, _) = self.partitions[partition as usize].owner(number) else {
                continue;
            };
            let partition = &self.partitions[partition as usize];
            let switch = &partition.switches()[switch as usize].1;
            let bytes = u64::from(switch.egress()[port.number as usize].data_bytes());
            let active = switch.flows(port.number, &partition.fabric().packets);
            self.monitors[index].bytes.add(bytes);
            let (time_ps, node) = (self.now.0, self.setup.topology.given_number(port.node));
            self.rows.samples.push(SampleRow { time_ps, node, port: port.number, bytes, active });
        }
        // Partitions hold different switches: the order of rows must not depend on the
        // partitioning.
        self.rows.samples[first_new..].sort_by_key(|row| (row.node, row.port));
    }
}

/// Payload bytes received by each server.
fn received<'a>(
    setup: &Setup,
    partitions: &'a [Partition],
) -> impl Iterator<Item = (HostId, u64)> + use<'a> {
    let servers = setup.topology.servers();
    // The NICs of a host follow each other.
    let of_host = |partition: &'a Partition| {
        partition.hosts().nics().chunk_by(|nic, next| nic.host == next.host)
    };
    let hosts = partitions.iter().flat_map(of_host);
    hosts.filter(move |nics| nics[0].host.0 < servers).map(|nics| {
        let bytes = nics.iter().map(|nic| nic.received_bytes).sum();
        (nics[0].host, bytes)
    })
}
