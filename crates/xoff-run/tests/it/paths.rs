//! The tables of nodes and of the paths of flows.

use crate::common::{finish, open, open_on};
use xoff_run::Run;
use xoff_sim::{NodeRow, PathRow, Threads};

const NETWORK: &str = r#"
scheme = "pfc"
leaf_spine = { leaves = 4, spines = 4, hosts_per_leaf = 4 }
run = { warmup = "0us", measure = "400us", drain = "20ms", paths = true }
"#;

const MANY: &str = "[[traffic]]\nkind = \"open-loop\"\nload = 0.2\nstop = \"400us\"\n\
                    [[traffic]]\nkind = \"successive\"\nbytes = \"30KB\"\nstop = \"400us\"\n";

/// Leaf 1 loses its link to spine 2.
const DOWN: &str = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:1,spine:2\"\nat = \"100us\"\n\
                    until = \"200us\"\ndetection = \"50us\"\n[transport]\ntimeout = \"100us\"\n";

fn rows(mut run: Run) -> (Vec<PathRow>, Vec<NodeRow>, u64) {
    finish(&mut run);
    let rows = run.rows();
    (std::mem::take(&mut rows.paths), std::mem::take(&mut rows.nodes), run.digest())
}

#[test]
fn nodes_have_names_layers_and_racks() {
    let mut run = open(&(NETWORK.to_owned() + MANY), &[]);
    run.step().unwrap();
    let nodes = std::mem::take(&mut run.rows().nodes);
    assert_eq!(nodes.iter().map(|row| row.node).collect::<Vec<_>>(), (0..24).collect::<Vec<_>>());
    let shown = |node: usize| {
        let NodeRow { name, layer, rack, pod, .. } = &nodes[node];
        (name.as_str(), layer.as_str(), *rack, *pod)
    };
    assert_eq!(shown(5), ("host 5", "host", Some(1), None));
    assert_eq!(shown(18), ("leaf 2", "leaf", Some(2), None));
    assert_eq!(shown(20), ("spine 0", "spine", None, None));
}

/// The ports of a path, and no others, have carried more than 200 kB.
fn assert_carried(run: &Run, path: &[PathRow]) {
    let mut carried: Vec<_> = run.ports();
    carried.retain(|port| port.tx_bytes > 200_000);
    let mut listed: Vec<_> = path.iter().map(|row| (row.node, row.port, row.peer)).collect();
    listed.sort_unstable();
    let found: Vec<_> = carried.iter().map(|port| (port.node, port.port, port.peer)).collect();
    assert_eq!(listed, found);
}

/// A lone flow: the ports of its path, and no others, carry its data.
#[test]
fn a_flow_takes_the_path_that_its_rows_tell() {
    for dst in [1, 5, 9, 14] {
        let one =
            format!("[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = {dst}\nbytes = \"200KB\"\n");
        let mut run = open(&(NETWORK.to_owned() + &one), &[]);
        finish(&mut run);
        let path = std::mem::take(&mut run.rows().paths);
        assert_carried(&run, &path);
        assert_eq!(path.len(), if dst < 4 { 2 } else { 4 });
        assert_eq!((path[0].node, path.last().unwrap().peer), (0, dst));
        assert!(path.windows(2).all(|pair| pair[0].peer == pair[1].node));
        assert!(
            (0..).zip(&path).all(|(hop, row)| (row.flow, row.since_ps, row.hop) == (0, 0, hop))
        );
    }
}

/// A GPU has a link to its leaf and one to the switch of its server, by which it reaches others of
/// the server.
#[test]
fn a_path_begins_with_the_link_that_its_host_chooses() {
    for (spines, dst, hops) in [(0, 3, 2), (2, 3, 2), (0, 4, 2), (2, 5, 4)] {
        let text = format!(
            "scheme = \"pfc\"\nnetwork = {{ topology = \"rail\" }}\n\
             rail = {{ servers_per_pod = 2, gpus_per_server = 4, spines = {spines} }}\n\
             run = {{ warmup = \"0us\", measure = \"40us\", drain = \"20ms\", paths = true }}\n\
             [[traffic]]\nkind = \"collective\"\noperation = \"broadcast\"\nalgorithm = \"ring\"\n\
             bytes = \"200KB\"\nhosts = \"0,{dst}\"\n"
        );
        let mut run = open(&text, &[]);
        finish(&mut run);
        let path = std::mem::take(&mut run.rows().paths);
        assert_eq!(path.len(), hops, "{spines} {path:?}");
        assert_eq!((path[0].node, path.last().unwrap().peer), (0, dst));
        assert_carried(&run, &path);
    }
}

/// Flows under way change to a path without the link when switches detect its failure, and change
/// again after its recovery. Only these get more rows.
#[test]
fn a_flow_whose_path_changes_has_rows_of_each_path() {
    let long: String = (0..12)
        .map(|host| {
            let (src, dst) = (4 + host % 4, (8 + host) % 16);
            format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = {dst}\nbytes = \"2MB\"\n")
        })
        .filter(|flow| !flow.contains("src = 4\ndst = 4"))
        .collect();
    let (paths, ..) = rows(open(&(NETWORK.to_owned() + &long + DOWN), &[]));
    let times: Vec<u64> = [0, 150, 250].map(|us| us * 1_000_000).into();
    assert!(paths.iter().all(|row| times.contains(&row.since_ps)), "{paths:?}");
    let crosses = |row: &&PathRow| (row.node, row.peer) == (17, 22);
    let crossing = |since: u64| {
        let rows = paths.iter().filter(crosses).filter(move |row| row.since_ps == since);
        rows.map(|row| row.flow).collect::<Vec<_>>()
    };
    assert!(!crossing(times[0]).is_empty());
    assert!(crossing(times[1]).is_empty());
    for flow in crossing(times[0]) {
        let of_flow = paths.iter().filter(|row| row.flow == flow);
        let mut since: Vec<u64> = of_flow.map(|row| row.since_ps).collect();
        since.dedup();
        assert_eq!(since[..2], times[..2], "flow {flow}");
    }
    // A path that does not change is not repeated.
    let mut all: Vec<_> = paths.iter().map(|row| (row.flow, row.since_ps)).collect();
    all.dedup();
    let path = |(flow, since): (u64, u64)| {
        let rows = paths.iter().filter(move |row| (row.flow, row.since_ps) == (flow, since));
        rows.map(|row| (row.node, row.port)).collect::<Vec<_>>()
    };
    all.sort_unstable();
    for pair in all.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        assert_ne!(path(pair[0]), path(pair[1]));
    }
}

/// Paths cost the run nothing, come in one order however it is cut, and follow `run.flows`.
#[test]
fn paths_do_not_depend_on_the_cut_and_change_no_result() {
    let text = NETWORK.to_owned() + MANY + DOWN;
    let of = |threads: usize, sets: &[&str]| {
        rows(open_on(Threads { count: threads, ..Threads::ONE }, &text, sets))
    };
    let whole = of(1, &["run.partitions=1"]);
    assert!(of(2, &["run.partitions=3"]) == whole);
    let order: Vec<_> = whole.0.iter().map(|row| (row.since_ps, row.flow, row.hop)).collect();
    assert!(order.is_sorted());
    assert!(order.windows(2).any(|pair| pair[0].0 > 150_000_000 && pair[1].0 > pair[0].0));
    let off = of(1, &["run.paths=false"]);
    assert_eq!((off.0.len(), off.2), (0, whole.2));
    let sample = of(1, &["run.flows=sample"]).0;
    let flows = |rows: &[PathRow]| rows.iter().filter(|row| row.hop == 0).count();
    assert!(flows(&sample) > 0 && flows(&sample) < flows(&whole.0) / 20, "{}", flows(&sample));
}

/// Without rows of flows there would be none of paths.
#[test]
fn paths_of_no_flows_are_refused() {
    let sets = ["run.flows=none".to_owned()];
    let text = NETWORK.to_owned() + MANY;
    let said = Run::open(&text, "test.toml", &sets, Threads::ONE).err().unwrap().to_string();
    assert!(said.contains("paths = true has no effect with flows = \"none\""), "{said}");
}
