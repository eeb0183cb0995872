//! Traffic that loads all links of a fabric equally.

use crate::common::run;
use xoff_scenario::Run;
use xoff_sim::Threads;

const SCENARIO: &str = r#"
scheme = "ideal-fq"
leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
run = { warmup = "200us", measure = "6ms", flows = "none" }
[[traffic]]
kind = "open-loop"
arrivals = "poisson"
sizes = "websearch"
load = 0.4
"#;

/// Bytes sent by ports of a kind of link, as a share of their capacity.
fn load(run: &Run, link: &str) -> f64 {
    let ports = run.ports();
    let of_link: Vec<_> = ports.iter().filter(|port| port.link == link).collect();
    let sent: u64 = of_link.iter().map(|port| port.tx_bytes).sum();
    sent as f64 * 8.0 / (of_link.len() as f64 * 100e9 * run.simulation().measured().seconds())
}

/// At 2:1 half of the flows leave their rack, and every kind of link carries the same load, with
/// headers and acknowledgements.
#[test]
fn balanced_traffic_loads_all_links_alike() {
    let (run, _) = run(SCENARIO, &["traffic.0.locality=balanced"]);
    assert!(run.effective().contains("traffic.0.share_leaving_racks = 0.5"));
    let kinds = ["host-leaf", "leaf-host", "leaf-spine", "spine-leaf"];
    let loads = kinds.map(|link| load(&run, link));
    let mean = loads.iter().sum::<f64>() / 4.0;
    assert!(loads.iter().all(|load| (load / mean - 1.0).abs() < 0.1), "{loads:?}");
    assert!((0.35..0.55).contains(&mean), "{mean}");
}

/// Uniform traffic loads a host's link with less than a core link.
#[test]
fn uniform_traffic_does_not() {
    let (run, _) = run(SCENARIO, &[]);
    assert!(load(&run, "host-leaf") < 0.7 * load(&run, "leaf-spine"));
}

#[test]
fn where_nothing_can_balance_it_is_refused() {
    let with_part = ["traffic.0.locality=balanced", "traffic.0.senders=0-3"];
    let with_star = ["traffic.0.locality=balanced", "network.topology=star"];
    for (overrides, said) in [(with_part, "needs all hosts to send"), (with_star, "leaf-spine")] {
        let text =
            SCENARIO.replace("leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }\n", "");
        let overrides = overrides.map(String::from);
        let Err(problems) = Run::open(&text, "test.toml", &overrides, Threads::ONE) else {
            panic!("{overrides:?} is accepted");
        };
        assert!(problems.to_string().contains(said), "{problems}");
    }
}
