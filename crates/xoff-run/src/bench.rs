//! Named benchmark cases, `SCHEME-TRAFFIC-HOSTS`: each scheme under four traffics in four networks,
//! if they can be combined.

pub mod stress;

use std::time::Instant;

use xoff_scenario::diagnostic::Problems;
use xoff_sim::Threads;
use xoff_sim::speed_up::SpeedUp;

use crate::run::Run;

const SCHEMES: [&str; 20] = [
    "dctcp",
    "dcqcn",
    "hpcc",
    "powertcp",
    "bfc",
    "bfc-srf",
    "pfc",
    "ideal-fq",
    "sfc",
    "irn",
    "tcp-newreno",
    "tcp-cubic",
    "tcp-dctcp",
    "pfabric",
    "sfqcodel",
    "xcp",
    "flowtune",
    "homa",
    "homa-ecmp",
    "expresspass",
];

const TRAFFICS: [&str; 4] = ["hadoop", "google", "permutation", "incast"];

/// The flows of a permutation have no end, but BFC-SRF uses the bytes left until the end.
fn go_together(scheme: &str, traffic: &str) -> bool {
    (scheme, traffic) != ("bfc-srf", "permutation")
}

/// The shape of a network.
#[derive(Clone, Copy)]
enum Shape {
    /// BFC's leaf-spine fabric (§6.2.1): 128 hosts, and half of the hosts' capacity in the core.
    Bfc,
    /// A leaf-spine fabric like SFC's (§5.3), with 16 leaves of 32 hosts and 8 spines at four times
    /// the hosts' rate: the core has the same capacity as the hosts.
    Sfc { leaves: u64, spines: u64, hosts_per_leaf: u64 },
    /// A full-bisection fat-tree of this k.
    FatTree(u64),
}

const SFC: Shape = Shape::Sfc { leaves: 16, spines: 8, hosts_per_leaf: 32 };
const SMALL_SFC: Shape = Shape::Sfc { leaves: 4, spines: 2, hosts_per_leaf: 8 };

/// A network and the duration of its load.
struct Network {
    shape: Shape,
    /// Duration of arrivals.
    arrivals_us: u64,
    /// Duration of a permutation, in which all hosts send all the time.
    permutation_us: u64,
}

const fn network(shape: Shape, arrivals_us: u64, permutation_us: u64) -> Network {
    Network { shape, arrivals_us, permutation_us }
}

/// By the number of hosts in case names: the network, and its replacement in tests.
const NETWORKS: [(u32, Network, Network); 5] = [
    (128, network(Shape::Bfc, 10_000, 5_000), network(Shape::Bfc, 40, 40)),
    (512, network(SFC, 1_000, 500), network(SMALL_SFC, 80, 40)),
    (1024, network(Shape::FatTree(16), 1_000, 500), network(Shape::FatTree(4), 150, 100)),
    (8192, network(Shape::FatTree(32), 100, 60), network(Shape::FatTree(8), 40, 40)),
    (65_536, network(Shape::FatTree(64), 20, 10), network(Shape::FatTree(8), 20, 20)),
];

impl Network {
    fn hosts(&self) -> u64 {
        match self.shape {
            Shape::Bfc => 128,
            Shape::Sfc { leaves, hosts_per_leaf, .. } => leaves * hosts_per_leaf,
            Shape::FatTree(k) => k.pow(3) / 4,
        }
    }

    fn core_gbps(&self) -> u64 {
        match self.shape {
            Shape::Bfc => 6_400,
            _ => self.hosts() * 100,
        }
    }

    /// Load on the core links.
    fn load_percent(&self) -> u64 {
        match self.shape {
            Shape::Bfc => 60,
            Shape::Sfc { .. } => 50,
            Shape::FatTree(_) => 30,
        }
    }

    /// The shape, and the wait for the last flows. In a large network the wait would cost more time
    /// than it is worth.
    fn lines(&self) -> String {
        match self.shape {
            Shape::Bfc => "network.topology = \"leaf-spine\"\n".into(),
            Shape::Sfc { leaves, spines, hosts_per_leaf } => format!(
                "network.topology = \"leaf-spine\"\nrun.drain = \"2ms\"\n\
                 leaf_spine.leaves = {leaves}\nleaf_spine.spines = {spines}\n\
                 leaf_spine.hosts_per_leaf = {hosts_per_leaf}\n\
                 leaf_spine.spine_rate = \"400Gbps\"\nleaf_spine.spine_delay = \"1500ns\"\n"
            ),
            Shape::FatTree(k) => {
                format!("network.topology = \"fat-tree\"\nfat_tree.k = {k}\nrun.drain = \"2ms\"\n")
            }
        }
    }
}

/// A traffic in a network, as lines of a scenario.
fn traffic(name: &str, network: &Network) -> Option<String> {
    Some(match name {
        "hadoop" | "google" => open_loop(name, network.load_percent(), network.arrivals_us),
        "permutation" => permutation(network.permutation_us),
        "incast" => incast(network),
        _ => return None,
    })
}

fn open_loop(sizes: &str, load_percent: u64, arrivals_us: u64) -> String {
    format!(
        "run.measure = \"{arrivals_us}us\"\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"{sizes}\"\nload = 0.{load_percent:02}\n\
         arrivals = \"lognormal\"\nstop = \"{arrivals_us}us\"\n"
    )
}

fn permutation(us: u64) -> String {
    format!("run.measure = \"{us}us\"\n[[traffic]]\nkind = \"permutation\"\n")
}

/// BFC's mix (§6.2.2): incasts of 200 KB from each of 100 senders at 5 % of load in this network,
/// over a background with the rest of the load.
fn incast(network: &Network) -> String {
    const PERCENT: u64 = 5;
    let degree = (network.hosts() - 1).min(100);
    let bytes = degree * 200_000;
    let period_ps = bytes * 8 * 1000 * 100 / PERCENT / network.core_gbps();
    let background = open_loop("hadoop", network.load_percent() - PERCENT, network.arrivals_us);
    format!(
        "{background}[[traffic]]\nkind = \"incast\"\ndegree = {degree}\nbytes = \"{bytes}B\"\n\
         period = \"{period_ps}ps\"\nstop = \"{}us\"\n",
        network.arrivals_us
    )
}

/// The form of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The case of `xoff bench`.
    Full,
    /// Microseconds of the case in a small network, for tests.
    Small,
}

/// All cases, such as `bfc-google-128`, the smallest network first.
#[must_use]
pub fn bench_cases() -> Vec<String> {
    let mut cases = Vec::new();
    for (hosts, ..) in &NETWORKS {
        for traffic in TRAFFICS {
            let schemes = SCHEMES.iter().filter(|scheme| go_together(scheme, traffic));
            cases.extend(schemes.map(|scheme| format!("{scheme}-{traffic}-{hosts}")));
        }
    }
    cases
}

/// The scenario of a case, also of [`stress`].
#[must_use]
pub fn scenario(case: &str, size: Size) -> Option<String> {
    if let Some(text) = stress::scenario(case, size) {
        return Some(text);
    }
    let (rest, hosts) = case.rsplit_once('-')?;
    let (scheme, name) = rest.rsplit_once('-')?;
    SCHEMES.iter().find(|known| **known == scheme && go_together(scheme, name))?;
    let (_, full, small) = NETWORKS.iter().find(|network| network.0.to_string() == hosts)?;
    let network = if size == Size::Full { full } else { small };
    let (shape, traffic) = (network.lines(), traffic(name, network)?);
    Some(format!(
        "name = \"{case}\"\nscheme = \"{scheme}\"\n{shape}\
         run.warmup = \"0us\"\nrun.flows = \"none\"\n{traffic}"
    ))
}

fn unknown(case: &str) -> String {
    let hosts = NETWORKS.map(|network| network.0.to_string()).join(", ");
    format!(
        "unknown case {case:?}: a case is SCHEME-TRAFFIC-HOSTS, such as bfc-google-128; schemes \
         are {}, traffics {}, hosts {hosts}",
        SCHEMES.join(", "),
        TRAFFICS.join(", ")
    )
}

/// Why a case has no figures.
#[derive(Debug)]
pub enum BenchError {
    /// There is no such case.
    Unknown(String),
    /// Its scenario is refused.
    Refused(Problems),
    /// Its run is stuck.
    Stuck(String),
}

/// Runs a case and returns its figures as JSON. A packet-hop is one packet of any kind on one link.
/// If the threads are modelled, the times are estimates.
///
/// # Errors
/// If there is no such case, its scenario is refused, or its run is stuck.
pub fn bench(case: &str, threads: Threads) -> Result<String, BenchError> {
    let text = scenario(case, Size::Full).ok_or_else(|| BenchError::Unknown(unknown(case)))?;
    let resident_before = memory("VmRSS:");
    let begin = Instant::now();
    let mut run = Run::open(&text, case, &[], threads).map_err(BenchError::Refused)?;
    let build_s = begin.elapsed().as_secs_f64();
    let resident_built = memory("VmRSS:");
    let begin = Instant::now();
    while run.step().map_err(BenchError::Stuck)? {
        run.rows().samples.clear();
    }
    let took_s = begin.elapsed().as_secs_f64();
    let model = run.simulation().speed_up();
    let wall_s = model.map_or(took_s, |model| model.estimate_s(took_s));
    let peak = memory("VmHWM:");
    let progress = run.progress();
    let partitions = run.simulation().partitions().iter();
    let flows_at_once: usize = partitions.map(|part| part.hosts().flow_slots()).sum();
    let hosts = run.simulation().setup().topology.servers();
    let fields = [
        ("case", format!("\"{case}\"")),
        ("hosts", hosts.to_string()),
        ("packet_hops", progress.packet_hops.to_string()),
        ("flows", progress.flows_finished.to_string()),
        ("build_s", format!("{build_s:.6}")),
        ("wall_s", format!("{wall_s:.6}")),
        ("ns_per_packet_hop", ratio(wall_s * 1e9, progress.packet_hops)),
        ("ns_per_flow", ratio(wall_s * 1e9, progress.flows_finished)),
        ("peak_rss_bytes", peak.map_or("null".into(), |bytes| bytes.to_string())),
        ("bytes_per_idle_host", growth(resident_before, resident_built, hosts.into())),
        ("bytes_per_active_flow", growth(resident_built, peak, flows_at_once as u64)),
        ("threads", model.map_or(run.simulation().threads(), |model| model.threads).to_string()),
        ("digest", format!("\"{:016x}\"", run.digest())),
    ];
    let estimated = model.map_or_else(Vec::new, |model| estimated(model, took_s));
    let fields = fields.into_iter().chain(estimated);
    let fields: Vec<_> = fields.map(|(key, value)| format!("\"{key}\": {value}")).collect();
    Ok(format!("{{{}}}", fields.join(", ")))
}

/// What an estimate rests on: the time on one thread, the share of it that stays on one thread, and
/// the mean share of the threads at work while they simulate.
fn estimated(model: &SpeedUp, took_s: f64) -> Vec<(&'static str, String)> {
    let serial = 1.0 - model.work.as_secs_f64() / took_s;
    let slots = model.critical_hops.max(1) as f64 * model.threads as f64;
    vec![
        ("one_thread_s", format!("{took_s:.6}")),
        ("serial_share", format!("{serial:.4}")),
        ("balance", format!("{:.4}", model.hops as f64 / slots)),
        ("windows", model.windows.to_string()),
    ]
}

/// A quotient as JSON, which has no infinity.
fn ratio(sum: f64, count: u64) -> String {
    if count == 0 { "null".into() } else { format!("{:.2}", sum / count as f64) }
}

/// Growth of memory per item, for `count` items.
fn growth(before: Option<u64>, after: Option<u64>, count: u64) -> String {
    match (before, after) {
        (Some(before), Some(after)) => ratio(after.saturating_sub(before) as f64, count),
        _ => "null".into(),
    }
}

/// Resident memory of this process in bytes, now (`VmRSS:`) or at most so far (`VmHWM:`), if the
/// system reports it (Linux).
fn memory(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
