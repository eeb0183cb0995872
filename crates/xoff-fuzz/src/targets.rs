//! The list of all readers.

use crate::{Input, Target};

/// Defaults of a target: a small file in memory.
const SMALL: Target = Target {
    name: "",
    file: "in",
    input: Input::Bytes(|_| Ok(())),
    base_bytes: 1 << 17,
    bytes_per_byte: 200,
    more_seeds: &[],
    changes: 2000,
};

/// Scenarios name files that are there.
const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/in.toml");

/// Every reader of a file, a datagram or a frame.
pub const TARGETS: &[Target] = &[
    Target {
        name: "scenario",
        input: Input::Bare(|text| xoff_scenario::fuzz::scenario(SCENARIO, text)),
        base_bytes: 100_000_000,
        more_seeds: &[("scenarios", ".toml")],
        changes: 150,
        ..SMALL
    },
    Target {
        name: "hpcc-case",
        input: Input::Bare(xoff_scenario::fuzz::hpcc_case),
        base_bytes: 100_000_000,
        changes: 1000,
        ..SMALL
    },
    Target {
        name: "htsim-case",
        input: Input::Bare(xoff_scenario::fuzz::htsim_case),
        base_bytes: 100_000_000,
        changes: 300,
        ..SMALL
    },
    Target {
        name: "network-toml",
        file: "in.toml",
        input: Input::Text(xoff_net::fuzz::network),
        base_bytes: 400_000_000,
        more_seeds: &[("scenarios/networks", ".toml")],
        ..SMALL
    },
    Target {
        name: "network-graphml",
        file: "in.graphml",
        input: Input::Text(xoff_net::fuzz::network),
        ..SMALL
    },
    Target {
        name: "network-switches",
        file: "in-switches.graphml",
        input: Input::Text(xoff_net::fuzz::network),
        ..SMALL
    },
    Target {
        name: "network-edges",
        file: "in.edges",
        input: Input::Text(xoff_net::fuzz::network),
        ..SMALL
    },
    Target {
        name: "flow-sizes",
        file: "in.csv",
        input: Input::Text(xoff_workload::fuzz::sizes),
        more_seeds: &[("crates/xoff-workload/flow-sizes", "5.csv")],
        ..SMALL
    },
    Target {
        name: "flow-list",
        file: "in.csv",
        input: Input::Text(xoff_workload::fuzz::list),
        ..SMALL
    },
    Target {
        name: "dependent-flows",
        file: "in.csv",
        input: Input::Text(xoff_workload::fuzz::dependent),
        more_seeds: &[("scenarios", "shuffle.csv")],
        ..SMALL
    },
    Target {
        name: "connections",
        file: "in.cm",
        input: Input::Text(xoff_workload::fuzz::connections),
        ..SMALL
    },
    Target {
        name: "loads",
        file: "in.csv",
        input: Input::Text(xoff_workload::fuzz::loads),
        ..SMALL
    },
    Target { name: "hosts", input: Input::Bare(xoff_workload::fuzz::hosts), ..SMALL },
    Target {
        name: "goal",
        file: "in.goal",
        input: Input::File(xoff_workload::fuzz::goal),
        more_seeds: &[("scenarios", ".goal")],
        ..SMALL
    },
    Target { name: "chakra", file: "in", input: Input::File(xoff_workload::fuzz::chakra), ..SMALL },
    Target { name: "frame", input: Input::Bytes(xoff_formats::fuzz::frame), ..SMALL },
    Target { name: "capture", input: Input::Bytes(xoff_formats::fuzz::capture), ..SMALL },
    Target { name: "datagram", input: Input::Bytes(xoff_control::fuzz::datagram), ..SMALL },
    Target { name: "allocator", input: Input::Program(xoff_control::fuzz::allocator), ..SMALL },
    Target { name: "endpoint", input: Input::Program(xoff_control::fuzz::endpoint), ..SMALL },
    Target {
        name: "allocator-config",
        input: Input::Bare(xoff_allocator::fuzz::config),
        base_bytes: 400_000_000,
        ..SMALL
    },
    Target { name: "http-request", input: Input::Bytes(xoff_daemon::fuzz::request), ..SMALL },
];
