//! Results of a simulation, and the rows it produces.

use std::mem::take;

use xoff_core::table::Tables as _;
use xoff_core::{Digest, NodeId, PortId, Ps};
use xoff_host::Finished;
use xoff_net::arch::Switch;
use xoff_net::fabric::{Captured, Heard};
use xoff_net::hop::{AnyHop, StuckQueue};
use xoff_net::topo::Port;

use super::{Progress, Simulation, Snapshot};
use crate::backlog::Backlog;
use crate::flowtune::FlowtuneCounts;
use crate::jobs::JobResults;
use crate::measure::{ClassResults, Distribution, EndlessFlow, MonitorResults, Outstanding};
use crate::partition::queue_lengths::{QueueLengthDump, QueueLengthPlan};
use crate::partition::{Partition, Place};
use crate::requests::RequestResults;
use crate::setup::Setup;
use crate::speed_up::SpeedUp;
use crate::tables::{PortRow, Rows, StuckQueueRow};
use crate::throughput::Throughput;
use crate::watermarks::Watermarks;

impl Simulation {
    /// Counters of each port in the measurement.
    #[must_use]
    pub fn ports(&self) -> Vec<PortRow> {
        let empty = Snapshot::default();
        let begin = self.begin.as_ref().unwrap_or(&empty);
        let now = self.snapshot();
        let end = self.end.as_ref().unwrap_or(&now);
        let since = |begin: &[u64], end: &[u64], index: usize| {
            end[index] - begin.get(index).copied().unwrap_or(0)
        };
        let topology = &self.setup.topology;
        let row = |(index, port): (usize, &Port)| {
            let before = begin.totals.get(index).copied().unwrap_or_default();
            let totals = end.totals[index].since(before);
            PortRow {
                node: topology.given_number(port.node),
                port: port.number,
                peer: topology.given_number(topology.neighbour(port)),
                link: topology.link_name(port),
                rate_bps: port.rate.0,
                tx_bytes: totals.tx_bytes,
                tx_packets: totals.tx_packets,
                paused_ps: totals.paused_ps,
                pauses: since(&begin.pauses, &end.pauses, index),
                drops: totals.drops,
                drop_bytes: totals.drop_bytes,
            }
        };
        topology.ports().iter().enumerate().map(row).collect()
    }

    /// Counters of allocators, agents and streams in the measurement, if there is an allocator.
    #[must_use]
    pub fn flowtune(&self) -> Option<FlowtuneCounts> {
        self.setup.flowtune.as_ref()?;
        let now = self.snapshot();
        let end = self.end.as_ref().unwrap_or(&now);
        let begin = self.begin.as_ref().map_or_else(FlowtuneCounts::default, |s| s.flowtune);
        Some(end.flowtune.since(&begin))
    }

    /// Payload acknowledged in the measurement of each class's endless or stopped flows (bytes).
    #[must_use]
    pub fn endless_acked(&self) -> Vec<u64> {
        let now = self.snapshot();
        let end = self.end.as_ref().unwrap_or(&now);
        let begin = self.begin.as_ref();
        let before = |class: usize| begin.map_or(0, |begin| begin.endless_acked[class]);
        end.endless_acked.iter().enumerate().map(|(class, sum)| sum - before(class)).collect()
    }

    /// The same for each endless flow.
    #[must_use]
    pub fn endless_flows(&self) -> Vec<EndlessFlow> {
        let now = self.snapshot();
        let end = self.end.as_ref().unwrap_or(&now);
        let begin = self.begin.as_ref().map_or(&[][..], |begin| &begin.endless);
        let before = |flow: &EndlessFlow| {
            let found = begin.binary_search_by_key(&flow.flow, |flow| flow.flow);
            found.map_or(0, |place| begin[place].acked)
        };
        let since = |flow: &EndlessFlow| EndlessFlow { acked: flow.acked - before(flow), ..*flow };
        end.endless.iter().map(since).collect()
    }

    /// Outstanding flows in the middle and at the end of the measurement.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        self.outstanding_then
    }

    /// Backlog by kind of link.
    #[must_use]
    pub fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// Delays and queues at the monitored ports.
    #[must_use]
    pub fn monitors(&self) -> Vec<MonitorResults> {
        let ports = self.ports();
        let with_utilisation = |(index, monitor): (usize, &MonitorResults)| {
            let port = &ports[self.monitored[index].index()];
            let sent = port.tx_bytes as f64 * 8.0;
            let possible = port.rate_bps as f64 * self.measured().seconds();
            MonitorResults { utilisation: sent / possible, ..monitor.clone() }
        };
        self.monitors.iter().enumerate().map(with_utilisation).collect()
    }

    /// The elapsed part of the measurement.
    #[must_use]
    pub fn measured(&self) -> Ps {
        Ps(self.now.0.saturating_sub(self.plan.warmup.0).min(self.plan.measure.0))
    }

    /// Progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let sum = |count: fn(&Partition) -> u64| self.partitions.iter().map(count).sum();
        Progress {
            sim_ps: self.now.0,
            end_ps: self.plan.measured_until().0,
            flows_started: sum(|partition| partition.hosts().stats.started),
            flows_finished: sum(|partition| partition.hosts().stats.finished),
            packet_hops: sum(Partition::packet_hops),
            draining: self.now >= self.plan.measured_until(),
            drain_end_ps: (self.plan.measured_until() + self.plan.drain).0,
            measured_flows: self.classes.iter().map(|class| class.all.flows()).sum(),
            missing_flows: self.outstanding,
            measured_requests: self.requests.begun(),
            missing_requests: self.requests.outstanding(),
        }
    }

    /// The queues that PFC watchdogs have found stuck, in the order of releases; `None` without
    /// watchdogs.
    #[must_use]
    pub fn stuck_queues(&self) -> Option<Vec<StuckQueueRow>> {
        let topology = &self.setup.topology;
        let mut rows = None;
        for (node, switch) in self.partitions.iter().flat_map(Partition::switches) {
            let Some(stuck) = switch.hop().and_then(AnyHop::stuck_queues) else { continue };
            let row = |queue: &StuckQueue| StuckQueueRow {
                node: topology.given_number(*node),
                port: queue.port,
                peer: topology.given_number(
                    topology.neighbour(topology.port(topology.port_at(*node, queue.port))),
                ),
                queue: queue.class,
                paused_ps: queue.paused_ps,
                released_ps: queue.released_ps,
                restored_ps: queue.restored_ps.unwrap_or(0),
                dropped: queue.dropped,
            };
            rows.get_or_insert_with(Vec::new).extend(stuck.iter().map(row));
        }
        // Partitions hold different switches: the order must not depend on the partitioning.
        if let Some(rows) = &mut rows {
            rows.sort_unstable_by_key(|row| (row.released_ps, row.node, row.port, row.queue));
        }
        rows
    }

    /// Adds the rows of tables that describe the run as a whole.
    pub(super) fn add_final_rows(&mut self) {
        self.rows.ports = self.ports();
        self.add_cut_off_rows();
        self.rows.stuck_queues = self.stuck_queues().unwrap_or_default();
        self.add_batches();
    }

    /// Gives new rows of the interval records the numbers of the files that the network comes from.
    pub(super) fn renumber_series(&mut self, (flows, ports): (usize, usize)) {
        let given = |node: &mut u32| *node = self.setup.topology.given_number(NodeId(*node));
        for row in &mut self.rows.flow_series[flows..] {
            given(&mut row.src);
            given(&mut row.dst);
        }
        let rows = &mut self.rows.port_samples[ports..];
        rows.iter_mut().for_each(|row| given(&mut row.node));
        rows.sort_by_key(|row| (row.time_ps, row.node, row.port));
    }

    /// Rows that wait to be taken. Those of ports and batches come when the run is over.
    pub fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// Number of rows and captured packets not yet taken.
    #[must_use]
    pub fn rows_waiting(&self) -> usize {
        self.rows.waiting() + self.captured.len()
    }

    /// Starts capturing the packets of these ports of the topology.
    pub fn capture(&mut self, ports: &[PortId]) {
        for &port in ports {
            let Place { partition, port: number } = self.place[port.index()];
            self.partitions[partition as usize].capture(number);
        }
    }

    /// Collects the packets sent by captured ports in this step, in the order (time, port).
    pub(super) fn collect_captured(&mut self) {
        let first_new = self.captured.len();
        for partition in &mut self.partitions {
            partition.take_captured(&mut self.captured);
        }
        self.captured[first_new..].sort_unstable_by_key(|sent| (sent.time_ps, sent.port));
    }

    /// Makes every packet join its queue, for tests: results must not change.
    #[cfg(debug_assertions)]
    pub fn let_nothing_pass(&mut self) {
        for partition in &mut self.partitions {
            partition.fabric_mut().let_nothing_pass();
        }
    }

    /// Captured packets since the last call.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        std::mem::take(&mut self.captured)
    }

    /// Records the ends of flows and the frames that pause queues from now on. In an uncut network
    /// both come in the order of events.
    pub fn record_ends_and_pauses(&mut self) {
        self.ends = Some(Vec::new());
        if let Some(invariants) = &mut self.invariants {
            invariants.leave_frames();
        }
        for partition in &mut self.partitions {
            partition.fabric_mut().heard = Some(Vec::new());
        }
    }

    /// The ends of flows since the last call, if they are recorded.
    pub fn take_ends(&mut self) -> Vec<Finished> {
        self.ends.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The frames that paused or resumed queues since the last call, if they are recorded.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        let heard = |partition: &mut Partition| partition.fabric_mut().heard.as_mut().map(take);
        self.partitions.iter_mut().filter_map(heard).flatten().collect()
    }

    /// Samples the lengths of the queues of all switches from now on.
    pub fn watch_queue_lengths(&mut self, plan: QueueLengthPlan) {
        let first_flow = self.traffic.next_start().unwrap_or(Ps::NEVER);
        for partition in &mut self.partitions {
            partition.watch_queue_lengths(plan, first_flow);
        }
    }

    /// The counts of queue lengths that were kept since the last call. A run that is over has the
    /// samples after its end, too: its queues are empty.
    pub fn take_queue_lengths(&mut self) -> Vec<QueueLengthDump> {
        let is_over = self.is_over();
        let lengths = self.partitions.iter_mut().filter_map(|part| part.queue_lengths_mut());
        let dumps = lengths.flat_map(|lengths| {
            if is_over {
                lengths.count_empty(u64::MAX);
            }
            lengths.take_dumps()
        });
        dumps.collect()
    }

    /// Slowdowns by class.
    #[must_use]
    pub fn classes(&self) -> &[ClassResults] {
        &self.classes
    }

    /// Completion times of queries and web requests, by class.
    #[must_use]
    pub fn requests(&self) -> &[RequestResults] {
        &self.requests.results
    }

    /// Jobs, in the order of their sources.
    #[must_use]
    pub fn jobs(&self) -> &[JobResults] {
        &self.jobs.results
    }

    /// The name of the class of a traffic source.
    #[must_use]
    pub fn class_of_source(&self, source: u16) -> &str {
        &self.classes[self.class_of[source as usize] as usize].name
    }

    /// Bytes in each switch's buffer, sampled and pooled.
    #[must_use]
    pub fn buffer(&self) -> &Distribution {
        &self.buffer
    }

    /// Maximum bytes in each switch's buffer in each step.
    #[must_use]
    pub fn watermarks(&self) -> &Watermarks {
        &self.watermarks
    }

    /// Received throughput of hosts in each interval.
    #[must_use]
    pub fn throughput(&self) -> &Throughput {
        &self.throughput
    }

    /// Flows with packets at each egress port, sampled and pooled.
    #[must_use]
    pub fn active_flows(&self) -> &Distribution {
        &self.active
    }

    /// Flows that share their queue with another one, at each egress port with active flows,
    /// sampled and pooled, if flows are assigned to queues.
    #[must_use]
    pub fn sharing_flows(&self) -> &Distribution {
        &self.sharing
    }

    /// Payload bytes of all measured flows.
    #[must_use]
    pub fn payload_measured(&self) -> u64 {
        self.payload_measured
    }

    /// The partitions, for summing their counters.
    #[must_use]
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.worker_pool.threads()
    }

    /// What several threads would gain, if the run counts it ([`Threads::modelled`]).
    ///
    /// [`Threads::modelled`]: crate::Threads::modelled
    #[must_use]
    pub fn speed_up(&self) -> Option<&SpeedUp> {
        self.worker_pool.speed_up()
    }

    /// The reason for fewer threads than requested.
    #[must_use]
    pub fn threads_note(&self) -> Option<&str> {
        self.cut.note.as_deref()
    }

    /// The network.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The hash chain of each node, over all packets it has sent and dropped and all flows that
    /// ended there.
    #[must_use]
    pub fn node_digests(&self) -> Vec<u64> {
        let mut of_node = vec![0u64; self.setup.topology.nodes() as usize];
        for partition in &self.partitions {
            for nic in partition.hosts().nics() {
                // Chains of several links of a host make one.
                let chain = &mut of_node[nic.host.index()];
                *chain = chain.rotate_left(1) ^ nic.digest.value();
            }
            for (node, switch) in partition.switches() {
                of_node[node.index()] = switch.digest();
            }
        }
        of_node
    }

    /// The run's digest, over every transmission, drop and finished flow: the chains of all nodes
    /// in the order of their ids and, with faults, the losses of each link.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.node_digests().into_iter().for_each(|chain| digest.add(chain));
        if !self.setup.faults.is_empty() {
            for &Place { partition, port: number } in &self.place {
                let lost = self.partitions[partition as usize].fabric().lost(number);
                digest.add(lost.packets);
                digest.add(lost.bytes);
            }
        }
        digest.value()
    }
}
