//! The results of a run in brief, as JSON.

mod bfc;
mod elision;
mod expresspass;
mod homa;
mod pipeline;
mod requests;

use xoff_core::BitRate;
use xoff_host::flowtune::stream::StreamStats;
use xoff_host::hosts::SignalStats;
use xoff_net::arch::Switch;
use xoff_net::hop::{AnyHop, BfcStats, Sfc, SfcStats, TofinoStats};
use xoff_sim::flowtune::FlowtuneCounts;
use xoff_sim::measure::{
    BIN_EDGES, ClassResults, Distribution, LinkDelays, Outstanding, PortRow, RANGES, Slowdowns,
};
use xoff_sim::simulation::Plan;
use xoff_sim::throughput::Throughput;
use xoff_sim::watermarks::Watermarks;
use xoff_sim::{Simulation, measure::MonitorResults};

use crate::schema::json_string;

/// What the summary says beside the results.
pub struct Context {
    /// The scenario's name.
    pub name: String,
    /// Its scheme.
    pub scheme: String,
    /// Its seed.
    pub seed: u64,
    /// When it measured.
    pub plan: Plan,
    /// Load asked for.
    pub nominal_load: f64,
    /// What a load of 1 is.
    pub load_capacity: BitRate,
    /// Whether there are hosts that always send, beside it.
    pub fills: bool,
}

/// A JSON object from parts already in JSON.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let field = |(name, value): &(&str, String)| format!("{}: {value}", json_string(name));
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

pub(crate) fn array(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { "null".into() }
}

pub(crate) fn optional<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "null".into(), |value| value.to_string())
}

/// The whole summary.
#[must_use]
pub fn summary(simulation: &Simulation, context: &Context) -> String {
    let progress = simulation.progress();
    let ports = simulation.ports();
    let totals = Totals::of(simulation);
    object(&[
        ("name", json_string(&context.name)),
        ("scheme", json_string(&context.scheme)),
        ("seed", context.seed.to_string()),
        ("digest", json_string(&format!("{:016x}", simulation.digest()))),
        ("classes", classes(simulation)),
        ("queries", requests::queries(simulation)),
        ("requests", requests::requests(simulation)),
        ("frame", frame(simulation)),
        ("buffer", buffer(simulation.buffer(), simulation.buffer().max(), &[])),
        ("buffer_watermark", watermarks(simulation.watermarks())),
        ("receiver_throughput", throughput(simulation.throughput())),
        ("active_flows", distribution_cdf(simulation.active_flows())),
        ("outstanding_flows", outstanding(simulation)),
        ("backlog_bytes", backlog(simulation)),
        ("pfc", pauses(simulation, &ports, &totals)),
        ("pipeline", pipeline::pipeline(simulation)),
        (
            "bfc",
            totals.bfc.map_or_else(|| "null".into(), |stats| bfc::bfc(simulation, &ports, &stats)),
        ),
        (
            "bfc_hardware",
            totals.tofino.map_or_else(|| "null".into(), |stats| bfc::hardware(simulation, &stats)),
        ),
        ("elision", elision::elision(simulation)),
        ("sfc", totals.sfc.map_or_else(|| "null".into(), |counts| sfc(&counts, &totals.signals))),
        ("homa", homa::homa(simulation)),
        ("flowtune", flowtune(simulation)),
        ("expresspass", expresspass::expresspass(simulation)),
        ("drops_packets", totals.drops.to_string()),
        ("dropped", dropped(simulation, &ports)),
        ("trimmed_packets", totals.trimmed.to_string()),
        ("returned_headers", totals.returned.to_string()),
        ("control_drops_packets", totals.control_drops.to_string()),
        ("marked_packets", totals.marks.to_string()),
        ("control_frames_lost", totals.control_lost.to_string()),
        ("packets", packets(simulation, &totals)),
        ("retransmitted_packets", totals.retransmitted.to_string()),
        ("timeouts", totals.timeouts.to_string()),
        ("transport", transport(simulation)),
        ("utilisation", utilisation(simulation, &ports)),
        ("load", load(simulation, context, &ports)),
        ("monitors", array(simulation.monitors().iter().map(monitor))),
        ("link_delays", array(simulation.link_delays().iter().map(link_delays))),
        ("packet_hops", progress.packet_hops.to_string()),
        ("flows_started", progress.flows_started.to_string()),
        ("flows_finished", progress.flows_finished.to_string()),
        ("sim_ps", progress.sim_ps.to_string()),
        ("measured_ps", simulation.measured().0.to_string()),
        ("warmup_ps", context.plan.warmup.0.to_string()),
        ("warnings", array(warnings(simulation, context).iter().map(|text| json_string(text)))),
    ])
}

/// Sizes of data packets.
fn frame(simulation: &Simulation) -> String {
    let hosts = &simulation.setup().hosts;
    object(&[
        ("payload_bytes", hosts.frame.payload.0.to_string()),
        ("overhead_bytes", hosts.overhead().to_string()),
    ])
}

/// What only transports with selective acknowledgements count.
fn transport(simulation: &Simulation) -> String {
    if !simulation.setup().hosts.recovery.reports_losses() {
        return "null".into();
    }
    let repeated = simulation.partitions().iter().map(|part| part.hosts().repeated());
    object(&[("spurious_retransmissions", repeated.sum::<u64>().to_string())])
}

/// What all ports lost in the measured time, beside what hosts sent.
fn dropped(simulation: &Simulation, ports: &[PortRow]) -> String {
    let seconds = simulation.measured().seconds();
    let packets: u64 = ports.iter().map(|port| port.drops).sum();
    let bytes: u64 = ports.iter().map(|port| port.drop_bytes).sum();
    let of_hosts = ports.iter().filter(|port| port.link.starts_with("host-"));
    let sent: u64 = of_hosts.map(|port| port.tx_bytes).sum();
    let rate = |bytes: u64| number(bytes as f64 * 8.0 / seconds);
    object(&[
        ("packets", packets.to_string()),
        ("bytes", bytes.to_string()),
        ("bps", rate(bytes)),
        ("hosts_sent_bytes", sent.to_string()),
        ("hosts_sent_bps", rate(sent)),
        ("share", number(bytes as f64 / sent as f64)),
    ])
}

/// Data packets over the whole run, and which shares of those sent were sent again or lost.
fn packets(simulation: &Simulation, totals: &Totals) -> String {
    let payload = simulation.setup().hosts.frame.payload.0;
    let of_hosts = |hosts: &xoff_host::Hosts| {
        let flows = hosts.alive().filter(|flow| !flow.open);
        hosts.stats.finished_packets + flows.map(|flow| flow.snd_una.div_ceil(payload)).sum::<u64>()
    };
    let arrived: u64 = simulation.partitions().iter().map(|part| of_hosts(part.hosts())).sum();
    let share = |count: u64| number(count as f64 / (arrived + totals.retransmitted) as f64);
    object(&[
        ("acknowledged", arrived.to_string()),
        ("retransmitted_share", share(totals.retransmitted)),
        ("dropped_share", share(totals.drops)),
    ])
}

/// Measured flows under way.
fn outstanding(simulation: &Simulation) -> String {
    let Outstanding { middle, end } = simulation.outstanding();
    object(&[("middle", middle.to_string()), ("end", end.to_string())])
}

/// Mean bytes that wait at all ports of switches, by the layers their links join.
fn backlog(simulation: &Simulation) -> String {
    let backlog = simulation.backlog();
    let mut fields: Vec<_> = backlog.means().map(|(kind, mean)| (kind, number(mean))).collect();
    fields.push(("upstream_share", optional(backlog.upstream_share())));
    object(&fields)
}

/// Counters over all switches and hosts.
struct Totals {
    drops: u64,
    control_drops: u64,
    trimmed: u64,
    returned: u64,
    marks: u64,
    pauses: u64,
    control_lost: u64,
    retransmitted: u64,
    timeouts: u64,
    signals: SignalStats,
    bfc: Option<BfcStats>,
    tofino: Option<TofinoStats>,
    sfc: Option<SfcCounts>,
}

impl Totals {
    fn of(simulation: &Simulation) -> Self {
        let mut totals = Self {
            drops: 0,
            control_drops: 0,
            trimmed: 0,
            returned: 0,
            marks: 0,
            pauses: 0,
            control_lost: 0,
            retransmitted: 0,
            timeouts: 0,
            signals: SignalStats::default(),
            bfc: None,
            tofino: None,
            sfc: None,
        };
        for partition in simulation.partitions() {
            let streams = partition.hosts().flowtune_stats().map(|(_, streams)| streams);
            let of_streams: u64 = streams.into_iter().flatten().map(|sent| sent.repeated).sum();
            totals.retransmitted += partition.hosts().stats.retransmitted - of_streams;
            totals.timeouts += partition.hosts().stats.timeouts;
            totals.signals.merge(&partition.hosts().stats.signals);
            for (_, switch) in partition.switches() {
                totals.drops += switch.stats().drops;
                totals.control_drops += switch.stats().control_drops;
                totals.trimmed += switch.stats().trimmed;
                totals.returned += switch.stats().returned;
                totals.marks += switch.stats().marks;
                totals.pauses += switch.stats().pauses;
                totals.control_lost += switch.stats().control_lost;
                if let Some(stats) = switch.hop().and_then(AnyHop::bfc_stats) {
                    totals.bfc.get_or_insert_default().add(&stats);
                }
                match switch.hop() {
                    Some(AnyHop::Sfc(sfc)) => totals.sfc.get_or_insert_default().add(sfc),
                    Some(AnyHop::Tofino(tofino)) => {
                        totals.tofino.get_or_insert_default().add(&tofino.hardware_stats());
                    }
                    _ => {}
                }
            }
        }
        totals
    }
}

fn slowdowns(group: &Slowdowns) -> Vec<(&'static str, String)> {
    vec![
        ("flows", group.flows().to_string()),
        ("finished", group.finished().to_string()),
        ("mean", optional(group.mean())),
        ("p50", optional(group.quantile(0.5))),
        ("p95", optional(group.quantile(0.95))),
        ("p99", optional(group.quantile(0.99))),
        ("p999", optional(group.quantile(0.999))),
    ]
}

fn classes(simulation: &Simulation) -> String {
    let endless = simulation.endless_acked();
    let of_flows = simulation.endless_flows();
    let seconds = simulation.measured().seconds();
    let class = |(index, (class, acked)): (usize, (&ClassResults, &u64))| {
        let own = of_flows.iter().filter(|flow| usize::from(flow.class) == index);
        let rates = own.map(|flow| flow.acked as f64 * 8.0 / seconds);
        let least = rates.clone().reduce(f64::min);
        let most = rates.clone().reduce(f64::max);
        let bins = class.bins.iter().enumerate().map(|(index, group)| {
            let low = if index == 0 { 0 } else { BIN_EDGES[index - 1] };
            let mut fields = vec![
                ("low_bytes", low.to_string()),
                ("high_bytes", optional(BIN_EDGES.get(index))),
            ];
            fields.extend(slowdowns(group));
            object(&fields)
        });
        let ranges: Vec<(&str, String)> = RANGES
            .iter()
            .zip(&class.ranges)
            .map(|(range, group)| (range.0, object(&slowdowns(group))))
            .collect();
        object(&[
            ("class", json_string(&class.name)),
            ("flows", class.all.flows().to_string()),
            ("finished", class.all.finished().to_string()),
            ("unfinished", (class.all.flows() - class.all.finished()).to_string()),
            ("bins", array(bins)),
            ("ranges", object(&ranges)),
            ("all", object(&slowdowns(&class.all))),
            ("endless_goodput_bps", number(*acked as f64 * 8.0 / seconds)),
            ("endless_flows", rates.count().to_string()),
            ("endless_least_bps", optional(least)),
            ("endless_most_bps", optional(most)),
        ])
    };
    array(simulation.classes().iter().zip(&endless).enumerate().map(class))
}

fn cdf(distribution: &Distribution) -> String {
    array(distribution.cdf().into_iter().map(|(value, share)| format!("[{value}, {share}]")))
}

fn buffer(distribution: &Distribution, max: u64, more: &[(&'static str, String)]) -> String {
    let mut fields = vec![
        ("p50_bytes", optional(distribution.quantile(0.5))),
        ("p90_bytes", optional(distribution.quantile(0.9))),
        ("p99_bytes", optional(distribution.quantile(0.99))),
        ("p999_bytes", optional(distribution.quantile(0.999))),
        ("max_bytes", max.to_string()),
        ("mean_bytes", number(distribution.mean())),
        ("cdf", cdf(distribution)),
    ];
    fields.extend_from_slice(more);
    object(&fields)
}

fn watermarks(found: &Watermarks) -> String {
    let run_max = ("run_max_bytes", found.run_max().to_string());
    buffer(found.measured(), found.measured_max(), &[run_max])
}

fn throughput(found: &Throughput) -> String {
    let distribution = found.distribution();
    if distribution.count() == 0 {
        return "null".into();
    }
    object(&[
        ("interval_ps", found.interval().0.to_string()),
        ("p50_bps", optional(distribution.quantile(0.5))),
        ("p95_bps", optional(distribution.quantile(0.95))),
        ("p99_bps", optional(distribution.quantile(0.99))),
        ("mean_bps", number(distribution.mean())),
        ("cdf", cdf(distribution)),
    ])
}

fn distribution_cdf(distribution: &Distribution) -> String {
    if distribution.count() == 0 {
        return "null".into();
    }
    object(&[
        ("mean", number(distribution.mean())),
        ("max", distribution.max().to_string()),
        ("cdf", cdf(distribution)),
    ])
}

/// What SFC did, over all switches; peaks are those of the switch with most.
#[derive(Clone, Copy, Default)]
struct SfcCounts {
    stats: SfcStats,
    filter_peak: usize,
    false_positives: u64,
    cache_peak: usize,
    cache_collisions: u64,
}

impl SfcCounts {
    fn add(&mut self, switch: &Sfc) {
        self.stats.add(&switch.stats);
        self.filter_peak = self.filter_peak.max(switch.filter_peak());
        self.false_positives += switch.false_positives();
        self.cache_peak = self.cache_peak.max(switch.cache_peak());
        self.cache_collisions += switch.cache_collisions();
    }
}

fn sfc(counts: &SfcCounts, signals: &SignalStats) -> String {
    let stats = &counts.stats;
    let share = |part: u64, whole: u64| number(part as f64 / whole as f64);
    object(&[
        ("bts_triggered", stats.triggered.to_string()),
        ("bts_suppressed", stats.suppressed.to_string()),
        ("bts_suppressed_share", share(stats.suppressed, stats.triggered)),
        ("bts_sent", stats.sent.to_string()),
        ("bts_from_cache", stats.sent_near_source.to_string()),
        ("bts_from_cache_share", share(stats.sent_near_source, stats.sent)),
        ("bts_bytes", stats.sent_bytes.to_string()),
        ("bts_to_pfc", stats.converted.to_string()),
        ("filter_peak", counts.filter_peak.to_string()),
        ("false_positives", counts.false_positives.to_string()),
        ("cache_peak", counts.cache_peak.to_string()),
        ("cache_collisions", counts.cache_collisions.to_string()),
        ("signals_heard", signals.count.to_string()),
        ("signal_delay_mean_ps", share(signals.sum_ps, signals.count)),
        ("signal_delay_max_ps", signals.max_ps.to_string()),
    ])
}

/// What Flowtune's allocators and servers did in the measured time.
fn flowtune(simulation: &Simulation) -> String {
    let Some(counts) = simulation.flowtune() else { return "null".into() };
    let FlowtuneCounts { allocators, agents, streams: [to, from, between] } = counts;
    let share = |part: u64, whole: u64| number(part as f64 / whole as f64);
    object(&[
        ("iterations", allocators.iterations.to_string()),
        ("active_flowlets_mean", share(allocators.active_flowlets, allocators.iterations)),
        ("flowlets", agents.flowlets.to_string()),
        ("joined_flows", agents.joined.to_string()),
        ("rates_sent", allocators.rates.to_string()),
        ("rates_per_flowlet", share(allocators.rates, allocators.flowlets)),
        ("rates_received", agents.rates.to_string()),
        ("renewals", allocators.renewals.to_string()),
        ("expiries", agents.expiries.to_string()),
        ("fallbacks", agents.fallbacks.to_string()),
        ("to_allocator", stream(simulation, &to)),
        ("from_allocator", stream(simulation, &from)),
        ("between_allocators", stream(simulation, &between)),
    ])
}

/// What was sent in one direction between servers and allocators. Shares are of the network's
/// capacity: that of all servers' links, one way.
fn stream(simulation: &Simulation, sent: &StreamStats) -> String {
    let (_, capacity) = simulation.setup().topology.capacities();
    let possible = capacity.0 as f64 * simulation.measured().seconds() / 8.0;
    object(&[
        ("messages", sent.messages.to_string()),
        ("message_bytes", sent.message_bytes.to_string()),
        ("packets", sent.packets.to_string()),
        ("wire_bytes", sent.wire_bytes.to_string()),
        ("capacity_share", number(sent.wire_bytes as f64 / possible)),
        ("ack_wire_bytes", sent.ack_wire_bytes.to_string()),
        ("ack_capacity_share", number(sent.ack_wire_bytes as f64 / possible)),
        ("repeated_packets", sent.repeated.to_string()),
        ("timeouts", sent.timeouts.to_string()),
        ("lost_on_purpose", sent.lost.to_string()),
    ])
}

/// What PFC did, or the pauses of switches with ingress queues; all zero under any other hop control.
fn pauses(simulation: &Simulation, ports: &[PortRow], totals: &Totals) -> String {
    let switch = &simulation.setup().switch;
    let pfc = switch.hop.pauses_classes() || switch.architecture.has_ingress_queues();
    let shares = paused_shares(simulation, if pfc { ports } else { &[] });
    object(&[
        ("pause_frames", if pfc { totals.pauses } else { 0 }.to_string()),
        ("pause_time_share", shares.0),
        ("pause_time_share_by_link", shares.1),
    ])
}

/// Share of the measured time in which links had a paused queue: all links, and by kind.
fn paused_shares(simulation: &Simulation, ports: &[PortRow]) -> (String, String) {
    let measured = simulation.measured().0.max(1) as f64;
    let share = |kind: Option<&str>| {
        let chosen = ports.iter().filter(|port| kind.is_none_or(|kind| port.link == kind));
        let (sum, count) =
            chosen.fold((0.0, 0u64), |(sum, count), port| (sum + port.paused_ps as f64, count + 1));
        number(sum / (measured * count.max(1) as f64))
    };
    let by_link: Vec<(&str, String)> =
        kinds(ports).into_iter().map(|kind| (kind, share(Some(kind)))).collect();
    (share(None), object(&by_link))
}

/// Whether a kind of link joins servers to switches, or else switches of a data centre.
fn is_of(link: &str, of_hosts: bool) -> bool {
    let of_neither = link.contains("attached") || link.contains("gateway");
    link.contains("host") == of_hosts && !of_neither
}

/// Share of capacity in use, over links between switches, over hosts' links, and by kind.
fn utilisation(simulation: &Simulation, ports: &[PortRow]) -> String {
    let seconds = simulation.measured().seconds();
    let share = |of: &dyn Fn(&str) -> bool| {
        let chosen = ports.iter().filter(|port| of(&port.link));
        let (sent, possible) = chosen.fold((0.0, 0.0), |(sent, possible), port| {
            (sent + port.tx_bytes as f64 * 8.0, possible + port.rate_bps as f64 * seconds)
        });
        if possible > 0.0 { number(sent / possible) } else { "null".into() }
    };
    let by_link: Vec<(&str, String)> =
        kinds(ports).into_iter().map(|kind| (kind, share(&|link| link == kind))).collect();
    object(&[
        ("core", share(&|link| is_of(link, false))),
        ("hosts", share(&|link| is_of(link, true))),
        ("by_link", object(&by_link)),
    ])
}

/// The kinds of links, such as `leaf-spine`, in the order of their names.
fn kinds(ports: &[PortRow]) -> Vec<&str> {
    let mut kinds: Vec<&str> = ports.iter().map(|port| port.link.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn payload_load(simulation: &Simulation, context: &Context) -> f64 {
    let capacity = context.load_capacity.0 as f64;
    simulation.payload_measured() as f64 * 8.0 / simulation.measured().seconds() / capacity
}

fn load(simulation: &Simulation, context: &Context, ports: &[PortRow]) -> String {
    let seconds = simulation.measured().seconds();
    let core = ports.iter().any(|port| is_of(&port.link, false));
    let chosen = ports.iter().filter(|port| is_of(&port.link, !core));
    let (sent, possible) = chosen.fold((0.0, 0.0), |(sent, possible), port| {
        (sent + port.tx_bytes as f64 * 8.0, possible + port.rate_bps as f64 * seconds)
    });
    object(&[
        ("nominal", number(context.nominal_load)),
        ("payload", number(payload_load(simulation, context))),
        ("wire", number(sent / possible)),
    ])
}

fn monitor(monitor: &MonitorResults) -> String {
    object(&[
        ("name", json_string(&monitor.name)),
        ("utilisation", number(monitor.utilisation)),
        ("delay_p50_ps", optional(monitor.delays.quantile(0.5))),
        ("delay_p99_ps", optional(monitor.delays.quantile(0.99))),
        ("queue_mean_bytes", number(monitor.bytes.mean())),
        ("queue_p99_bytes", optional(monitor.bytes.quantile(0.99))),
        ("queue_max_bytes", monitor.bytes.max().to_string()),
    ])
}

fn link_delays(found: &LinkDelays) -> String {
    let delays = &found.delays;
    object(&[
        ("link", json_string(&found.link)),
        ("packets", json_string(found.packets)),
        ("count", delays.count().to_string()),
        ("mean_ps", number(delays.mean())),
        ("p50_ps", optional(delays.quantile(0.5))),
        ("p95_ps", optional(delays.quantile(0.95))),
        ("p99_ps", optional(delays.quantile(0.99))),
        ("max_ps", delays.max().to_string()),
    ])
}

fn warnings(simulation: &Simulation, context: &Context) -> Vec<String> {
    let mut warnings = Vec::new();
    let (nominal, realised) = (context.nominal_load, payload_load(simulation, context));
    if nominal > 0.0 && !context.fills && (realised / nominal - 1.0).abs() > 0.05 {
        warnings.push(format!(
            "realised load {:.1} % differs from nominal {:.1} % by more than 5 %: measure for longer",
            realised * 100.0,
            nominal * 100.0
        ));
    }
    for class in simulation.classes() {
        let unfinished = class.all.flows() - class.all.finished();
        if unfinished > 0 {
            warnings.push(format!(
                "{unfinished} of {} flows of class {} did not finish within the drain time; they \
                 count as infinitely slow",
                class.all.flows(),
                class.name
            ));
        }
    }
    warnings.extend(requests::warnings(simulation));
    warnings
}
