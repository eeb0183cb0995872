//! Iterations until rates are equal after a flowlet has started or ended.

use std::collections::BTreeMap;

use xoff_alloc::{Allocator, FlowId, LinkId};
use xoff_allocator::{Config, Topology};
use xoff_control::EndpointId;

const SENDERS: u32 = 8;
/// "Converged" means that all rates are this close to an equal share.
const BAND: f64 = 0.02;
/// Far more iterations than a change needs.
const BETWEEN: u32 = 50;

/// A receiver, number 0, and senders around one switch.
fn switch(settings: &str) -> Config {
    let mut text = format!("listen = \"10.0.0.99:4300\"\n{settings}\n");
    text += "[network]\nkind = \"big-switch\"\nrate = \"1Gbps\"\n";
    for id in 0..=SENDERS {
        let address = format!("10.0.0.{}:4301", id + 1);
        text += &format!("[[endpoint]]\nid = {id}\naddress = \"{address}\"\nkey = \"a\"\n");
    }
    Config::parse(&text).unwrap()
}

/// The iterations from a change until the rates that are reported are, and stay, equal.
fn settle(allocator: &mut Allocator, reported: &mut BTreeMap<FlowId, f64>) -> u32 {
    let fair = allocator.usable(LinkId(1)).unwrap() / reported.len() as f64;
    let mut settled = None;
    for iteration in 1..=BETWEEN {
        allocator.iterate();
        for (flow, rate) in allocator.changed_rates() {
            reported.insert(flow, rate);
        }
        let is_fair = reported.values().all(|rate| (rate / fair - 1.0).abs() <= BAND);
        settled = if is_fair { settled.or(Some(iteration)) } else { None };
    }
    settled.expect("rates become equal")
}

/// Senders start one after another, then end: the iterations after each change.
fn changes(config: &Config) -> Vec<u32> {
    let topology = Topology::new(&config.network, &config.endpoints).unwrap();
    let capacities: Vec<f64> = topology.links().iter().map(|link| link.capacity).collect();
    let mut allocator = Allocator::new(&capacities, config.optimizer()).unwrap();
    let (mut reported, mut flows, mut found) = (BTreeMap::new(), Vec::new(), Vec::new());
    for sender in 1..=SENDERS {
        let ends = (EndpointId(sender), EndpointId(0));
        let add = |links: &[LinkId]| allocator.add_flow(links, 1.0).unwrap();
        flows.push(topology.with_path(ends, 0, add).unwrap());
        reported.insert(flows[flows.len() - 1], 0.0);
        found.push(settle(&mut allocator, &mut reported));
    }
    for flow in &flows[..flows.len() - 1] {
        allocator.remove_flow(*flow).unwrap();
        reported.remove(flow);
        found.push(settle(&mut allocator, &mut reported));
    }
    found
}

#[test]
fn rates_around_a_switch_are_equal_within_three_iterations() {
    let found = changes(&switch(""));
    assert!(found.iter().all(|&iterations| iterations <= 3), "{found:?}");
    // With the paper's step, the price of the full link falls too slowly after an end.
    let found = changes(&switch("gamma = 0.4"));
    assert_eq!(found, [2, 4, 2, 2, 2, 2, 2, 2, 5, 5, 5, 7, 6, 6, 6]);
}

/// Rates of a flow that is alone on full links, after many iterations.
fn alone(links: u32, gamma: f64) -> Vec<f64> {
    let config = xoff_alloc::Config { gamma, ..xoff_alloc::Config::default() };
    let mut allocator = Allocator::new(&vec![1.0; links as usize], config).unwrap();
    let path: Vec<LinkId> = (0..links).map(LinkId).collect();
    let flow = allocator.add_flow(&path, 1.0).unwrap();
    let rates = (0..200).map(|_| {
        allocator.iterate();
        allocator.rate(flow).unwrap()
    });
    rates.skip(100).collect()
}

#[test]
fn the_step_depends_on_the_links_of_a_path() {
    let four = switch("").optimizer().gamma;
    let is_steady = |rates: Vec<f64>| rates.iter().all(|rate| (rate - 0.99).abs() < 1e-6);
    assert!(is_steady(alone(2, four)));
    assert!(!is_steady(alone(4, four)));
    let clos = "listen = \"10.0.0.9:4300\"\n\
                [network]\nkind = \"clos\"\nrate = \"1Gbps\"\nspines = 2\nspine_rate = \"1Gbps\"\n\
                [[endpoint]]\nid = 0\naddress = \"10.0.0.1:1\"\nkey = \"a\"\nrack = 0\n";
    assert!(is_steady(alone(4, Config::parse(clos).unwrap().optimizer().gamma)));
}

/// A path of links of 1 Gbit/s from endpoint 0 to endpoint 1.
fn chain(links: u32, settings: &str) -> Result<Config, String> {
    let names: Vec<String> = (0..links).map(|link| format!("l{link}")).collect();
    let rates: Vec<String> = names.iter().map(|name| format!("{name} = \"1Gbps\"")).collect();
    let mut text = format!("listen = \"10.0.0.99:4300\"\n{settings}\n");
    text += &format!("[network]\nkind = \"paths\"\nlinks = {{ {} }}\n", rates.join(", "));
    text += &format!("paths = [{{ from = 0, to = 1, links = {names:?} }}]\n");
    for id in 0..2 {
        let address = format!("10.0.0.{id}:4301");
        text += &format!("[[endpoint]]\nid = {id}\naddress = \"{address}\"\nkey = \"a\"\n");
    }
    Config::parse(&text)
}

#[test]
fn rates_on_long_paths_settle() {
    let is_steady = |rates: Vec<f64>| rates.iter().all(|rate| (rate - 0.99).abs() < 1e-6);
    for links in [1, 2, 4, 6, 10, 30] {
        let gamma = chain(links, "").unwrap().optimizer().gamma;
        assert!(is_steady(alone(links, gamma)), "{links} links with {gamma}");
    }
    assert!(!is_steady(alone(6, 0.4)));
    let error = chain(5, "gamma = 0.4").unwrap_err();
    assert!(error.contains("`gamma` = 0.4") && error.contains("5 links"), "{error}");
    assert!(error.contains("below 0.400"), "{error}");
    let below = chain(5, "gamma = 0.36").unwrap();
    assert!(is_steady(alone(5, below.optimizer().gamma)));
}
