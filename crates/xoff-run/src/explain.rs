//! What a scenario comes to, beyond its settings: thresholds of switches, the load that its flows
//! offer to each kind of link, and settings that cannot matter.

mod load;
mod warnings;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use xoff_core::{BitRate, Bytes, Ps};
use xoff_net::hop::PfcPort;
use xoff_scenario::Resolved;
use xoff_sim::Setup;
use xoff_sim::setup::EcnSetup;

pub use load::{LinkLoad, OfferedLoad};

/// An explanation of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Thresholds of switches, by layer of switches (`leaf.memory`) or kind of link
    /// (`leaf-spine.pfc_set_aside`). Bytes, or picoseconds where the name says so.
    pub thresholds: BTreeMap<String, u64>,
    /// The load that the flows of the measured time offer.
    pub offered_load: OfferedLoad,
    /// Settings that cannot matter, and why.
    pub warnings: Vec<String>,
}

impl Explanation {
    /// Explains a scenario. Draws its flows.
    pub(crate) fn of(resolved: Resolved) -> Self {
        let Resolved { setup, plan, traffic, .. } = resolved;
        Self {
            thresholds: thresholds(&setup),
            warnings: warnings::warnings(&setup, &plan),
            offered_load: OfferedLoad::of(&setup, &plan, traffic),
        }
    }

    /// Thresholds and load as comments of TOML.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from("# Thresholds, by layer of switches or kind of link:\n");
        for (name, &value) in &self.thresholds {
            let _ = match name.strip_suffix("_ps") {
                Some(name) => writeln!(text, "#   {name} = {}", Ps(value)),
                None => writeln!(text, "#   {name} = {}", Bytes(value)),
            };
        }
        text + "\n" + &self.offered_load.text()
    }

    /// All of it as a JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        crate::summary::json::json(self)
    }
}

/// Thresholds of the first switch of each layer and the first link of each kind.
fn thresholds(setup: &Setup) -> BTreeMap<String, u64> {
    let (topology, switch) = (&setup.topology, &setup.switch);
    let mut found = BTreeMap::new();
    let marking = marking(&switch.ecn);
    for node in topology.switch_ids() {
        let layer = topology.layer(node);
        if switch.architecture.pause().is_none() {
            let buffer = switch.buffer.of(topology.is_gateway(node));
            if let Some(limit) = buffer.queue_limit().filter(|_| buffer.by_class.is_empty()) {
                let of_queue = format!("{layer}.most_in_a_queue");
                found.entry(of_queue).or_insert(limit.0);
            }
            let ports: Vec<_> = topology.ports_of(node).iter().map(PfcPort::from).collect();
            for (name, bytes) in switch.hop.explain(&buffer, &ports) {
                found.entry(format!("{layer}.{name}")).or_insert(bytes);
            }
        }
        for port in topology.ports_of(node) {
            let link = topology.link_name(port);
            let aside = switch.hop.set_aside(&switch.buffer, &[port.into()]);
            if aside > 0 {
                found.entry(format!("{link}.pfc_set_aside")).or_insert(aside);
            }
            for (name, bytes) in &marking {
                let name = format!("{link}.{name}_drains_in_ps");
                found.entry(name).or_insert(time_of(port.rate, *bytes).0);
            }
        }
    }
    found.extend(marking.into_iter().map(|(name, bytes)| (name, bytes.0)));
    found
}

/// Kmin and Kmax, by name: of all traffic classes, and of the classes with their own.
fn marking(ecn: &EcnSetup) -> Vec<(String, Bytes)> {
    let EcnSetup::Uniform(ecn) = ecn else { return Vec::new() };
    let own = ecn.by_class.iter().filter_map(|(class, _)| {
        ecn.of_class(class).map(|(kmin, kmax, _)| (format!("ecn_class{class}"), kmin, kmax))
    });
    let of_all = (!ecn.by_class.is_complete()).then(|| ("ecn".to_owned(), ecn.kmin, ecn.kmax));
    let names =
        |(name, kmin, kmax)| [(format!("{name}_kmin"), kmin), (format!("{name}_kmax"), kmax)];
    of_all.into_iter().chain(own).flat_map(names).collect()
}

/// The time that a link takes for some bytes.
fn time_of(rate: BitRate, bytes: Bytes) -> Ps {
    Ps((u128::from(bytes.0) * 8_000_000_000_000 / u128::from(rate.0.max(1))) as u64)
}

#[cfg(test)]
mod tests {
    use xoff_scenario::read;
    use xoff_sim::Threads;

    use super::*;

    fn explained(text: &str, sets: &[&str]) -> Explanation {
        let sets: Vec<String> = sets.iter().map(|set| (*set).into()).collect();
        let resolved = read(text, "test.toml", &sets, Threads::ONE.into())
            .unwrap_or_else(|problems| panic!("{problems}"));
        Explanation::of(resolved)
    }

    const LONG: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n[[traffic]]\n\
                        kind = \"long\"\nsrc = 0\ndst = 20\nbytes = \"1MB\"\n";

    /// 1 MB in 1000 packets of 1048 bytes is 83.84 us of a link of 100 Gb/s.
    #[test]
    fn a_flow_loads_each_link_of_its_path() {
        let found = explained(&format!("scheme = \"pfc\"\n{LONG}"), &[]);
        let load = |link: &str| found.offered_load.by_link[link].clone();
        let of_hosts = load("host-leaf");
        assert_eq!((of_hosts.links, of_hosts.busiest_host), (128, Some(0)));
        assert!((of_hosts.busiest.unwrap() - 0.8384).abs() < 1e-9, "{of_hosts:?}");
        assert_eq!(load("leaf-host").busiest_host, Some(20));
        for (link, links) in [("host-leaf", 128), ("leaf-spine", 64), ("spine-leaf", 64)] {
            let mean = load(link).mean;
            assert!((mean - 0.8384 / f64::from(links)).abs() < 1e-9, "{link}: {mean}");
        }
        assert_eq!((found.offered_load.flows, found.offered_load.flows_of_any_rate), (1, 0));
        let text = found.text();
        assert!(text.contains("host-leaf = 0.007 of 128 links, 0.838 of the busiest"), "{text}");
    }

    #[test]
    fn flows_without_a_size_are_counted_apart() {
        let text = format!("scheme = \"pfc\"\n{LONG}").replace("bytes = \"1MB\"\n", "");
        let found = explained(&text, &[]).offered_load;
        assert_eq!((found.flows, found.flows_of_any_rate), (0, 1));
        assert!(found.text().contains("not counted: 1 flows"), "{}", found.text());
    }

    /// Some 170 million flows begin in a second.
    #[test]
    fn a_long_run_is_drawn_until_a_million_flows_have_begun() {
        let text = "scheme = \"pfc\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100s\"\n\
                    [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.6\n";
        let found = explained(text, &[]).offered_load;
        assert_eq!(found.flows, 1_000_000);
        assert!((1e9..20e9).contains(&(found.until_ps as f64)), "{}", Ps(found.until_ps));
        let warm = explained(text, &["run.warmup=100s"]).offered_load;
        assert_eq!((warm.flows, warm.until_ps), (0, warm.from_ps));
        assert!(warm.text().contains("more than 1000000 flows begin before it"), "{}", warm.text());
    }

    #[test]
    fn jobs_are_counted_apart() {
        let text = "scheme = \"pfc\"\n[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\n\
                    [[traffic]]\nkind = \"collective\"\nbytes = \"1MB\"\n";
        let found = explained(text, &[]).offered_load;
        assert_eq!((found.flows, found.jobs), (0, 1));
        assert!(found.text().contains("not counted: the messages of 1 job\n"), "{}", found.text());
    }

    /// A flow of 0.8384 of one link goes over either of two.
    #[test]
    fn a_host_with_several_links_has_the_load_of_all() {
        let network = "hosts = [\"a\", \"b\"]\nswitches = [\"x\", \"y\"]\nlinks = [\n\
                       { ends = [\"a\", [\"x\", \"y\"]] }, { ends = [\"b\", [\"x\", \"y\"]] } ]\n";
        let file = std::env::temp_dir().join(format!("xoff-two-links-{}.toml", std::process::id()));
        std::fs::write(&file, network).unwrap();
        let text = format!(
            "scheme = \"pfc\"\nnetwork.topology = \"graph\"\ngraph.file = '{}'\n{}",
            file.display(),
            LONG.replace("dst = 20", "dst = 1")
        );
        let found = explained(&text, &[]).offered_load;
        std::fs::remove_file(&file).unwrap();
        for (link, host) in [("host-leaf", 0), ("leaf-host", 1)] {
            let load = &found.by_link[link];
            assert_eq!((load.links, load.busiest_host), (4, Some(host)), "{link}");
            assert!((load.busiest.unwrap() - 0.8384 / 2.0).abs() < 1e-9, "{link}: {load:?}");
        }
    }

    /// A host has a link of 400 Gb/s to its rail, and a faster one within its server.
    #[test]
    fn links_that_lead_elsewhere_carry_nothing() {
        let text = format!("scheme = \"pfc\"\nnetwork.topology = \"rail\"\n{LONG}");
        let load = &explained(&text, &[]).offered_load.by_link["host-leaf"];
        assert_eq!(load.busiest_host, Some(0));
        assert!((load.busiest.unwrap() - 0.8384 / 4.0).abs() < 1e-9, "{load:?}");
    }

    /// Three times 12.5 KB and 4096 B for each of a leaf's 24 links; 11 % of what it leaves free.
    #[test]
    fn thresholds_are_in_bytes_and_times() {
        let found = explained(&format!("scheme = \"dctcp\"\n{LONG}"), &[]).thresholds;
        assert_eq!(found["leaf-host.pfc_set_aside"], 3 * 12_500 + 4096);
        assert_eq!(found["leaf.pfc_pool"], 12_000_000 - 24 * 41_596);
        // And the reserve of the ingress.
        assert_eq!(found["leaf.pfc_pause_of_a_lone_ingress"], 1_090_258 + 4096);
        assert_eq!(found["ecn_kmin"], 100_000);
        assert_eq!(found["leaf-spine.ecn_kmin_drains_in_ps"], 8_000_000);
    }

    /// Class 3 has 60 KB at each of 24 links, and the others share what they had. A lossy class may
    /// fill two thirds of the pool, and class 3 a fifth.
    #[test]
    fn classes_have_thresholds_of_their_own() {
        let by_class = "buffer.by_class=3: alpha 0.25 reserve 0B headroom 60KB, 0: lossy alpha 2";
        let sets = [by_class, "transport.timeout=10ms", "pfc.headroom_oversubscription=2"];
        let found = explained(&format!("scheme = \"dctcp\"\n{LONG}"), &sets).thresholds;
        let pool = 12_000_000 - 24 * (4096 + (60_000 + 37_500) / 2);
        assert_eq!(found["leaf.pfc_pool"], pool);
        assert_eq!(found["leaf.pfc_headroom_pool"], 24 * 48_750);
        assert_eq!(found["leaf.class3_pfc_pause_of_a_lone_ingress"], pool / 5);
        assert_eq!(found["leaf.class0_most_in_a_queue"], pool * 2 / 3);
        assert_eq!(found["leaf-host.pfc_set_aside"], 4096 + 48_750);
        assert_eq!(found.get("leaf.most_in_a_queue"), None);
    }
}
