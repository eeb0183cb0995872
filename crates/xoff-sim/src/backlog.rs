//! Backlog: the bytes in port queues, by the layers that the ports' links connect.

use xoff_core::{NodeId, PortId};
use xoff_net::topo::Topology;

/// Bytes in the queues of all ports of each kind, sampled and summed.
#[derive(Clone, Debug)]
pub struct Backlog {
    /// The kinds of links, such as `leaf-spine`, in alphabetical order.
    kinds: Vec<String>,
    /// The kind of each port's link, as an index into `kinds`.
    kind_of: Vec<u8>,
    /// Index of each node's first port.
    first_port: Vec<PortId>,
    sums: Vec<u64>,
    samples: u64,
}

impl Backlog {
    /// Creates it without samples.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let names: Vec<String> =
            topology.ports().iter().map(|port| topology.link_name(port)).collect();
        let mut kinds = names.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let index = |name: &String| kinds.binary_search(name).unwrap_or(0) as u8;
        let kind_of = names.iter().map(index).collect();
        let sums = vec![0; kinds.len()];
        let first_port = topology.node_ids().map(|node| topology.first_port(node)).collect();
        Self { kinds, kind_of, first_port, sums, samples: 0 }
    }

    /// Begins a sample of all ports.
    pub fn begin_sample(&mut self) {
        self.samples += 1;
    }

    /// Adds the bytes in a port's queues.
    #[inline]
    pub fn add(&mut self, node: NodeId, port: u16, bytes: u64) {
        let kind = self.kind_of[self.first_port[node.index()].index() + usize::from(port)];
        self.sums[kind as usize] += bytes;
    }

    /// Mean total bytes at all ports of each kind, for kinds of switch ports.
    pub fn means(&self) -> impl Iterator<Item = (&str, f64)> {
        let samples = self.samples.max(1) as f64;
        let of_switches = |(kind, _): &(&String, &u64)| {
            !kind.starts_with("host-") && !kind.starts_with("attached-")
        };
        let found = self.kinds.iter().zip(&self.sums).filter(of_switches);
        found.map(move |(kind, &sum)| (kind.as_str(), sum as f64 / samples))
    }

    /// Fraction of the backlog at links between switches, as opposed to hosts' links; `None` if the
    /// backlog is empty.
    #[must_use]
    pub fn upstream_share(&self) -> Option<f64> {
        let sum = |of_hosts: bool| {
            let chosen = self.means().filter(|(kind, _)| kind.ends_with("-host") == of_hosts);
            chosen.map(|(_, mean)| mean).sum::<f64>()
        };
        let (upstream, last) = (sum(false), sum(true));
        (upstream + last > 0.0).then(|| upstream / (upstream + last))
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::topo::{LeafSpineConfig, leaf_spine};

    use super::*;

    #[test]
    fn bytes_are_counted_by_kind_of_link() {
        let topology = leaf_spine(&LeafSpineConfig::default()).unwrap();
        let mut backlog = Backlog::new(&topology);
        for (to_host, up, down) in [(100, 20, 3), (300, 0, 1)] {
            backlog.begin_sample();
            backlog.add(NodeId(128), 0, to_host);
            backlog.add(NodeId(129), 15, to_host);
            backlog.add(NodeId(128), 16, up);
            backlog.add(NodeId(136), 7, down);
        }
        let found: Vec<_> = backlog.means().collect();
        assert_eq!(backlog.upstream_share(), Some(12.0 / 412.0));
        assert_eq!(found, [("leaf-host", 400.0), ("leaf-spine", 10.0), ("spine-leaf", 2.0)]);
    }
}
