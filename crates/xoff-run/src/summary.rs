//! The results of a run in brief: typed values that become `summary.json`.
//!
//! Each file here declares and computes the keys of one subject.

mod bfc;
mod buffers;
mod class_memory;
mod classes;
mod dead_hosts;
mod elision;
mod expresspass;
mod flowtune;
mod homa;
mod jobs;
pub(crate) mod json;
pub mod keys;
mod monitors;
mod numerical;
mod pipeline;
mod ports;
mod requests;
mod samples;
mod sfc;
mod throughput;
mod totals;
mod warnings;

use xoff_core::BitRate;
use xoff_sim::Simulation;
use xoff_sim::simulation::Plan;

pub use bfc::{Bfc, BfcHardware};
pub use buffers::{Buffer, BufferWatermark};
pub use class_memory::{ClassMemory, RefusedPackets};
pub use classes::{Class, SlowdownBin, SlowdownGroup};
pub use dead_hosts::DeadHost;
pub use elision::Elision;
pub use expresspass::ExpressPass;
pub use flowtune::{Flowtune, Stream};
pub use homa::Homa;
pub use jobs::Job;
use keys::{Named, keys};
pub use monitors::{LinkDelay, Monitor};
pub use numerical::{ConvergenceSummary, FluidSummary, NumericalSummary};
pub(crate) use numerical::{Identity, convergence, fluid};
pub use pipeline::Pipeline;
pub use ports::{Dropped, Load, Pfc, PfcWatchdog, Utilisation};
pub use requests::{ByClass, CompletionGroup};
pub use samples::Sampled;
pub use sfc::Sfc;
pub use throughput::ReceiverThroughput;
use totals::Totals;

/// Facts about a run that the summary adds to the results.
pub struct Context {
    /// The scenario's name.
    pub name: String,
    /// Its scheme.
    pub scheme: String,
    /// Its seed.
    pub seed: u64,
    /// The times of warm-up and measurement.
    pub plan: Plan,
    /// Requested load.
    pub nominal_load: f64,
    /// The capacity at a load of 1.
    pub load_capacity: BitRate,
    /// Whether flows that are not part of that load add to it.
    pub fills: bool,
}

keys! {
    /// The results of a run with packets.
    pub struct Summary {
        /// Name of the scenario.
        name: String,
        /// Name of the scheme.
        scheme: String,
        /// Seed of the random numbers.
        seed: u64,
        /// Hash of all events, as 16 hexadecimal digits.
        digest: String,
        /// Traffic classes.
        classes: Vec<Class>,
        /// Completion times of queries by class, then by group: `all`, the response's bytes
        /// (`8000`), `priority0`, and both (`8000-priority0`) if a class has several priorities.
        /// Null without queries.
        queries: Option<ByClass>,
        /// Completion times of web requests by class, then by group: `all`, and by the number of
        /// queries (`10`). Null without web requests.
        requests: Option<ByClass>,
        /// Jobs, in the order of their entries. Null without jobs.
        jobs: Option<Vec<Job>>,
        /// Hosts that went down for good, by number. Null without any.
        dead_hosts: Option<Vec<DeadHost>>,
        /// Sizes of data packets.
        frame: Frame,
        /// Bytes in a switch's buffer, sampled on the grid and pooled over switches.
        buffer: Buffer,
        /// Maximum of a switch's buffer since the previous step of the grid, pooled over switches
        /// and steps.
        buffer_watermark: BufferWatermark,
        /// Throughput of receivers. Null if no host received anything in a full interval.
        receiver_throughput: Option<ReceiverThroughput>,
        /// Flows with packets at an egress port, sampled on the grid and pooled over ports. Null
        /// without samples.
        active_flows: Option<Sampled>,
        /// Measured flows in progress. If they grow in number, the network cannot
        /// carry the load.
        outstanding_flows: OutstandingFlows,
        /// Bytes that wait at all ports of switches on a kind of link, such as `leaf-host` or
        /// `spine-leaf`: mean over the steps of the grid in the measured time. `upstream_share` is
        /// the share of all these bytes that does not wait for a host's link.
        backlog_bytes: Named<Option<f64>>,
        /// Pauses by PFC, or by switches with ingress queues.
        pfc: Pfc,
        /// Memory of switches by traffic class. Null if they keep no accounts of classes.
        class_memory: Option<ClassMemory>,
        /// Pipelined switches. Null without any.
        pipeline: Option<Pipeline>,
        /// Backpressure Flow Control. Null without BFC's queues.
        bfc: Option<Bfc>,
        /// BFC's hardware prototype. Null without it.
        bfc_hardware: Option<BfcHardware>,
        /// Ports without backpressure. Null with `switch.elide = "none"`.
        elision: Option<Elision>,
        /// Source Flow Control. Null without SFC.
        sfc: Option<Sfc>,
        /// Homa. Null under other schemes.
        homa: Option<Homa>,
        /// Flowtune. Null without an allocator.
        flowtune: Option<Flowtune>,
        /// ExpressPass. Null under other schemes.
        expresspass: Option<ExpressPass>,
        /// Packets that switches dropped, over the whole run.
        drops_packets: u64,
        /// Packets lost at ports in the measured time.
        dropped: Dropped,
        /// Packets that a switch trimmed to their header, over the whole run.
        trimmed_packets: u64,
        /// Headers that a switch returned to their sender, over the whole run.
        returned_headers: u64,
        /// Acknowledgements and pulls that found no room in a control queue (NDP), over the whole
        /// run.
        control_drops_packets: u64,
        /// Packets marked with ECN, over the whole run.
        marked_packets: u64,
        /// Control frames of switches lost, over the whole run.
        control_frames_lost: u64,
        /// Shares of data packets, over the whole run.
        packets: Packets,
        /// Data packets sent again, over the whole run.
        retransmitted_packets: u64,
        /// Retransmission timeouts, over the whole run.
        timeouts: u64,
        /// Transports with selective acknowledgements. Null under others.
        transport: Option<Transport>,
        /// Utilisation of links.
        utilisation: Utilisation,
        /// Load of the network.
        load: Load,
        /// Access links of the hosts of `run.monitor`.
        monitors: Vec<Monitor>,
        /// Queueing delays by kind of link, with `run.link_delays`.
        link_delays: Vec<LinkDelay>,
        /// Packets of any kind put on a link, over the whole run.
        packet_hops: u64,
        /// Flows that began, over the whole run.
        flows_started: u64,
        /// Flows that finished, over the whole run.
        flows_finished: u64,
        /// Simulated time.
        sim_ps: u64,
        /// Measured part of it.
        measured_ps: u64,
        /// Warm-up before the measured part.
        warmup_ps: u64,
        /// Texts about results that need care, such as unfinished flows.
        warnings: Vec<String>,
    }
}

impl Summary {
    /// The results of a run so far.
    #[must_use]
    pub fn of(simulation: &Simulation, context: &Context) -> Self {
        let progress = simulation.progress();
        let ports = simulation.ports();
        let totals = Totals::of(simulation);
        let load = Load::of(simulation, context, &ports);
        Self {
            name: context.name.clone(),
            scheme: context.scheme.clone(),
            seed: context.seed,
            digest: format!("{:016x}", simulation.digest()),
            classes: Class::all(simulation),
            queries: requests::queries(simulation),
            requests: requests::requests(simulation),
            jobs: jobs::jobs(simulation),
            dead_hosts: dead_hosts::dead_hosts(simulation),
            frame: Frame::of(simulation),
            buffer: Buffer::of(simulation.buffer(), simulation.buffer().max()),
            buffer_watermark: BufferWatermark::of(simulation.watermarks()),
            receiver_throughput: ReceiverThroughput::of(simulation.throughput()),
            active_flows: Sampled::of(simulation.active_flows()),
            outstanding_flows: OutstandingFlows::of(simulation),
            backlog_bytes: backlog(simulation),
            pfc: Pfc::of(simulation, &ports, &totals),
            class_memory: ClassMemory::of(simulation),
            pipeline: Pipeline::of(simulation),
            bfc: totals.bfc.map(|stats| Bfc::of(simulation, &ports, &stats)),
            bfc_hardware: totals.tofino.map(|stats| BfcHardware::of(simulation, &stats)),
            elision: Elision::of(simulation),
            sfc: totals.sfc.map(|counts| Sfc::of(&counts, &totals.signals)),
            homa: Homa::of(simulation),
            flowtune: Flowtune::of(simulation),
            expresspass: ExpressPass::of(simulation),
            drops_packets: totals.drops,
            dropped: Dropped::of(simulation, &ports),
            trimmed_packets: totals.trimmed,
            returned_headers: totals.returned,
            control_drops_packets: totals.control_drops,
            marked_packets: totals.marks,
            control_frames_lost: totals.control_lost,
            packets: Packets::of(simulation, &totals),
            retransmitted_packets: totals.retransmitted,
            timeouts: totals.timeouts,
            transport: Transport::of(simulation),
            utilisation: Utilisation::of(simulation, &ports),
            warnings: warnings::warnings(simulation, context, load.payload, totals.drops),
            load,
            monitors: simulation.monitors().iter().map(Monitor::of).collect(),
            link_delays: simulation.link_delays().iter().map(LinkDelay::of).collect(),
            packet_hops: progress.packet_hops,
            flows_started: progress.flows_started,
            flows_finished: progress.flows_finished,
            sim_ps: progress.sim_ps,
            measured_ps: simulation.measured().0,
            warmup_ps: context.plan.warmup.0,
        }
    }

    /// The text of `summary.json`.
    #[must_use]
    pub fn json(&self) -> String {
        json::json(self)
    }
}

keys! {
    /// Sizes of data packets.
    pub struct Frame {
        /// Payload of a full packet.
        payload_bytes: u64,
        /// Headers and INT.
        overhead_bytes: u16,
    }
}

impl Frame {
    fn of(simulation: &Simulation) -> Self {
        let hosts = &simulation.setup().hosts;
        Self { payload_bytes: hosts.frame.payload.0, overhead_bytes: hosts.overhead() }
    }
}

keys! {
    /// Counts of measured flows in progress.
    pub struct OutstandingFlows {
        /// In the middle of the measured time.
        middle: u64,
        /// At its end.
        end: u64,
    }
}

impl OutstandingFlows {
    fn of(simulation: &Simulation) -> Self {
        let found = simulation.outstanding();
        Self { middle: found.middle, end: found.end }
    }
}

keys! {
    /// Data packets over the whole run. Shares are of the packets sent: those acknowledged and
    /// those sent again.
    pub struct Packets {
        /// Data packets acknowledged.
        acknowledged: u64,
        /// Share of `retransmitted_packets`.
        retransmitted_share: f64,
        /// Share of `drops_packets`.
        dropped_share: f64,
    }
}

impl Packets {
    fn of(simulation: &Simulation, totals: &Totals) -> Self {
        let payload = simulation.setup().hosts.frame.payload.0;
        let of_hosts = |hosts: &xoff_host::Hosts| {
            let flows = hosts.alive().filter(|flow| !flow.open);
            hosts.stats.finished_packets
                + flows.map(|flow| flow.snd_una.div_ceil(payload)).sum::<u64>()
        };
        let acknowledged = simulation.partitions().iter().map(|part| of_hosts(part.hosts())).sum();
        let sent = acknowledged + totals.retransmitted;
        Self {
            acknowledged,
            retransmitted_share: share(totals.retransmitted, sent),
            dropped_share: share(totals.drops, sent),
        }
    }
}

keys! {
    /// Transports with selective acknowledgements.
    pub struct Transport {
        /// Data packets that arrived a second time, over the whole run. Flows of one packet do not
        /// count, because receivers do not remember them.
        spurious_retransmissions: u64,
    }
}

impl Transport {
    fn of(simulation: &Simulation) -> Option<Self> {
        let repeated = simulation.partitions().iter().map(|part| part.hosts().repeated());
        simulation
            .setup()
            .hosts
            .recovery
            .reports_losses()
            .then(|| Self { spurious_retransmissions: repeated.sum() })
    }
}

fn backlog(simulation: &Simulation) -> Named<Option<f64>> {
    let backlog = simulation.backlog();
    let means = backlog.means().map(|(kind, mean)| (kind, Some(mean)));
    means.chain([("upstream_share", backlog.upstream_share())]).collect()
}

/// A part of a whole; not a number if the whole is zero.
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
