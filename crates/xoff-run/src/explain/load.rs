//! The load that the flows of a scenario offer to each kind of link.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use xoff_core::{HostId, PortId, Ps};
use xoff_net::topo::Port;
use xoff_sim::Setup;
use xoff_sim::simulation::Plan;
use xoff_workload::{After, Arrival, ENDLESS, Traffic};

/// Flows are drawn until this number has begun.
const MOST_FLOWS: u64 = 1_000_000;

/// The load of one kind of link, one way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkLoad {
    /// The number of links.
    pub links: u32,
    /// Offered bytes over what the links can carry in the time.
    pub mean: f64,
    /// The same of the busiest link. Paths between switches are not drawn, so only hosts' links
    /// have it.
    pub busiest: Option<f64>,
    /// The node at its end that is not a switch.
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
        // Flows that begin at one time are few. Those of a long run may fill the memory.
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
            add(setup, (arrival.src, arrival.dst), wire, bytes);
        }
    }

    fn add_up(&mut self, setup: &Setup, bytes: &[u64]) {
        let topology = &setup.topology;
        let time_ps = (self.until_ps - self.from_ps) as f64;
        let carries = |rate: u64| rate as f64 / 8e12 * time_ps;
        let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
        for (port, &sent) in topology.ports().iter().zip(bytes) {
            let sum = sums.entry(topology.link_name(port)).or_default();
            *sum = (sum.0 + sent, sum.1 + carries(port.rate.0));
            let load = self.by_link.entry(topology.link_name(port)).or_insert(LinkLoad {
                links: 0,
                mean: 0.0,
                busiest: None,
                busiest_host: None,
            });
            load.links += 1;
            let own = sent as f64 / carries(port.rate.0).max(f64::MIN_POSITIVE);
            if let Some(host) = host_of(setup, port)
                && load.busiest.is_none_or(|busiest| own > busiest)
            {
                (load.busiest, load.busiest_host) = (Some(own), Some(host));
            }
        }
        for (link, (sent, capacity)) in sums {
            if let Some(load) = self.by_link.get_mut(&link) {
                load.mean = sent as f64 / capacity.max(f64::MIN_POSITIVE);
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

/// Adds a flow to the ports on its path: in equal parts to links of hosts that it may take, and
/// whole to the first choices of switches.
fn add(setup: &Setup, (src, dst): (HostId, HostId), wire: u64, bytes: &mut [u64]) {
    let topology = &setup.topology;
    let (from, to) = (links_of(setup, src, dst), links_of(setup, dst, src));
    let (part_from, part_to) = (wire / from.len() as u64, wire / to.len() as u64);
    from.for_each(|port| bytes[port.index()] += part_from);
    to.for_each(|port| bytes[topology.port(port).peer.index()] += part_to);
    for port in setup.routes.first_path(topology, src, dst).skip(1) {
        if topology.far_end(port) != dst.node() {
            bytes[port.index()] += wire;
        }
    }
}

/// The links of a host on shortest paths to another one, by their ports at the host.
fn links_of(setup: &Setup, host: HostId, to: HostId) -> impl ExactSizeIterator<Item = PortId> + '_ {
    let numbers = match setup.routes.ports_of_host(host, to) {
        [] => &[0],
        numbers => numbers,
    };
    numbers.iter().map(move |&number| setup.topology.port_at(host.node(), number))
}

/// The host at an end of a port's link.
fn host_of(setup: &Setup, port: &Port) -> Option<u32> {
    let ends = [port.node, setup.topology.neighbour(port)];
    let host = ends.into_iter().find(|&node| setup.topology.is_host(node))?;
    Some(setup.topology.given_number(host))
}
