//! Load balancers of flowlets and of weights, in whole runs.

use std::path::PathBuf;

use crate::common::{finish, open, over_hosts, run};
use xoff_run::Run;
use xoff_sim::{FlowRow, PortRow, Threads};

/// Leaf a has two links to each of two spines. One of the links between spine 1 and leaf b has
/// failed, as in CONGA's testbed.
const HALF_FAILED: &str = r#"
hosts = [
  "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
  "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
]
switches = ["a", "b", "spine-0", "spine-1"]
links = [
  { ends = [["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"], "a"] },
  { ends = [["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"], "b"] },
  { ends = ["a", ["spine-0", "spine-1"]], count = 2 },
  { ends = ["b", "spine-0"], count = 2 },
  { ends = ["b", "spine-1"] },
]
"#;

/// The path over spine 1 is 30 us longer each way.
const ONE_LONG: &str = r#"
hosts = ["a0", "a1", "b0", "b1"]
switches = ["a", "b", "spine-0", "spine-1"]
links = [
  { ends = [["a0", "a1"], "a"] },
  { ends = [["b0", "b1"], "b"] },
  { ends = [["a", "b"], "spine-0"] },
  { ends = [["a", "b"], "spine-1"], delay = "16us" },
]
"#;

/// Leaf a, after the hosts.
const LEAF_A: u32 = 16;

/// A scenario of a preset on a network from a file, with links of 10 Gb/s.
fn scenario(scheme: &str, rest: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n[network]\ntopology = \"graph\"\n\
         [graph]\nfile = \"network.toml\"\nrate = \"10Gbps\"\ndelay = \"1us\"\n{rest}"
    )
}

/// Runs it in a folder with a network and a list of flows.
fn run_on(network: &str, flows: &str, text: &str, overrides: &[&str]) -> (Run, Vec<FlowRow>) {
    let folder = folder(&format!("{network}{flows}"));
    std::fs::write(folder.join("network.toml"), network).unwrap();
    std::fs::write(folder.join("flows.csv"), flows).unwrap();
    let file = folder.join("scenario.toml");
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_string()).collect();
    let opened = Run::open(text, file.to_str().unwrap(), &overrides, Threads::ONE);
    std::fs::remove_dir_all(folder).unwrap();
    let mut run = opened.unwrap_or_else(|problems| panic!("{problems}"));
    let rows = finish(&mut run);
    (run, rows)
}

/// A folder for one run.
fn folder(content: &str) -> PathBuf {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("xoff-balancing-{}-{number}-{}", std::process::id(), content.len());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The share of a leaf's bytes to spines that each of its ports carries.
fn shares(ports: &[PortRow], leaf: u32) -> Vec<f64> {
    let is_up = |port: &&PortRow| port.node == leaf && port.peer > leaf;
    let bytes: Vec<f64> = ports.iter().filter(is_up).map(|port| port.tx_bytes as f64).collect();
    bytes.iter().map(|one| one / bytes.iter().sum::<f64>()).collect()
}

fn mean_fct_us(rows: &[FlowRow]) -> f64 {
    rows.iter().map(|row| row.fct_ps as f64).sum::<f64>() / rows.len() as f64 / 1e6
}

#[test]
fn wcmp_splits_flows_by_capacity_and_ecmp_by_ports() {
    use std::fmt::Write as _;
    let mut flows = "src,dst,size_bytes,start_ps\n".to_owned();
    for flow in 0..3000u64 {
        let (src, dst) = (flow % 8, 8 + flow / 8 % 8);
        writeln!(flows, "{src},{dst},10000,{}", flow * 5_000_000).unwrap();
    }
    let text = scenario(
        "dctcp",
        "[run]\nwarmup = \"0us\"\nmeasure = \"15ms\"\n\
         [[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n",
    );
    for (balance, expected) in [
        ("ecmp", [0.25, 0.25, 0.25, 0.25]),
        // Both links to spine 1 share the one behind it.
        ("wcmp", [1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]),
    ] {
        let set = format!("switch.balance={balance}");
        let (run, rows) = run_on(HALF_FAILED, &flows, &text, &[&set]);
        assert_eq!(rows.len(), 3000);
        let found = shares(&run.ports(), LEAF_A);
        let near = found.iter().zip(expected).all(|(share, want)| (share - want).abs() < 0.03);
        assert!(near && found.len() == 4, "{balance}: {found:?}");
    }
}

/// ECMP loads the remaining link of spine 1 as much as both of spine 0. CONGA sends no more there
/// than the path carries, and LetFlow less than ECMP.
#[test]
fn conga_moves_load_away_from_a_thin_path_and_beats_ecmp() {
    let text = scenario(
        "dctcp",
        "[run]\nwarmup = \"10ms\"\nmeasure = \"40ms\"\ndrain = \"1s\"\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"hadoop\"\nload = 0.85\nload_on = \"core\"\n",
    );
    let [ecmp, letflow, conga] = ["ecmp", "letflow", "conga"].map(|balance| {
        let runs = [1, 2, 3].map(|seed| {
            let sets = [format!("switch.balance={balance}"), format!("seed={seed}")];
            let mut sets = vec![sets[0].as_str(), sets[1].as_str()];
            if balance != "ecmp" {
                sets.push("flowlets.timeout=100us");
            }
            let (run, rows) = run_on(HALF_FAILED, "", &text, &sets);
            let thin: f64 = shares(&run.ports(), LEAF_A)[2..].iter().sum();
            (mean_fct_us(&rows), thin)
        });
        let mean = |part: fn(&(f64, f64)) -> f64| runs.iter().map(part).sum::<f64>() / 3.0;
        (mean(|run| run.0), mean(|run| run.1))
    });
    let found = format!("mean FCT and share: ecmp {ecmp:?}, letflow {letflow:?}, conga {conga:?}");
    assert!(ecmp.1 > 0.5 && letflow.1 < 0.5 && conga.1 < 0.42, "{found}");
    assert!(conga.0 < 0.8 * ecmp.0 && letflow.0 < 0.9 * ecmp.0, "{found}");
    assert!(conga.0 < letflow.0, "{found}");
}

/// A window that leaves gaps of one or two round trips. Go-back-N repeats packets that another has
/// overtaken.
#[test]
fn flowlets_keep_their_order_if_gaps_exceed_the_difference_of_delays() {
    let flows = "src,dst,size_bytes,start_ps\n0,2,4000000,0\n1,3,4000000,0\n2,1,4000000,0\n";
    let text = scenario(
        "pfc",
        "[transport]\nwindow = \"fixed\"\nwindow_size = \"20KB\"\nrecovery = \"go-back-n\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"1ms\"\ndrain = \"1s\"\n\
         [flowlets]\ngaps = \"timestamp\"\n\
         [[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n",
    );
    for (balance, timeout, keeps) in [
        ("letflow", "45us", true),
        ("letflow", "10us", false),
        ("conga", "45us", true),
        ("conga", "10us", false),
    ] {
        let sets = [format!("switch.balance={balance}"), format!("flowlets.timeout={timeout}")];
        let sets = [sets[0].as_str(), sets[1].as_str(), "run.check_invariants=true"];
        let (run, rows) = run_on(ONE_LONG, flows, &text, &sets);
        assert_eq!(rows.len(), 3);
        let repeated = over_hosts(&run, |stats| stats.retransmitted);
        assert_eq!(repeated == 0, keeps, "{balance} {timeout}: {repeated}");
        // Each flow has used both paths.
        let used = shares(&run.ports(), 4);
        assert!(used.iter().all(|&share| share > 0.02), "{balance} {timeout}: {used:?}");
    }
}

/// Each load balancer with transports that recover from losses in different ways.
#[test]
fn load_balancers_go_with_all_kinds_of_transports() {
    let text = "leaf_spine = { leaves = 4, spines = 3, hosts_per_leaf = 4, links = 2 }\n\
                run = { warmup = \"0us\", measure = \"100us\", drain = \"100ms\" }\n\
                [[traffic]]\nkind = \"open-loop\"\nload = 0.7\nstop = \"100us\"\n\
                [[traffic]]\nkind = \"incast\"\ndegree = 8\nbytes = \"100KB\"\n\
                period = \"40us\"\nstop = \"100us\"\n";
    for scheme in
        ["dctcp", "dcqcn", "irn-dcqcn", "tcp-cubic", "tcp-dctcp", "homa", "pfabric", "xcp"]
    {
        let [ecmp, other @ ..] = ["ecmp", "wcmp", "letflow", "conga"].map(|balance| {
            let sets = [format!("scheme={scheme}"), format!("switch.balance={balance}")];
            let short = ["run.check_invariants=true", "flowlets.timeout=2us"];
            let short = if balance.ends_with("cmp") { &short[..1] } else { &short };
            let sets = [&[sets[0].as_str(), sets[1].as_str()], short].concat();
            let mut run = open(text, &sets);
            let rows = finish(&mut run);
            let progress = run.progress();
            assert_eq!(progress.flows_started, progress.flows_finished, "{sets:?}");
            (rows.len(), run.digest())
        });
        assert!(ecmp.0 > 50);
        // Links of one rate have equal weights.
        assert_eq!(other[0], ecmp, "{scheme}");
        assert!(other[1..].iter().all(|one| one.0 == ecmp.0 && one.1 != ecmp.1), "{scheme}");
        assert_ne!(other[1].1, other[2].1, "{scheme}");
    }
}

/// Leaves 0 and 1 lose different links, so some packets go up and down twice.
#[test]
fn flowlets_leave_links_that_are_down() {
    let text = "scheme = \"irn-dcqcn\"\n\
                leaf_spine = { leaves = 4, spines = 2, hosts_per_leaf = 4 }\n\
                [run]\nwarmup = \"0us\"\nmeasure = \"400us\"\ndrain = \"100ms\"\n\
                check_invariants = true\nport_samples = \"100us\"\n\
                [[traffic]]\nkind = \"open-loop\"\nload = 0.3\nstop = \"400us\"\n\
                [[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:0\"\n\
                at = \"100us\"\nuntil = \"300us\"\ndetection = \"0us\"\n\
                [[fault]]\nkind = \"link-down\"\nlink = \"leaf:1,spine:1\"\n\
                at = \"100us\"\nuntil = \"300us\"\ndetection = \"0us\"\n";
    for balance in ["letflow", "conga", "wcmp"] {
        let mut run = open(text, &[&format!("switch.balance={balance}")]);
        let mut samples = Vec::new();
        while run.step().unwrap_or_else(|message| panic!("{message}")) {
            samples.append(&mut run.rows().port_samples);
        }
        let progress = run.progress();
        assert_eq!(progress.flows_started, progress.flows_finished, "{balance}");
        // The first leaf's first port to a spine.
        let sent: Vec<u64> = samples
            .iter()
            .filter(|row| (row.node, row.port) == (16, 4))
            .map(|row| row.tx_packets)
            .collect();
        assert!(sent[0] > 0 && sent[1..3] == [0, 0] && sent[3] > 0, "{balance}: {sent:?}");
    }
}

#[test]
fn conga_is_refused_outside_leaves_and_spines() {
    let text = "scheme = \"dctcp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nload_on = \"hosts\"\n\
                [switch]\nbalance = \"conga\"\n";
    let refused = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_string()).collect();
        match Run::open(text, "test.toml", &overrides, Threads::ONE) {
            Ok(_) => panic!("{overrides:?} is accepted"),
            Err(problems) => problems.to_string(),
        }
    };
    for (topology, found) in [
        ("fat-tree", "a link joins the spines "),
        ("clos", "a link joins the spines "),
        ("torus", "a link joins the leaves "),
        ("dragonfly", "a link joins the leaves "),
        ("dumbbell", "a link joins the leaves "),
        ("rail", "has several links"),
    ] {
        let text = refused(&[&format!("network.topology={topology}")]);
        assert!(text.contains(found), "{topology}:\n{text}");
        assert!(
            text.contains("set network.topology = \"leaf-spine\"") && text.contains("test.toml:10")
        );
    }
    for (set, said) in [
        ("conga.bits=7", "a leaf has 8 uplinks: with bits = 7, a header can name 2"),
        ("conga.bits=8", "bits = 8 must be from 1 to 7"),
        ("conga.alpha=1", "alpha = 1 must be at least 0.001 and below 1"),
        ("conga.aging=0ps", "aging = 0ps forgets each metric"),
        ("conga.tau=5ps", "alpha times tau must be 1ps or more"),
        ("flowlets.timeout=0ps", "timeout = 0ps makes each packet a flowlet"),
        ("flowlets.entries=0", "entries = 0 must be from 1 to 16777216"),
        ("switch.overflow=trim", "a trimmed packet has no header of its own"),
        ("switch.symmetric_ecmp=true", "requires balance = \"ecmp\""),
        ("run.paths=true", "sends each flowlet its own way"),
        ("spray.order=random", "[spray] is not used because switch.balance = \"conga\""),
        ("scheme=bfc", "backpressure follows a flow's packets upstream"),
        ("scheme=hpcc", "INT entries of one hop in successive packets"),
    ] {
        let text = refused(&[set]);
        assert!(text.contains(said), "{set}:\n{text}");
    }
    let (run, _) = run(text, &["switch.balance=letflow", "network.topology=fat-tree"]);
    assert!(run.progress().flows_finished > 0);
}
