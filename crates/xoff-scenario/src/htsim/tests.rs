//! Networks and their errors, and scenarios made of both files.

use super::*;

const MATRIX: &str = "Nodes 8\nConnections 2\n0->7 start 0 size 3000\n1->7 start 25000000 size 9\n";

/// Broadcom/csg-htsim, sim/datacenter/topologies/test.topo.
const THREE_TIERS: &str = "\
Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2";

/// The same folder's leaf_spine_tiny.topo, with latencies and queues.
const TWO_TIERS: &str = "\
# Four leaves of eight hosts.
Nodes 32
Tiers 2
Podsize 32
Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Queue_Up 90000
Queue_Down 90000
Downlink_Latency_ns 1000
Switch_Latency_ns 500
Oversubscribed 4
Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Queue_Down 90000
Downlink_Latency_ns 2000
Switch_Latency_ns 0
";

fn network(text: &str) -> Result<Network, String> {
    Network::parse("net.topo", text)
}

#[test]
fn networks_become_sections() {
    let sections = network(TWO_TIERS).unwrap().sections();
    assert_eq!(
        sections,
        "[network]\ntopology = \"clos\"\n[clos]\npods = 1\nleaves_per_pod = 4\nhosts_per_leaf = 8\n\
         spines_per_pod = 2\ncores_per_spine = 0\nspine_links = 1\ncore_links = 1\n\
         host_rate = \"100Gbps\"\nhost_delay = \"1000ns\"\nleaf_latency = \"500ns\"\n\
         spine_rate = \"100Gbps\"\nspine_delay = \"2000ns\"\nspine_latency = \"0ns\"\n\
         [buffer]\nsize = \"90000B\"\n"
    );
    let sections = network(THREE_TIERS).unwrap().sections();
    for line in ["pods = 2", "cores_per_spine = 2", "core_links = 2", "core_rate = \"100Gbps\""] {
        assert!(sections.contains(line), "{sections}");
    }
    let sections = Network::fat_tree(1024).unwrap().sections();
    for line in ["pods = 16", "leaves_per_pod = 8", "hosts_per_leaf = 8", "cores_per_spine = 8"] {
        assert!(sections.contains(line), "{sections}");
    }
    assert!(Network::fat_tree(17).is_none());
}

#[test]
fn a_wrong_line_is_named() {
    for (from, to, expected) in [
        ("Nodes 32", "Nodes 30", "line 2: nodes 30 is no multiple of podsize 32"),
        ("Nodes 32\n", "", "line 18: nodes is missing"),
        ("Nodes 32", "Nodes", "line 2: Nodes has no number behind it"),
        ("Nodes 32", "Nodes 3 2", "line 2: \"2\" after the number of Nodes"),
        ("Nodes 32", "Nodes many", "line 2: Nodes \"many\" is not a whole number"),
        ("Nodes 32", "Hosts 32", "line 2: unknown \"hosts\" before the first tier"),
        ("Tiers 2", "Tiers 4", "line 3: tiers is 4: it must be 2 or 3"),
        ("Tiers 2", "Tiers 3", "line 14: tier 1 has no radix_up"),
        ("Podsize 32", "Podsize 16", "line 4: with 2 tiers podsize must be nodes"),
        ("Radix_Down 8", "Radix_Down 7", "line 4: podsize 32 is no multiple of radix_down 7"),
        ("Radix_Down 8", "Radix_Down 0", "line 7: radix_down must be more than zero"),
        ("Radix_Down 8\n", "", "line 5: tier 0 has no radix_down"),
        ("Radix_Down 4", "Radix_Down 5", "line 16: radix_down of tier 1 is 5, but the other"),
        ("Radix_Down 4", "Radix_Dawn 4", "line 16: unknown \"radix_dawn\" in a tier: did you mean"),
        ("Oversubscribed 4\n", "", "line 8: switches of tier 0 have 800 Gb/s down and 200 Gb/s up"),
        ("Queue_Up 90000", "Queue_Up 9", "line 10: queues of 9 and of 90000 bytes"),
        ("Queue_Up 90000", "Queue_Up 0", "line 9: queue_up must be more than zero"),
        (
            "Queue_Up 90000\n",
            "",
            "line 5: tier 0 has no queue_up: give all sizes of queues, or none",
        ),
        (
            "Radix_Down 4\nQueue_Down 90000\n",
            "Radix_Down 4\n",
            "line 14: tier 1 has no queue_down: give all sizes of queues, or none",
        ),
        ("Oversubscribed 4", "Bundle 2", "line 13: a host has one link"),
        ("Oversubscribed 4", "Radix_Up 4", "line 13: radix_up is set twice"),
        ("Tier 1", "Tier 0", "line 14: tier is set twice"),
        ("Tier 1", "Tier 3", "line 14: tier 3 does not exist"),
        ("Tier 1\n", "Tier 1\nRadix_Up 4\n", "line 15: radix_up of the top tier"),
    ] {
        assert!(TWO_TIERS.contains(from), "{from}");
        let error = network(&TWO_TIERS.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(&format!("net.topo, {expected}")), "{error}");
    }
    let more = THREE_TIERS.replace("Radix_Down 4", "Radix_Down 8");
    let error = network(&more).unwrap_err();
    assert!(error.contains("line 20: radix_down of tier 2 is 8, but the other values make it 4"));
    assert!(network("").unwrap_err().starts_with("net.topo, line 1: nodes is missing"));
}

/// A file that ends anywhere, or has nonsense for a number, is read or refused, and names a line.
#[test]
fn damaged_files_are_refused_by_line() {
    let check = |text: &str| {
        if let Err(error) = network(text) {
            assert!(error.starts_with("net.topo, line "), "{error}");
        }
    };
    for text in [TWO_TIERS, THREE_TIERS] {
        for end in 0..text.len() {
            check(&text[..end]);
            for nonsense in ["x", "-1", "4294967295", "99999999999", "0", ""] {
                if text.as_bytes()[end].is_ascii_digit() {
                    check(&format!("{}{nonsense}{}", &text[..end], &text[end + 1..]));
                }
            }
        }
    }
}

#[test]
fn a_scenario_is_the_matrix_on_its_network() {
    let folder = tempfile("scenario");
    let topology = folder.join("net.topo");
    std::fs::write(&topology, THREE_TIERS).unwrap();
    let make = |text: &str, topology: Option<&str>, settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&one| one.to_owned()).collect();
        scenario(
            text,
            "in/case.cm",
            topology,
            &settings,
            Resources::from(xoff_sim::Threads::ONE).memory,
        )
    };
    let place = topology.to_string_lossy().into_owned();
    let found = make(MATRIX, Some(&place), &["scheme=htsim-ndp"]).unwrap();
    assert!(found.starts_with("name = \"case\"\n[network]\n"), "{found}");
    assert!(found.contains("measure = \"30000000ps\""), "{found}");
    assert!(found.ends_with("kind = \"connections\"\nfile = \"case.cm\"\n"), "{found}");

    assert!(make(MATRIX, Some(&place), &["scheme = htsim-ndp"]).is_ok());
    let error = make(MATRIX, Some(&place), &[]).unwrap_err();
    assert!(error.contains("add --set scheme=NAME, with htsim-ndp"), "{error}");
    let error = make(MATRIX, None, &["scheme=dctcp"]).unwrap_err();
    assert!(error.contains("Nodes is 8, and without a network"), "{error}");
    let error = make(MATRIX, Some("no.topo"), &["scheme=dctcp"]).unwrap_err();
    assert!(error.starts_with("no.topo: "), "{error}");
    let more = MATRIX.replace("Nodes 8", "Nodes 9");
    let error = make(&more, Some(&place), &["scheme=dctcp"]).unwrap_err();
    assert!(error.contains("has 8: both must be the same"), "{error}");
    let endless = MATRIX.replace("size 9", "size 0");
    let error = make(&endless, Some(&place), &["scheme=dctcp"]).unwrap_err();
    assert!(error.contains("line 4: size 0 is a flow without end"), "{error}");
    assert!(make(&endless, Some(&place), &["scheme=dctcp", "run.measure=1ms"]).is_ok());
}

/// An empty folder of this test.
fn tempfile(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("xoff-htsim-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
