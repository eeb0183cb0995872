//! Partitioning of a network, and the number of useful threads.
//!
//! Results depend on neither.

use xoff_core::{NodeId, Ps};
use xoff_net::topo::{Routes, Topology};

use crate::setup::Setup;

/// With this many hosts per thread, each thread gets two partitions, for load balancing.
const HOSTS_FOR_TWO_PARTS: usize = 256;

/// Rough cost of a packet over four links including its acknowledgement, and of a synchronisation
/// of the threads at the end of a window (ns). Only the magnitude matters.
const PACKET_NS: u128 = 800;
const MEETING_NS: u128 = 500;

/// Number of threads to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// Maximum number of threads, at least one.
    pub count: usize,
    /// For tests: each thread waits before each window for up to this many microseconds, drawn from
    /// this seed, so that threads meet in different orders.
    pub jitter: Option<(u64, u64)>,
    /// Run on one thread, and count what `count` threads would gain.
    pub modelled: bool,
}

impl Threads {
    /// One thread.
    pub const ONE: Self = Self { count: 1, jitter: None, modelled: false };

    /// At most this many threads.
    #[must_use]
    pub fn up_to(count: usize) -> Self {
        Self { count: count.max(1), ..Self::ONE }
    }
}

/// The partitioning of a network.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The partition of each node.
    pub(crate) of_node: Vec<u32>,
    /// Delay of the shortest link between two partitions: the minimum delay of their messages.
    pub(crate) lookahead: Ps,
    /// Number of useful threads.
    pub(crate) threads: usize,
    /// The reason for fewer threads than requested.
    pub(crate) note: Option<String>,
}

impl Cut {
    /// Divides a network into `parts` partitions, or into a number suited to the threads if `parts`
    /// is 0.
    pub(crate) fn new(setup: &Setup, parts: usize, threads: usize) -> Self {
        let (topology, routes) = (&setup.topology, &setup.routes);
        let racks = racks(topology, routes);
        let whole = |why: &str| Self {
            of_node: vec![0; topology.nodes() as usize],
            lookahead: Ps::NEVER,
            threads: 1,
            note: (threads > 1).then(|| format!("one thread is used: {why}")),
        };
        if setup.is_in_one_order() && parts <= 1 {
            return whole("events have one order over all switches, as in the HPCC simulator");
        }
        if racks == 1 && parts == 0 {
            return whole("all hosts are attached to one switch, so the network cannot be divided");
        }
        let wanted = if parts > 0 {
            parts.min(racks)
        } else {
            good_number(topology.servers(), racks, threads)
        };
        if wanted == 1 {
            return whole("the network is one partition (run.partitions)");
        }
        let mut of_node = cut(topology, routes, wanted);
        keep_together(setup, &mut of_node);
        let lookahead = lookahead(topology, &of_node);
        let useful = threads.min(wanted);
        let cut = Self { of_node, lookahead, threads: useful, note: None };
        if useful > 1 && work_ns(topology, lookahead) / (useful as u128) < 10 * MEETING_NS {
            let why = format!(
                "the shortest link between partitions is {lookahead}, too short for parallel work"
            );
            return if parts > 0 {
                Self { threads: 1, note: Some(format!("one thread is used: {why}")), ..cut }
            } else {
                whole(&why)
            };
        }
        let note = (useful < threads).then(|| {
            format!(
                "{useful} threads are used: the network has {wanted} partitions and {racks} racks"
            )
        });
        Self { note, ..cut }
    }

    /// Number of partitions.
    pub(crate) fn parts(&self) -> usize {
        self.of_node.iter().max().map_or(1, |&last| last as usize + 1)
    }
}

/// Two partitions per thread in large networks, otherwise one: messages between partitions cost
/// more than those within one.
fn good_number(hosts: u32, racks: usize, threads: usize) -> usize {
    let large = hosts as usize >= threads * HOSTS_FOR_TWO_PARTS;
    let parts = if threads > 1 && large { 2 * threads } else { threads };
    if parts <= racks { parts } else { racks.min(threads) }
}

/// The work of a period in which all hosts send.
fn work_ns(topology: &Topology, time: Ps) -> u128 {
    let (_, hosts) = topology.capacities();
    let packets = u128::from(hosts.0) * u128::from(time.0) / (8 * 1000 * 1_000_000_000_000);
    packets * PACKET_NS
}

/// Assigns each node to a partition. Switches with hosts, and their hosts, are assigned in blocks.
/// Every other switch joins the partition with most of its links to lower layers; ties go to the
/// partition with the fewest such switches so far.
fn cut(topology: &Topology, routes: &Routes, parts: usize) -> Vec<u32> {
    let racks = racks(topology, routes);
    let mut of_node = vec![u32::MAX; topology.nodes() as usize];
    for host in topology.server_ids() {
        let rack = routes.group_of(host) as usize;
        let part = (rack * parts / racks) as u32;
        let switch = topology.neighbour(topology.port_of_host(host));
        of_node[host.index()] = part;
        of_node[switch.index()] = part;
    }
    let mut others: Vec<NodeId> =
        topology.switch_ids().filter(|node| of_node[node.index()] == u32::MAX).collect();
    others.sort_by_key(|&node| topology.tier(node));
    let mut dealt = vec![0usize; parts];
    for node in others {
        let mut links = vec![0usize; parts];
        for port in topology.ports_of(node) {
            let part = of_node[topology.neighbour(port).index()];
            if part != u32::MAX {
                links[part as usize] += 1;
            }
        }
        let best = (0..parts).min_by_key(|&part| (std::cmp::Reverse(links[part]), dealt[part]));
        let best = best.unwrap_or(0);
        dealt[best] += 1;
        of_node[node.index()] = best as u32;
    }
    of_node
}

/// Keeps an allocator and all its NICs in one partition: that of the first NIC's switch.
fn keep_together(setup: &Setup, of_node: &mut [u32]) {
    for site in setup.flowtune.iter().flat_map(|flowtune| &flowtune.sites) {
        let port = setup.topology.port_of_host(site.nics.start);
        let switch = setup.topology.neighbour(port);
        let part = of_node[switch.index()];
        site.nic_ids().for_each(|nic| of_node[nic.index()] = part);
    }
}

/// Number of switches with servers; groups of servers come before those of other hosts.
fn racks(topology: &Topology, routes: &Routes) -> usize {
    let groups = routes.groups()[..topology.servers() as usize].iter();
    groups.max().map_or(1, |&last| last as usize + 1)
}

/// Delay of the shortest link between two partitions.
fn lookahead(topology: &Topology, of_node: &[u32]) -> Ps {
    let between = topology.ports().iter().filter(|port| {
        let other = topology.neighbour(port);
        of_node[port.node.index()] != of_node[other.index()]
    });
    between.map(|port| port.delay).min().unwrap_or(Ps::NEVER)
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{FatTreeConfig, LeafSpineConfig, fat_tree, leaf_spine};

    use super::*;

    #[test]
    fn half_a_leaf_spine_fabric_has_half_of_its_leaves_and_spines() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let of_node = cut(&topology, &routes, 2);
        assert!((0..64).all(|host| of_node[host] == 0) && (64..128).all(|host| of_node[host] == 1));
        assert_eq!(of_node[128..144].iter().filter(|&&part| part == 0).count(), 8);
        assert_eq!(of_node[136..144].iter().filter(|&&part| part == 0).count(), 4);
        assert_eq!(lookahead(&topology, &of_node), Ps::from_us(1));
    }

    #[test]
    fn a_fat_tree_is_cut_between_its_pods() {
        let topology = fat_tree(&FatTreeConfig { k: 8, ..FatTreeConfig::default() }).unwrap();
        let routes = Routes::new(&topology).unwrap();
        let of_node = cut(&topology, &routes, 4);
        for port in topology.ports() {
            let peer = topology.neighbour(port);
            let core = [port.node, peer].iter().any(|&node| topology.tier(node) == 3);
            assert!(core || of_node[port.node.index()] == of_node[peer.index()]);
        }
        let cores = |part| {
            let in_part = |node: &NodeId| of_node[node.index()] == part;
            topology.switch_ids().filter(|&node| topology.tier(node) == 3).filter(in_part).count()
        };
        assert_eq!([0, 1, 2, 3].map(cores), [4; 4]);
    }

    #[test]
    fn parts_are_a_multiple_of_the_threads_and_no_more_than_racks() {
        let found = [(128, 8, 1), (128, 8, 3), (128, 8, 64), (1024, 128, 2), (8192, 512, 1)]
            .map(|(hosts, racks, threads)| good_number(hosts, racks, threads));
        assert_eq!(found, [1, 3, 8, 4, 1]);
    }
}
