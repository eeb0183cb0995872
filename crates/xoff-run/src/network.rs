//! The network of a scenario, as pictures need it: nodes, links, and what fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use xoff_core::{NodeId, Ps};
use xoff_net::topo::Topology;
use xoff_scenario::Resolved;
use xoff_sim::faults::{Defect, Fault};

/// A network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// The name of the scenario.
    pub name: String,
    /// All nodes: hosts, then switches.
    pub nodes: Vec<Node>,
    /// All links, each once.
    pub links: Vec<Link>,
    /// Rows, columns and planes of the switches, which are numbered row by row and plane by plane;
    /// none if they are no grid.
    pub grid: Option<[u32; 3]>,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its label if it has one; otherwise a host's number, and a switch's layer and number.
    pub name: String,
    /// The name of its layer.
    pub layer: &'static str,
}

/// A link, the same in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The nodes that it joins, by their places among nodes.
    pub ends: [u32; 2],
    /// Rate each way.
    pub rate_bps: u64,
    /// Propagation delay; of two directions with different latencies of switches, the shorter one.
    pub delay_ps: u64,
    /// The same with units.
    pub speed: String,
    /// Its faults in words, such as `down from 2ms to 3ms`.
    pub faults: Vec<String>,
}

impl Network {
    /// The network of a scenario.
    pub(crate) fn of(resolved: &Resolved) -> Self {
        let topology = &resolved.setup.topology;
        let numbers = topology.numbers();
        let node = |id: NodeId| Node {
            name: match topology.label(id) {
                Some(label) => label.to_owned(),
                None if topology.is_host(id) => topology.given_number(id).to_string(),
                None => format!("{}:{}", topology.layer(id), numbers[id.index()]),
            },
            layer: topology.layer(id),
        };
        Self {
            name: resolved.name.clone(),
            nodes: topology.node_ids().map(node).collect(),
            links: links(topology, &resolved.setup.faults),
            grid: topology.grid,
        }
    }

    /// All of it as a JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        crate::summary::json::json(self)
    }
}

/// All links, in the order of the first of their ports.
fn links(topology: &Topology, faults: &[Fault]) -> Vec<Link> {
    let faults = faults_of_links(topology, faults);
    let first = |id: &_| *id < topology.port(*id).peer;
    let link = |id| {
        let port = topology.port(id);
        let back = topology.port(port.peer);
        let delay = port.delay.min(back.delay);
        Link {
            ends: [port.node.0, back.node.0],
            rate_bps: port.rate.0,
            delay_ps: delay.0,
            speed: format!("{}, {delay}", port.rate),
            faults: faults.get(&id).map(|of_link| in_words(of_link)).unwrap_or_default(),
        }
    };
    topology.port_ids().filter(first).map(link).collect()
}

/// The faults of each faulty link, by the first of its ports, in the order in which they begin.
fn faults_of_links<'a>(
    topology: &Topology,
    faults: &'a [Fault],
) -> BTreeMap<xoff_core::PortId, Vec<&'a Fault>> {
    let mut found: BTreeMap<_, Vec<&Fault>> = BTreeMap::new();
    for fault in faults {
        let mut links: Vec<_> =
            fault.ports.iter().map(|&port| port.min(topology.port(port).peer)).collect();
        links.sort_unstable();
        links.dedup();
        for link in links {
            found.entry(link).or_default().push(fault);
        }
    }
    found.values_mut().for_each(|faults| faults.sort_by_key(|fault| fault.at));
    found
}

/// One text for each defect of a link. `faults` have the order in which they begin.
fn in_words(faults: &[&Fault]) -> Vec<String> {
    let mut by_defect: Vec<(String, &Fault, usize)> = Vec::new();
    for fault in faults {
        let what = defect(&fault.defect);
        match by_defect.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, _, times)) => *times += 1,
            None => by_defect.push((what, fault, 1)),
        }
    }
    let text = |(what, first, times): (String, &Fault, usize)| {
        let mut text = match times {
            1 => format!("{what} from {}", first.at),
            _ => format!("{what} {times} times, first from {}", first.at),
        };
        if first.until != Ps::NEVER {
            let _ = write!(text, " to {}", first.until);
        }
        text
    };
    by_defect.into_iter().map(text).collect()
}

fn defect(defect: &Defect) -> String {
    match defect {
        Defect::Down { .. } => "down".into(),
        Defect::Gone => "missing".into(),
        Defect::HostDown => "host down".into(),
        Defect::Loss(_) => "loses packets".into(),
        Defect::Degraded(rate) => format!("works at {rate}"),
    }
}

#[cfg(test)]
mod tests {
    use xoff_scenario::read;
    use xoff_sim::Threads;

    use super::*;

    fn network(text: &str) -> Network {
        let resolved = read(text, "test.toml", &[], Threads::ONE.into())
            .unwrap_or_else(|problems| panic!("{problems}"));
        Network::of(&resolved)
    }

    const FLOW: &str = "scheme = \"dctcp\"\n[transport]\ntimeout = \"1ms\"\n[run]\n\
                        measure = \"4ms\"\n[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\n";

    #[test]
    fn nodes_are_named_and_each_link_occurs_once() {
        let found =
            network(&format!("{FLOW}[leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n"));
        let names: Vec<_> = found.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names[..6], ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(names[6..], ["leaf:0", "leaf:1", "spine:0", "spine:1"]);
        let of_switches = found.links.iter().filter(|link| link.ends[0] >= 6);
        let ends: Vec<_> = of_switches.map(|link| link.ends).collect();
        assert_eq!((found.links.len(), &ends[..]), (10, &[[6, 8], [6, 9], [7, 8], [7, 9]][..]));
        assert_eq!((found.links[0].speed.as_str(), found.grid), ("100Gbps, 1us", None));
    }

    #[test]
    fn faults_are_told_in_words() {
        let faults = "[[fault]]\nkind = \"flap\"\nlink = \"leaf:0,spine:1\"\nat = \"1ms\"\n\
                      period = \"1ms\"\ndown = \"100us\"\nuntil = \"4ms\"\n\
                      [[fault]]\nkind = \"loss\"\nlink = \"leaf:0,spine:1\"\nat = \"2ms\"\n\
                      keep_pauses = true\n";
        let found = network(&format!("{FLOW}{faults}"));
        let faulty: Vec<_> = found.links.iter().filter(|link| !link.faults.is_empty()).collect();
        let names = faulty[0].ends.map(|end| found.nodes[end as usize].name.as_str());
        assert_eq!((faulty.len(), names), (1, ["leaf:0", "spine:1"]));
        let texts = ["down 3 times, first from 1ms to 1100us", "loses packets from 2ms"];
        assert_eq!(faulty[0].faults, texts);
    }

    #[test]
    fn the_first_fault_of_a_link_is_the_earliest() {
        let down = |times: &str| {
            format!("[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:1\"\n{times}")
        };
        let late = down("at = \"3ms\"\n");
        let found = network(&format!("{FLOW}{late}{}", down("at = \"1ms\"\nuntil = \"2ms\"\n")));
        let faulty = found.links.iter().find(|link| !link.faults.is_empty()).unwrap();
        assert_eq!(faulty.faults, ["down 2 times, first from 1ms to 2ms"]);
    }

    #[test]
    fn a_torus_is_a_grid() {
        let torus = "[network]\ntopology = \"torus\"\n[torus]\nrows = 3\ncolumns = 4\n";
        assert_eq!(network(&format!("{FLOW}{torus}")).grid, Some([3, 4, 1]));
    }
}
