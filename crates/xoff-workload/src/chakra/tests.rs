//! Traces that a small writer of protobuf makes.

use std::path::Path;

use proptest::prelude::{any, prop_assert, proptest};
use xoff_core::program::{Act, Job};
use xoff_core::rng::Purpose;
use xoff_core::{BitRate, HostId, Rng};

use super::*;
use crate::dag::testing::run;
use crate::fuzz_network::offer;

fn varint(mut value: u64, into: &mut Vec<u8>) {
    while value >= 128 {
        into.push(value as u8 | 128);
        value >>= 7;
    }
    into.push(value as u8);
}

/// A field with a whole number.
fn number(tag: u64, value: u64) -> Vec<u8> {
    let mut field = Vec::new();
    varint(tag << 3, &mut field);
    varint(value, &mut field);
    field
}

/// A field with a text or a message.
fn bytes(tag: u64, content: &[u8]) -> Vec<u8> {
    let mut field = Vec::new();
    varint(tag << 3 | 2, &mut field);
    varint(content.len() as u64, &mut field);
    field.extend(content);
    field
}

/// A message after its length.
fn frame(content: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    varint(content.len() as u64, &mut framed);
    framed.extend(content);
    framed
}

fn metadata() -> Vec<u8> {
    frame(&bytes(1, b"0.0.4"))
}

const METADATA: u64 = 1;
const COMP: u64 = 4;
const SEND: u64 = 5;
const RECV: u64 = 6;
const COLL: u64 = 7;

/// A node with data dependencies and attributes of type int64.
fn node(id: u64, kind: u64, micros: u64, after: &[u64], attributes: &[(&str, u64)]) -> Vec<u8> {
    let mut packed = Vec::new();
    after.iter().for_each(|&id| varint(id, &mut packed));
    let mut content =
        [number(1, id), number(3, kind), bytes(5, &packed), number(7, micros)].concat();
    for &(name, value) in attributes {
        content.extend(bytes(10, &[bytes(1, name.as_bytes()), number(9, value)].concat()));
    }
    frame(&content)
}

/// A collective operation of a group.
fn joint(id: u64, after: &[u64], kind: u64, size: u64, group: &str) -> Vec<u8> {
    let plain = node(id, COLL, 0, after, &[("comm_type", kind), ("comm_size", size)]);
    let name = [bytes(1, b"pg_name"), bytes(29, group.as_bytes())].concat();
    // Without its length, which is one byte, and with one more attribute.
    frame(&[&plain[1..], &bytes(10, &name)].concat())
}

fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    [metadata(), nodes.concat()].concat()
}

fn config() -> ChakraConfig {
    ChakraConfig { file: "t".into(), ..ChakraConfig::default() }
}

const GROUPS: &str = r#"{"low": [1, 0], "high": [2, 3], "one": [2], "far": [7]}"#;

fn groups() -> Groups {
    Groups::read("g.json", GROUPS).unwrap()
}

fn try_dag(config: &ChakraConfig, files: &[Vec<u8>]) -> Result<Dag, String> {
    let trace = trace::from_bytes(config, &groups(), files, None)?;
    let hosts = (0..files.len() as u32).map(HostId).collect();
    Ok(Dag::new(trace.schedule, hosts, Ps(0), 0))
}

fn dag(files: &[Vec<u8>]) -> Dag {
    try_dag(&config(), files).unwrap()
}

fn error(files: &[Vec<u8>]) -> String {
    try_dag(&config(), files).unwrap_err()
}

fn exchange() -> [Vec<u8>; 2] {
    let zero = [
        node(7, COMP, 3, &[], &[]),
        node(9, SEND, 0, &[7], &[("comm_dst", 1), ("comm_size", 10), ("comm_tag", 5)]),
        node(8, METADATA, 0, &[9], &[]),
        node(3, COMP, 0, &[8], &[("runtime", 2)]),
    ];
    let one = [
        node(1, RECV, 0, &[], &[("comm_src", 0), ("comm_size", 10), ("comm_tag", 5)]),
        node(0, COMP, 1, &[1], &[]),
    ];
    [file(&zero), file(&one)]
}

#[test]
fn nodes_follow_their_dependencies() {
    let found = run(&dag(&exchange()), |_| 0);
    let compute = |key, micros| Act::Compute { key, time: Ps::from_us(micros) };
    let finish = Act::Finish { round: 0 };
    let send = Act::Send { message: 0, to: HostId(1), bytes: 10 };
    assert_eq!(found[0], [compute(0, 3), send, compute(3, 2), finish]);
    assert_eq!(found[1], [compute(1, 1), finish]);
}

#[test]
fn processors_are_those_of_the_host_and_of_its_accelerator() {
    let on = |id, micros, value| {
        let plain = node(id, COMP, micros, &[], &[]);
        let cpu = [bytes(1, b"is_cpu_op"), number(27, value)].concat();
        frame(&[&plain[1..], &bytes(10, &cpu)].concat())
    };
    // One says it with a number.
    let third = node(3, COMP, 3, &[], &[("is_cpu_op", 0)]);
    let nodes = [on(1, 1, 1), on(2, 2, 0), third, node(4, COMP, 4, &[], &[])];
    let mut acts = Vec::new();
    dag(&[file(&nodes)]).program(0).react(xoff_core::program::Event::Begin, &mut acts);
    let started = |act: &Act| matches!(act, Act::Compute { key: 0 | 1, .. });
    assert!(acts.len() == 2 && acts.iter().all(started), "{acts:?}");
}

/// Which ranks share a server follows from the fabric: a trace does not say it.
#[test]
fn a_hierarchy_needs_servers_of_gpus() {
    let config = ChakraConfig { all_reduce: Algorithm::Hierarchical, ..config() };
    let rank = node(1, COLL, 0, &[], &[("comm_type", 0), ("comm_size", 64)]);
    let files = vec![file(&[rank]); 8];
    let read = |in_server| trace::from_bytes(&config, &groups(), &files, in_server);
    let found = read(Some(4)).unwrap_or_else(|said| panic!("{said}"));
    // Two rings of two passes in servers of four, one across two servers.
    assert_eq!(found.schedule.collectives[0].pattern.stages(), 2 * 3 + 2);
    let Err(said) = read(None) else { panic!("it is refused") };
    assert!(said.contains("set network.topology = \"rail\""), "{said}");
}

/// The same operation as a job of its own, on the same hosts.
fn alone(config: &CollectiveConfig, hosts: usize) -> impl Job + use<> {
    let rates = vec![BitRate::from_gbps(100); hosts];
    let capacity = crate::Capacity::new(BitRate(0), rates);
    let context =
        Context { capacity: &capacity, seed: 1, source: 0, files: &Path::new(""), one_class: None };
    config.job(&context, None).unwrap()
}

#[test]
fn a_collective_operation_sends_what_it_sends_alone() {
    use Operation as O;
    let kinds = [
        (O::AllReduce, 0, 4096),
        (O::AllGather, 2, 1024),
        (O::Broadcast, 5, 4096),
        (O::AllToAll, 6, 4096),
        (O::ReduceScatter, 7, 4096),
        (O::Barrier, 9, 4096),
    ];
    for (operation, kind, size) in kinds {
        let files: Vec<_> = (0..4).map(|_| file(&[joint(1, &[], kind, size, "")])).collect();
        let mut rng = Rng::stream(kind, Purpose::Traffic, 0);
        let order: Vec<usize> = (0..10_000).map(|_| rng.below(1 << 30) as usize).collect();
        let choose = || {
            let mut order = order.iter();
            move |_| *order.next().unwrap_or(&0)
        };
        let algorithm = config().collective(operation, size, 4).algorithm;
        let bytes = Bytes(4096);
        let expected = CollectiveConfig { operation, algorithm, bytes, ..Default::default() };
        let expected = alone(&expected, 4);
        assert_eq!(dag(&files).messages(), expected.messages());
        let found = run(&dag(&files), choose());
        assert_eq!(found, run(&expected, choose()), "{operation:?}");
    }
}

#[test]
fn groups_have_operations_of_their_own() {
    // Ranks 0 and 1, and ranks 2 and 3, by two operations of one byte in different orders of nodes.
    let of = |group, nodes: [u64; 2]| {
        file(&[joint(nodes[0], &[], 9, 0, group), joint(nodes[1], &[nodes[0]], 0, 2, group)])
    };
    let files = [of("low", [1, 2]), of("low", [5, 4]), of("high", [1, 2]), of("high", [7, 9])];
    let found = run(&dag(&files), |count| count - 1);
    for (rank, acts) in found.iter().enumerate() {
        let receivers = |act: &Act| match act {
            Act::Send { to, .. } => Some(to.index()),
            _ => None,
        };
        let partner = rank ^ 1;
        let receivers: Vec<usize> = acts.iter().filter_map(receivers).collect();
        assert_eq!(receivers, [partner; 3], "rank {rank}: {acts:?}");
        assert_eq!(acts.last(), Some(&Act::Finish { round: 0 }));
    }
    let lonely = file(&[joint(1, &[], 0, 64, "one")]);
    let empty = file(&[]);
    let found = run(&dag(&[empty.clone(), empty.clone(), lonely]), |_| 0);
    assert_eq!(found[2], [Act::Finish { round: 0 }]);
}

#[test]
fn mistakes_are_named_with_their_file_and_node() {
    let one = |nodes: &[Vec<u8>]| error(&[file(nodes)]);
    let said = |found: String, expected: &str| assert!(found.starts_with(expected), "{found}");
    said(
        one(&[node(5, 2, 0, &[], &[])]),
        "t.0.et: node 5: a MEM_LOAD_NODE cannot be run: only COMP",
    );
    said(one(&[node(5, 77, 0, &[], &[])]), "t.0.et: node 5: type 77 is unknown: only COMP_NODE");
    said(one(&[node(5, COMP, 0, &[4], &[])]), "t.0.et: node 5: it waits for node 4, which is not");
    said(one(&[node(5, COMP, 0, &[5], &[])]), "t.0.et: node 5: this operation waits for itself");
    said(
        one(&[node(5, COMP, 0, &[], &[]), node(5, COMP, 0, &[], &[])]),
        "t.0.et: node 5: there are two nodes with this id",
    );
    said(one(&[node(5, COMP, 0, &[], &[("num_ops", 9)])]), "t.0.et: node 5: it has num_ops and no");
    said(one(&[node(5, COMP, 2_000_000_000_000, &[], &[])]), "t.0.et: node 5: it takes 2000000");
    said(one(&[node(5, SEND, 0, &[], &[("comm_dst", 1)])]), "t.0.et: node 5: it has no comm_size");
    said(
        one(&[node(5, SEND, 0, &[], &[("comm_dst", 1), ("comm_size", i64::MAX as u64)])]),
        "t.0.et: node 5: comm_size = 9223372036854775807 is more than any message has",
    );
    said(
        one(&[node(5, SEND, 0, &[], &[("comm_dst", 1), ("comm_size", 3)])]),
        "t.0.et: node 5: there is no rank 1: the job has 1 ranks",
    );
    said(
        one(&[node(5, SEND, 0, &[], &[("comm_dst", u64::MAX), ("comm_size", 3)])]),
        "t.0.et: node 5: comm_dst is Int64(-1): expected a whole number",
    );
    said(
        one(&[node(5, SEND, 0, &[], &[("comm_src", 3), ("comm_dst", 0), ("comm_size", 3)])]),
        "t.0.et: node 5: comm_src is 3, but this is the file of rank 0",
    );
    said(
        one(&[node(5, RECV, 0, &[], &[("comm_src", 0), ("comm_tag", 2)])]),
        "t.0.et: node 5: from rank 0 to rank 0 with tag 2, 1 more are received than sent",
    );
    said(one(&[joint(5, &[], 1, 8, "")]), "t.0.et: node 5: comm_type REDUCE cannot be run: only");
    said(one(&[joint(5, &[], 99, 8, "")]), "t.0.et: node 5: comm_type 99 is unknown: only ALL_RE");
    said(
        one(&[joint(5, &[], 0, 8, "12")]),
        "t.0.et: node 5: there is no communicator group \"12\": list its ranks",
    );
    said(one(&[joint(5, &[], 0, 8, "low")]), "t.0.et: node 5: group \"low\" has rank 1, but the");
    said(one(&[joint(5, &[], 0, 8, "far")]), "t.0.et: node 5: group \"far\" has rank 7");
    let two = |nodes: [Vec<u8>; 2]| error(&nodes.map(|node| file(&[node])));
    said(
        two([joint(5, &[], 0, 8, ""), joint(6, &[], 2, 8, "")]),
        "t.1.et: node 6: it is all-gather of 8 bytes, but that number 1 of its group is all-reduce \
         of 8 bytes at rank 0, node 5",
    );
    said(
        error(&[file(&[joint(5, &[], 0, 8, "")]), file(&[])]),
        "t.0.et: node 5: all-reduce of 8 bytes of group \"\" is in the files of 1 of its 2 ranks",
    );
    let with = |id, kind, attribute: Vec<u8>| {
        let plain = node(id, kind, 0, &[], &[("comm_type", 0), ("comm_size", 8)]);
        let length = plain.len() - usize::from(plain[0]);
        frame(&[&plain[length..], &bytes(10, &attribute)].concat())
    };
    // A double, a list, and a name without a value.
    let runtime = |value: &[u8]| [&bytes(1, b"runtime"), value].concat();
    for value in [[&[25][..], &1f64.to_le_bytes()].concat(), bytes(10, &[8, 3]), Vec::new()] {
        said(
            one(&[with(5, COMP, runtime(&value))]),
            "t.0.et: node 5: runtime has no value, or a value of another type than whole number",
        );
    }
    let name = [bytes(1, b"pg_name"), bytes(30, b"low")].concat();
    said(one(&[with(5, COLL, name)]), "t.0.et: node 5: pg_name has no value, or a value of");
    for value in [number(9, 2), bytes(29, b"false")] {
        let flag = [bytes(1, b"is_cpu_op"), value].concat();
        said(one(&[with(5, COMP, flag)]), "t.0.et: node 5: is_cpu_op is ");
    }
    let halving = ChakraConfig { all_reduce: Algorithm::Halving, ..config() };
    let three: Vec<_> = (0..3).map(|_| file(&[joint(1, &[], 0, 8, "")])).collect();
    let found = try_dag(&halving, &three).unwrap_err();
    said(found, "t.0.et: node 1: algorithm = \"halving-doubling\" needs a power of two");
}

#[test]
fn files_that_are_no_traces_are_refused() {
    let said = |bytes: &[u8], expected: &str| {
        let found = error(&[bytes.to_vec()]);
        assert!(found.starts_with(expected), "{found}");
    };
    said(b"", "t.0.et: the message at byte 0: the file ends within its length");
    said(&[0x1f, 0x8b, 8, 0], "t.0.et: it is compressed: run gunzip first");
    said(&node(5, COMP, 0, &[], &[]), "t.0.et: the message at byte 0: it is no GlobalMetadata");
    said(
        &[metadata(), vec![100, 1]].concat(),
        "t.0.et: the message at byte 8: it has 100 bytes, the file 1 more",
    );
    said(&[metadata(), vec![255; 11]].concat(), "t.0.et: the message at byte 8: the file ends");
    said(&[metadata(), vec![2, 255, 255]].concat(), "t.0.et: the message at byte 8: it is no Node");
}

#[test]
fn groups_are_checked() {
    let error = |text: &str| Groups::read("g.json", text).unwrap_err();
    assert!(error("[1]").starts_with("groups = \"g.json\": expected {\"NAME\": [RANK, ...], ...}"));
    assert!(error(r#"{"1": [-1]}"#).contains("invalid value"));
    assert_eq!(error(r#"{"1": [2, 2]}"#), "groups = \"g.json\": group \"1\" names rank 2 twice");
    let twice = error(r#"{"1": [0, 1], "1": [2, 3]}"#);
    assert!(twice.contains("the name \"1\" is there twice"), "{twice}");
    assert_eq!(error(r#"{"1": []}"#), "groups = \"g.json\": group \"1\" has no ranks");
}

/// What a network says to a trace of these files, with the groups of [`groups`] in `g.json`.
fn offered(config: &ChakraConfig, files: &[Vec<u8>]) -> Result<(), String> {
    let names: Vec<String> = (0..files.len()).map(|rank| trace::name("t", rank)).collect();
    let mut given: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(files.iter().map(Vec::as_slice)).collect();
    given.push(("g.json", GROUPS.as_bytes()));
    offer(config, &given)
}

/// Traces of two ranks with an operation of this kind; `None`: with a computation only.
fn pair(kind: Option<u64>, group: &str) -> [Vec<u8>; 2] {
    let joint = |kind| joint(1, &[], kind, 64, group);
    [0; 2].map(|_| file(&[kind.map_or_else(|| node(1, COMP, 1, &[], &[]), joint)]))
}

#[test]
fn algorithms_of_operations_that_a_trace_lacks_are_refused() {
    type Change = fn(&mut ChakraConfig);
    let changes: [(&str, u64, Change); 5] = [
        ("all_reduce = \"tree\"", 0, |config| config.all_reduce = Algorithm::Tree),
        ("all_gather = \"halving-doubling\"", 2, |config| config.all_gather = Algorithm::Halving),
        ("broadcast = \"tree\"", 5, |config| config.broadcast = Algorithm::Tree),
        ("all_to_all = \"pairwise\"", 6, |config| config.all_to_all = Algorithm::Pairwise),
        ("reduce_scatter = \"halving-doubling\"", 7, |config| {
            config.reduce_scatter = Algorithm::Halving;
        }),
    ];
    for (setting, kind, change) in changes {
        let mut config = config();
        change(&mut config);
        offered(&config, &pair(Some(kind), "")).unwrap();
        let name = setting.split(" =").next().unwrap().replace('_', "-");
        let expected = format!("{setting} has no effect: the trace has no {name} of several ranks");
        for other in [None, Some(9), Some(if kind == 0 { 2 } else { 0 })] {
            let found = offered(&config, &pair(other, "")).unwrap_err();
            assert!(found.starts_with(&expected), "{found}");
        }
    }
    // An operation of one rank does nothing.
    let config = ChakraConfig { all_reduce: Algorithm::Tree, groups: "g.json".into(), ..config() };
    let alone = [file(&[]), file(&[]), file(&[joint(1, &[], 0, 64, "one")])];
    let found = offered(&config, &alone).unwrap_err();
    assert!(found.contains("no all-reduce of several ranks"), "{found}");
}

#[test]
fn parts_of_operations_that_a_trace_lacks_are_refused() {
    let lanes = ChakraConfig { lanes: 8, ..config() };
    let chunks = ChakraConfig { chunks: 8, ..config() };
    for (config, setting) in [(lanes, "lanes = 8"), (chunks, "chunks = 8")] {
        offered(&config, &pair(Some(0), "")).unwrap();
        // A barrier has one part.
        for kind in [None, Some(9)] {
            let found = offered(&config, &pair(kind, "")).unwrap_err();
            let expected =
                format!("{setting} has no effect: the trace has no collective operation");
            assert!(found.starts_with(&expected), "{found}");
        }
    }
}

#[test]
fn groups_that_a_trace_does_not_name_are_refused() {
    let config = ChakraConfig { groups: "g.json".into(), ..config() };
    // A single named one is enough.
    offered(&config, &pair(Some(0), "low")).unwrap();
    for kind in [None, Some(0)] {
        let found = offered(&config, &pair(kind, "")).unwrap_err();
        let expected = "groups = \"g.json\" has no effect: the trace names none of its groups";
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    let files = rich();
    for length in 0..files[0].len() {
        let mut cut = files.clone();
        cut[0].truncate(length);
        assert!(try_dag(&config(), &cut).is_err(), "{length}");
    }
}

/// Files with all that can be run.
fn rich() -> Vec<Vec<u8>> {
    let rank = |rank: u64| {
        let other = rank ^ 1;
        let mut nodes = vec![node(100, COMP, 5, &[], &[("comm_tag", 1)])];
        for (id, kind) in (1..).zip([0, 2, 5, 6, 7, 9]) {
            nodes.push(joint(id, &[100, id - 1][..if id > 1 { 2 } else { 1 }], kind, 100, ""));
        }
        let attributes = [("comm_dst", other), ("comm_size", 300), ("comm_tag", 9)];
        nodes.push(node(200, SEND, 0, &[3], &attributes));
        nodes.push(node(201, RECV, 0, &[2], &[("comm_src", other), ("comm_tag", 9)]));
        nodes.push(joint(202, &[], 0, 1000, if rank < 2 { "low" } else { "high" }));
        file(&nodes)
    };
    (0..4).map(rank).collect()
}

proptest! {
    #[test]
    fn every_trace_ends_in_any_order_of_events(seed in any::<u64>(), lanes in 1u32..4) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        let dag = try_dag(&ChakraConfig { lanes, ..config() }, &rich()).unwrap();
        for acts in run(&dag, |count| rng.below(count as u64) as usize) {
            prop_assert!(acts.ends_with(&[Act::Finish { round: 0 }]), "{:?}", acts);
        }
    }

    #[test]
    fn bytes_changed_at_random_are_read_or_refused(seed in any::<u64>(), flips in 1u64..6) {
        let mut rng = Rng::stream(seed, Purpose::Traffic, 0);
        let mut files = rich();
        for _ in 0..flips {
            let (file, bit) = (rng.below(4) as usize, rng.below(8));
            let at = rng.below(files[file].len() as u64) as usize;
            files[file][at] ^= 1 << bit;
        }
        if let Ok(dag) = try_dag(&config(), &files) {
            let _ = (dag.mix(), dag.crowd(), dag.messages());
        }
    }
}
