//! The load that the flows of a scenario offer to each kind of link.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use xoff_core::Ps;
use xoff_net::topo::Port;
use xoff_sim::Setup;
use xoff_sim::simulation::Plan;
use xoff_workload::{After, Arrival, ENDLESS, Traffic};

/// The most flows that are drawn.
const MOST_FLOWS: u64 = 1_000_000;

/// The load of one kind of link, one way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkLoad {
    /// The number of links.
    pub links: u32,
    /// Offered bytes over what the links can carry in the time.
    pub mean: f64,
    /// The same of the links of the busiest host. Paths between switches are not drawn, so only
    /// hosts' links have it.
    pub busiest: Option<f64>,
    /// That host.
    pub busiest_host: Option<u32>,
}

/// What the flows that begin in the measured time would send, in bytes on the wire without
/// acknowledgements, over what links carry in that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OfferedLoad {
    /// Begin of the time.
    pub from_ps: u64,
    /// Its end: that of the measured time, or earlier if very many flows begin.
    pub until_ps: u64,
    /// Flows that are counted.
    pub flows: u64,
    /// Flows without a size, or that begin when another one has ended: they take what they get.
    pub flows_of_any_rate: u64,
    /// Jobs, such as collectives, whose messages depend on each other.
    pub jobs: u64,
    /// By the layers that links join, in the direction of the flows.
    pub by_link: BTreeMap<String, LinkLoad>,
}

impl OfferedLoad {
    /// Draws the flows.
    pub(super) fn of(setup: &Setup, plan: &Plan, mut traffic: Traffic) -> Self {
        let (from, end) = (plan.warmup, plan.measured_until());
        let mut load = Self { from_ps: from.0, until_ps: end.0, ..Self::default() };
        load.jobs = traffic.jobs().len() as u64;
        let mut bytes = vec![0; setup.topology.ports().len()];
        let mut drawn = Vec::new();
        // Flows that begin at one time are few, those of a long run may fill the memory.
        while let Some(start) = traffic.next_start().filter(|&start| start < end) {
            if traffic.issued() >= MOST_FLOWS {
                load.until_ps = start.0.max(from.0);
                break;
            }
            traffic.take_before(Ps(start.0 + 1), &mut drawn);
            drawn.iter().for_each(|arrival| load.count(setup, from, arrival, &mut bytes));
            drawn.clear();
        }
        load.add_up(setup, &bytes);
        load
    }

    fn count(&mut self, setup: &Setup, from: Ps, arrival: &Arrival, bytes: &mut [u64]) {
        let any_rate = arrival.bytes == ENDLESS
            || arrival.stop != Ps::NEVER
            || matches!(arrival.after, Some(After::End { .. }));
        if any_rate {
            // Also those of the warm-up, which go on.
            self.flows_of_any_rate += 1;
        } else if arrival.start >= from {
            self.flows += 1;
            let packets = arrival.bytes.div_ceil(setup.hosts.frame.payload.0);
            let wire = arrival.bytes + packets * u64::from(setup.hosts.overhead());
            for port in setup.routes.first_path(&setup.topology, arrival.src, arrival.dst) {
                bytes[port.index()] += wire;
            }
        }
    }

    fn add_up(&mut self, setup: &Setup, bytes: &[u64]) {
        let topology = &setup.topology;
        let time_ps = (self.until_ps - self.from_ps) as f64;
        let carries = |rate: u64| rate as f64 / 8e12 * time_ps;
        let mut of_links: BTreeMap<String, (u32, Sum)> = BTreeMap::new();
        let mut of_hosts: BTreeMap<(String, u32), Sum> = BTreeMap::new();
        for (port, &sent) in topology.ports().iter().zip(bytes) {
            let (links, sum) = of_links.entry(topology.link_name(port)).or_default();
            *links += 1;
            sum.add(sent, carries(port.rate.0));
            if let Some(host) = host_of(setup, port) {
                let sum = of_hosts.entry((topology.link_name(port), host)).or_default();
                sum.add(sent, carries(port.rate.0));
            }
        }
        for (link, (links, sum)) in of_links {
            let load = LinkLoad { links, mean: sum.share(), busiest: None, busiest_host: None };
            self.by_link.insert(link, load);
        }
        for ((link, host), sum) in of_hosts {
            let Some(load) = self.by_link.get_mut(&link) else { continue };
            if load.busiest.is_none_or(|busiest| sum.share() > busiest) {
                (load.busiest, load.busiest_host) = (Some(sum.share()), Some(host));
            }
        }
    }

    /// As comments of TOML.
    pub(super) fn text(&self) -> String {
        let Self { from_ps, until_ps, flows, flows_of_any_rate, jobs, .. } = self;
        if until_ps == from_ps {
            return format!("# Load: not counted, more than {MOST_FLOWS} flows begin before it.\n");
        }
        let mut text = format!(
            "# Load offered from {} to {} by {flows} flows, as a share of the links (bytes on the \
             wire,\n# without acknowledgements):\n",
            Ps(*from_ps),
            Ps(*until_ps)
        );
        for (link, load) in &self.by_link {
            let _ = write!(text, "#   {link} = {:.3} of {} links", load.mean, load.links);
            if let (Some(busiest), Some(host)) = (load.busiest, load.busiest_host) {
                let _ = write!(text, ", {busiest:.3} of the busiest, that of host {host}");
            }
            text.push('\n');
        }
        if *flows_of_any_rate > 0 {
            let _ = writeln!(
                text,
                "#   not counted: {flows_of_any_rate} flows that send as much as they can"
            );
        }
        if *jobs > 0 {
            let noun = if *jobs == 1 { "job" } else { "jobs" };
            let _ = writeln!(text, "#   not counted: the messages of {jobs} {noun}");
        }
        text
    }
}

/// Bytes of some links, and what they can carry.
#[derive(Default)]
struct Sum {
    sent: u64,
    carried: f64,
}

impl Sum {
    fn add(&mut self, sent: u64, carried: f64) {
        self.sent += sent;
        self.carried += carried;
    }

    fn share(&self) -> f64 {
        self.sent as f64 / self.carried.max(f64::MIN_POSITIVE)
    }
}

/// The host at an end of a port's link.
fn host_of(setup: &Setup, port: &Port) -> Option<u32> {
    let ends = [port.node, setup.topology.neighbour(port)];
    let host = ends.into_iter().find(|&node| setup.topology.is_host(node))?;
    Some(setup.topology.given_number(host))
}
