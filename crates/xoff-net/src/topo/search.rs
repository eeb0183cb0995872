//! Searches for the cheapest paths between switches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::repeat_n;

use xoff_core::PortId;

use super::{NextHops, Port, Topology};
use crate::balance::wcmp;

/// The switches on which the hosts of a group hang. For a host with several links, each with its
/// port at the switch.
pub(super) type Ends = Vec<(usize, Option<u16>)>;

/// A link of a switch to another one. Switches are counted from 0 here.
pub(super) struct SwitchLink {
    /// The switch at the other end.
    pub(super) to: u32,
    /// The port number at this one.
    pub(super) port: u16,
    cost: u16,
    /// Bit/s.
    rate: u64,
}

/// The links between switches alone.
pub(super) struct SwitchLinks {
    /// Switch by switch.
    links: Vec<SwitchLink>,
    /// Index of each switch's first link; one more entry than switches.
    first: Vec<usize>,
    pub(super) order: NextHops,
    /// See [`Topology::weighted`].
    pub(super) weighted: Option<u32>,
    /// Whether every link costs 1.
    is_even: bool,
}

/// What a search from the ends of a group finds for each switch.
pub(super) struct Search {
    /// The cost of its paths to the nearest end, or [`FAR`].
    pub(super) costs: Vec<u32>,
    /// Its place in the order in which switches are found.
    pub(super) places: Vec<u32>,
    /// All switches that are found, in this order.
    found: Vec<u32>,
}

/// The cost where there is no path.
pub(super) const FAR: u32 = u32::MAX;

impl SwitchLinks {
    /// All links except those of these ports.
    pub(super) fn new(topology: &Topology, without: &[PortId]) -> Self {
        let order = topology.next_hops;
        let weighted = topology.weighted;
        let mut found = Self { links: Vec::new(), first: vec![0], order, weighted, is_even: true };
        for node in topology.switch_ids() {
            for (own, port) in topology.port_ids_of(node).zip(topology.ports_of(node)) {
                let next = topology.neighbour(port);
                if !topology.is_host(next) && !without.contains(&own) {
                    let to = topology.switch_index(next) as u32;
                    let &Port { number: port, cost, rate, .. } = port;
                    found.links.push(SwitchLink { to, port, cost, rate: rate.0 });
                    found.is_even &= cost == 1;
                }
            }
            let links = &mut found.links[found.first[found.first.len() - 1]..];
            order.sort(links, |link| link.to);
            found.first.push(found.links.len());
        }
        found
    }

    fn of(&self, switch: usize) -> &[SwitchLink] {
        &self.links[self.first[switch]..self.first[switch + 1]]
    }

    /// The links on the cheapest paths from a switch.
    pub(super) fn nearer<'a>(
        &'a self,
        switch: usize,
        costs: &'a [u32],
    ) -> impl Iterator<Item = &'a SwitchLink> {
        let cost = costs[switch];
        let leads = move |link: &&SwitchLink| {
            costs[link.to as usize].checked_add(link.cost.into()) == Some(cost)
        };
        self.of(switch).iter().filter(leads)
    }

    pub(super) fn search(&self, ends: &Ends) -> Search {
        let switches = self.first.len() - 1;
        let costs = vec![FAR; switches];
        let mut search = Search { costs, places: vec![FAR; switches], found: Vec::new() };
        if self.is_even {
            self.search_by_links(ends, &mut search);
        } else {
            self.search_by_cost(ends, &mut search);
        }
        for (place, &switch) in search.found.iter().enumerate() {
            search.places[switch as usize] = place as u32;
        }
        search
    }

    /// A breadth-first search: all links cost 1.
    fn search_by_links(&self, ends: &Ends, Search { costs, found, .. }: &mut Search) {
        for &(end, _) in ends {
            if costs[end] == FAR {
                costs[end] = 0;
                found.push(end as u32);
            }
        }
        let mut next = 0;
        while let Some(&switch) = found.get(next) {
            next += 1;
            let cost = costs[switch as usize] + 1;
            for link in self.of(switch as usize) {
                if costs[link.to as usize] == FAR {
                    costs[link.to as usize] = cost;
                    found.push(link.to);
                }
            }
        }
    }

    /// Dijkstra's search. Of two switches at the same cost, the first reached is found first.
    fn search_by_cost(&self, ends: &Ends, Search { costs, found, .. }: &mut Search) {
        let mut waiting = BinaryHeap::new();
        let mut order = 0u64;
        let mut reach = |cost: u32, switch: usize, costs: &mut [u32]| {
            let is_cheaper = cost < costs[switch];
            is_cheaper.then(|| costs[switch] = cost);
            order += 1;
            is_cheaper.then_some(Reverse((cost, order, switch as u32)))
        };
        for &(end, _) in ends {
            waiting.extend(reach(0, end, costs));
        }
        while let Some(Reverse((cost, _, switch))) = waiting.pop() {
            // It was reached again, at a lower cost.
            if cost > costs[switch as usize] {
                continue;
            }
            found.push(switch);
            for link in self.of(switch as usize) {
                waiting.extend(reach(cost + u32::from(link.cost), link.to as usize, costs));
            }
        }
    }

    /// The fewest and the most links of the paths from each switch to the nearest end.
    pub(super) fn lengths(&self, search: &Search) -> (Vec<u16>, Vec<u16>) {
        if self.is_even {
            let links = |&cost: &u32| u16::try_from(cost).unwrap_or(u16::MAX);
            let links: Vec<u16> = search.costs.iter().map(links).collect();
            return (links.clone(), links);
        }
        let mut fewest = vec![u16::MAX; search.costs.len()];
        let mut most = fewest.clone();
        for &switch in &search.found {
            let switch = switch as usize;
            let nearer = || self.nearer(switch, &search.costs).map(|link| link.to as usize);
            fewest[switch] = nearer().map(|to| fewest[to] + 1).min().unwrap_or(0);
            most[switch] = nearer().map(|to| most[to] + 1).max().unwrap_or(0);
        }
        (fewest, most)
    }

    /// The capacities of switches towards the nearest ends.
    pub(super) fn capacities(&self, search: &Search) -> Capacities {
        let switches = search.costs.len();
        let mut found = Capacities { of: vec![0; switches], shared: vec![0; switches] };
        let nearer = |&switch: &u32| self.nearer(switch as usize, &search.costs);
        for link in search.found.iter().flat_map(nearer) {
            found.shared[link.to as usize] += u128::from(link.rate);
        }
        for switch in &search.found {
            found.of[*switch as usize] = match search.costs[*switch as usize] {
                0 => u64::MAX,
                _ => nearer(switch).map(|link| found.towards(link)).sum(),
            };
        }
        found
    }

    /// The ports of these links, as often as routes have them.
    pub(super) fn entries<'a>(
        &self,
        links: &'a [&SwitchLink],
        capacities: &Capacities,
    ) -> impl Iterator<Item = u16> + 'a {
        let entries = match self.weighted {
            None => vec![1; links.len()],
            Some(most) => {
                let towards = links.iter().map(|link| capacities.towards(link));
                wcmp::entries(&towards.collect::<Vec<_>>(), most)
            }
        };
        links.iter().zip(entries).flat_map(|(link, n)| repeat_n(link.port, n as usize))
    }
}

/// The capacities of switches towards the nearest ends of a search.
#[derive(Default)]
pub(super) struct Capacities {
    /// By switch, the sum over its links (bit/s). An end has any capacity.
    of: Vec<u64>,
    /// By switch, the rates of all links that lead over it (bit/s).
    shared: Vec<u128>,
}

impl Capacities {
    /// The capacity that a link leads to (bit/s): its rate, but no more than its share of the
    /// capacity of the switch behind it. All links over that switch share it in proportion to their
    /// rates.
    pub(super) fn towards(&self, link: &SwitchLink) -> u64 {
        let behind = link.to as usize;
        let share = u128::from(self.of[behind]) * u128::from(link.rate) / self.shared[behind];
        link.rate.min(u64::try_from(share).unwrap_or(u64::MAX))
    }
}
