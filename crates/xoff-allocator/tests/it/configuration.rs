//! Configuration files, keys, and paths.

use xoff_alloc::LinkId;
use xoff_allocator::{Config, Topology};
use xoff_control::{EndpointId, UNKNOWN_PATH};

use crate::place::{Place, config, free, read};

const ENDPOINT: &str = "[[endpoint]]\nid = 1\naddress = \"10.0.0.1:4301\"\nkey = \"1.key\"\n";

fn error(text: &str) -> String {
    Config::parse(text).unwrap_err()
}

fn with(settings: &str, network: &str) -> String {
    format!("listen = \"10.0.0.9:4300\"\n{settings}\n[network]\n{network}\n{ENDPOINT}")
}

#[test]
fn mistakes_are_named_with_what_to_write() {
    let switch = "kind = \"big-switch\"\nrate = \"10Gbps\"";
    for (settings, network, said) in [
        ("iteration = 5", switch, "iteration"),
        ("iteration = \"5\"", switch, "a duration with its unit"),
        ("iterations = \"5ms\"", switch, "unknown field `iterations`"),
        ("iteration = \"26ms\"", switch, "`lifetime` must be at least four times `iteration`"),
        ("iteration = \"400ms\"", switch, "`lifetime` must be at least four times `iteration`"),
        ("iteration = \"400ms\"\nlifetime = \"2s\"", switch, "or three times `iteration`"),
        ("iteration = \"1ns\"\nlifetime = \"3ns\"", switch, "`lifetime` must be at least"),
        ("lifetime = \"4295s\"", switch, "`lifetime` must be at most 4294s"),
        ("flowlets = 0", switch, "`flowlets` must be from 1 to 65535"),
        ("flowlets = 65536", switch, "`flowlets` must be from 1 to 65535"),
        ("events_per_second = 0", switch, "`events_per_second` must be at least 1"),
        ("events_at_once = 691", switch, "`events_at_once` must be at least 692"),
        ("resend = \"2s\"", switch, "shorter than `silence`"),
        ("metrics = \"10.0.0.9:9430\"", switch, "must be a loopback address"),
        ("wait = \"never\"", switch, "`block` or `poll`"),
        ("gamma = 1.0", switch, "longest path, which has 2 links"),
        ("", "kind = \"ring\"", "`big-switch`, `clos`, `paths`"),
        ("", "kind = \"big-switch\"\nrate = \"0Gbps\"", "above 0"),
        ("", "kind = \"clos\"\nrate = \"10Gbps\"", "spines"),
    ] {
        let found = error(&with(settings, network));
        assert!(found.contains(said), "{settings} {network}: {found}");
    }
    let clos = "kind = \"clos\"\nrate = \"10Gbps\"\nspines = 2\nspine_rate = \"40Gbps\"";
    let listed = "kind = \"paths\"\nlinks = {}\npaths = []";
    for (network, endpoint, said) in [
        (clos, "", "endpoint 1: a \"clos\" network needs its `rack`"),
        (clos, "rack = 1048576", "endpoint 1: `rack` must be below 1048576"),
        (switch, "rack = 0", "endpoint 1: `rack` has no meaning"),
        (listed, "rack = 1", "endpoint 1: `rack` has no meaning"),
        (listed, "rate = \"1Gbps\"", "endpoint 1: `rate` has no meaning"),
    ] {
        let found = error(&(with("", network) + endpoint));
        assert!(found.contains(said), "{network} {endpoint}: {found}");
    }
    let none = "listen = \"10.0.0.9:4300\"\n[network]\nkind = \"big-switch\"\nrate = \"1Gbps\"\n";
    assert!(error(none).contains("no endpoint"));
    let v6 = none.to_owned() + &ENDPOINT.replace("10.0.0.1:4301", "[::1]:4301");
    assert!(error(&v6).contains("both be IPv4, or both IPv6"));
    let backup =
        "[backup]\nprimary = \"[::1]:4300\"\naddress = \"10.0.0.2:4302\"\nid = 9\nkey = \"k\"";
    let found = error(&(with("", switch) + backup));
    assert!(
        found.contains("`primary` [::1]:4300 and `address` 10.0.0.2:4302 must both"),
        "{found}"
    );
    let takeover = |takeover: &str, settings: &str| {
        let backup = "[backup]\nprimary = \"10.0.0.1:4300\"\naddress = \"10.0.0.2:4302\"\nid = 9\n";
        let backup = format!("{backup}key = \"k\"\ntakeover = \"{takeover}\"\n");
        Config::parse(&(with(settings, switch) + &backup)).map(drop)
    };
    for (least, less, settings) in
        [("8ms", "7999us", ""), ("100ms", "99ms", "iteration = \"25ms\"")]
    {
        assert_eq!(takeover(least, settings), Ok(()));
        let found = takeover(less, settings).unwrap_err().to_string();
        assert!(found.contains("`takeover` must be at least 8ms and four times"), "{found}");
    }
}

#[test]
fn the_least_and_the_greatest_values_are_taken() {
    let switch = "kind = \"big-switch\"\nrate = \"10Gbps\"";
    for settings in [
        "iteration = \"25ms\"",
        "lifetime = \"4294s\"",
        "flowlets = 1\nevents_per_second = 1\nevents_at_once = 692",
        "flowlets = 65535",
    ] {
        assert_eq!(Config::parse(&with(settings, switch)).map(drop), Ok(()), "{settings}");
    }
}

#[test]
fn the_files_of_the_documentation_are_valid() {
    let page = include_str!("../../../../docs/deploy.md");
    let mut found = 0;
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        if text.contains("listen = ") && text.contains("[network]") {
            let config = Config::parse(text).unwrap_or_else(|error| panic!("{text}{error}"));
            Topology::new(&config.network, &config.endpoints).unwrap();
            found += 1;
        }
    }
    assert!(found >= 2, "{found} files");
}

#[test]
fn keys_are_found_next_to_the_configuration() {
    let place = Place::new();
    let path = config(&place, free(), [free(), free()], "", "");
    assert_eq!(read(&path).endpoints[1].key, place.0.join("1.key"));
}

fn links(topology: &Topology, from: u32, to: u32, path: u32) -> Option<Vec<String>> {
    let names = |links: &[LinkId]| {
        links.iter().map(|link| topology.links()[link.0 as usize].name.clone()).collect()
    };
    topology.with_path((EndpointId(from), EndpointId(to)), path, names)
}

/// Three endpoints with these further settings.
fn topology(network: &str, settings: [&str; 3]) -> Topology {
    let mut text = format!("listen = \"10.0.0.9:4300\"\n[network]\n{network}\n");
    for (id, settings) in settings.into_iter().enumerate() {
        text += &ENDPOINT.replace("id = 1", &format!("id = {id}\n{settings}"));
    }
    let config = Config::parse(&text).unwrap();
    Topology::new(&config.network, &config.endpoints).unwrap()
}

#[test]
fn a_clos_network_has_two_or_four_links_on_a_path() {
    let clos = "kind = \"clos\"\nrate = \"10Gbps\"\nspines = 4\nspine_rate = \"40Gbps\"";
    let topology = topology(clos, ["rack = 0", "rack = 0", "rack = 1"]);
    assert_eq!(links(&topology, 0, 1, 5).unwrap(), ["from 0", "to 1"]);
    let across = ["from 2", "rack 1 to spine 3", "spine 3 to rack 0", "to 1"];
    assert_eq!(links(&topology, 2, 1, 7).unwrap(), across);
    // A path that is not known takes an equal part of all spines.
    let spread = ["from 2", "rack 1 to spines", "spines to rack 0", "to 1"];
    assert_eq!(links(&topology, 2, 1, UNKNOWN_PATH).unwrap(), spread);
    assert_eq!(links(&topology, 0, 1, UNKNOWN_PATH).unwrap(), ["from 0", "to 1"]);
    assert_eq!(links(&topology, 2, 2, 0), None);
    assert_eq!(links(&topology, 2, 3, 0), None);
    assert_eq!(topology.links().len(), 6 + 2 * (2 * 4 + 2));
    let capacity = |name| topology.links().iter().find(|link| link.name == name).unwrap().capacity;
    // 1,448 bytes of payload in 1,538 on the wire.
    assert!((capacity("to 0") - 9.4148).abs() < 1e-4);
    assert!((capacity("spine 3 to rack 0") - 37.6593).abs() < 1e-4);
    assert!((capacity("spines to rack 0") - 4.0 * 37.6593).abs() < 1e-3);
}

#[test]
fn listed_paths_are_taken_in_turn() {
    let listed = "kind = \"paths\"\nlinks = { a = \"1Gbps\", b = \"2Gbps\" }\n\
                  paths = [{ from = 0, to = 1, links = [\"a\"] }, \
                           { from = 0, to = 1, links = [\"b\", \"a\"] }]";
    let topology = topology(listed, [""; 3]);
    assert_eq!(links(&topology, 0, 1, 2).unwrap(), ["a"]);
    assert_eq!(links(&topology, 0, 1, 3).unwrap(), ["b", "a"]);
    assert_eq!(links(&topology, 0, 1, UNKNOWN_PATH).unwrap(), ["a"]);
    assert_eq!(links(&topology, 1, 0, 0), None);
    for (wrong, said) in [
        ("{ from = 0, to = 9, links = [\"a\"] }", "no endpoint 9"),
        ("{ from = 0, to = 1, links = [\"c\"] }", "no link \"c\""),
        ("{ from = 0, to = 1, links = [] }", "no link"),
        ("{ from = 0, to = 1, links = [\"a\", \"a\"] }", "a link twice"),
        ("{ from = 1, to = 1, links = [\"a\"] }", "path from 1 to 1: it ends where it begins"),
        ("", "link \"a\": no path has it"),
    ] {
        let network = format!("kind = \"paths\"\nlinks = {{ a = \"1Gbps\" }}\npaths = [{wrong}]");
        let config = Config::parse(&with("", &network)).unwrap();
        let endpoints: Vec<_> = [0, 1]
            .map(|id| xoff_allocator::config::EndpointEntry { id, ..config.endpoints[0].clone() })
            .into();
        let error = Topology::new(&config.network, &endpoints).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}
