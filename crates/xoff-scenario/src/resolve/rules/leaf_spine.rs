//! Load balancers that work between leaves and spines only.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_core::{HostId, NodeId};
use xoff_net::topo::{Port, Topology};

use crate::resolve::reader::Reader;
use crate::resolve::spec::Spec;

/// A load balancer may need leaves and spines, and number the links of a leaf.
pub(super) fn check(spec: &Spec, topology: &Topology, reader: &mut Reader<'_>) {
    if !spec.balance.needs_leaf_spine() {
        return;
    }
    if let Some(found) = unlike_leaf_spine(topology) {
        let message = format!(
            "balance = {} requires a network of leaves, which have hosts, and spines, which have \
             none: {found}; set network.topology = \"leaf-spine\", or switch.balance = \
             \"letflow\", which works in any network",
            spec.switch.balance.show()
        );
        return reader.problem_at(&[("switch", "balance"), ("network", "topology")], message);
    }
    let is_uplink = |port: &&Port| !topology.is_host(topology.neighbour(port));
    let uplinks = |leaf| topology.ports_of(leaf).iter().filter(is_uplink).count();
    let leaves = topology.switch_ids().filter(|&node| is_leaf(topology, node));
    if let Err((key, message)) = spec.balance.check_uplinks(leaves.map(uplinks).max().unwrap_or(0))
    {
        reader.problem(spec.balance.own_section(), key, message);
    }
}

/// What distinguishes a network from leaves and spines; none if nothing does.
fn unlike_leaf_spine(topology: &Topology) -> Option<String> {
    let has_links = |host: &HostId| topology.ports_of(host.node()).len() > 1;
    if let Some(host) = topology.host_ids().find(has_links) {
        return Some(format!("host {} has several links", topology.name(host.node())));
    }
    let ports = topology.switch_ids().flat_map(|node| topology.ports_of(node));
    let joined = ports.map(|port| [port.node, topology.neighbour(port)]);
    let is_alike = |ends: &[NodeId; 2]| {
        !topology.is_host(ends[1]) && is_leaf(topology, ends[0]) == is_leaf(topology, ends[1])
    };
    joined.into_iter().find(is_alike).map(|ends| {
        let [one, other] = ends.map(|node| topology.name(node));
        let tier = if is_leaf(topology, ends[0]) { "leaves" } else { "spines" };
        format!("a link joins the {tier} {one} and {other}")
    })
}

fn is_leaf(topology: &Topology, node: NodeId) -> bool {
    let ports = topology.ports_of(node);
    !topology.is_host(node) && ports.iter().any(|port| topology.is_host(topology.neighbour(port)))
}
