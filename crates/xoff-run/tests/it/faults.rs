//! Links that go down or lose packets, in whole runs.

use crate::common::{finish, open, open_on, over_hosts, run};
use xoff_run::Run;
use xoff_sim::{PortSampleRow, Threads};

/// Four leaves, four spines; short flows between all hosts use every link.
const SCENARIO: &str = r#"
scheme = "dctcp"
leaf_spine = { leaves = 4, spines = 4, hosts_per_leaf = 4 }
run = { warmup = "0us", measure = "1ms", drain = "100ms", port_samples = "50us" }
[[traffic]]
kind = "open-loop"
arrivals = "poisson"
load = 0.1
stop = "1ms"
"#;

/// DCTCP without pauses, with senders that retransmit losses.
const SETS: [&str; 4] = [
    "switch.hop=none",
    "transport.recovery=selective-repeat",
    "transport.timeout=200us",
    "transport.timeout_low=200us",
];

/// Leaf 1 loses its link to spine 2 between 200 and 600 us; switches take 100 us to notice.
const DOWN: &str = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:1,spine:2\"\nat = \"193us\"\n\
                    until = \"600us\"\ndetection = \"100us\"\n";

const HOSTS: u32 = 16;
const LEAF: u32 = HOSTS + 1;
const SPINE: u32 = HOSTS + 4 + 2;

fn with(fault: &str) -> String {
    format!("{SCENARIO}{fault}")
}

/// Samples of the two ports of the link, at leaf and spine.
fn samples(run: &mut Run) -> [Vec<PortSampleRow>; 2] {
    let mut rows = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        rows.append(&mut run.rows().port_samples);
    }
    rows.append(&mut run.rows().port_samples);
    // The leaf's first ports lead to its hosts.
    [(LEAF, 4 + 2), (SPINE, 1)].map(|(node, port)| {
        rows.iter().filter(|row| (row.node, row.port) == (node, port)).copied().collect()
    })
}

#[test]
fn a_link_that_is_down_is_avoided_once_it_is_noticed() {
    let mut run = open(&with(DOWN), &SETS);
    let ports = samples(&mut run);
    for rows in &ports {
        assert_eq!(rows.len(), 20);
        for row in rows {
            let until = row.time_ps / 1_000_000;
            let (sent, lost) = (row.tx_packets, row.drops);
            match until {
                // Down, but not noticed: from the step of the grid after 193 us on.
                250 | 300 => assert!(sent == 0 && lost > 0, "{row:?}"),
                // No switch sends there, though it is back at 600 us.
                350..=700 => assert_eq!((sent, lost), (0, 0), "{row:?}"),
                _ => assert!(sent > 0 && lost == 0, "{row:?}"),
            }
        }
    }
    // Lost packets were sent again.
    let progress = run.progress();
    assert_eq!(progress.flows_started, progress.flows_finished);
    assert!(over_hosts(&run, |stats| stats.timeouts) > 0);
    let lost: u64 = ports.iter().flatten().map(|row| row.drops).sum();
    let (packets, bytes) = run
        .ports()
        .iter()
        .fold((0, 0), |(packets, bytes), port| (packets + port.drops, bytes + port.drop_bytes));
    assert_eq!(packets, lost);
    assert!(bytes >= packets * 60 && bytes <= packets * 1048);
    let dropped = run.summary().dropped;
    assert_eq!((dropped.packets, dropped.bytes), (packets, bytes));
}

/// With local repair, the leaf at the end of the link avoids it from the step of the failure to the
/// recovery. The spine has no other port to that leaf, so it sends into the link until all switches
/// know.
#[test]
fn a_leaf_repairs_its_routes_before_others_know() {
    let mut run = open(&with(&format!("{DOWN}local_repair = true\n")), &SETS);
    let [leaf, spine] = samples(&mut run);
    for (up, down) in leaf.iter().zip(&spine) {
        match up.time_ps / 1_000_000 {
            // What waited for the link is lost, then nothing more is sent into it.
            250 => assert!(up.tx_packets == 0 && up.drops < 10 && down.drops > 0, "{up:?}"),
            300 => {
                assert_eq!((up.tx_packets, up.drops), (0, 0), "{up:?}");
                assert!(down.tx_packets == 0 && down.drops > 0, "{down:?}");
            }
            350..=700 => assert_eq!(up.tx_packets + up.drops + down.tx_packets + down.drops, 0),
            _ => assert!(up.tx_packets > 0 && down.tx_packets > 0),
        }
    }
    let progress = run.progress();
    assert_eq!(progress.flows_started, progress.flows_finished);
}

/// Packets on the link when it goes down are lost. Here one flow has the link to itself, which is
/// down for less time than a packet takes through it.
#[test]
fn what_is_in_flight_is_lost() {
    let one = "[[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 4\nbytes = \"1MB\"\n";
    let at = |spine: u32| {
        let fault = format!(
            "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:{spine}\"\nat = \"50us\"\n\
             until = \"60us\"\n"
        );
        let text = SCENARIO.split("[[traffic]]").next().unwrap_or_default().to_owned();
        let (run, rows) =
            run(&(text + one + &fault), &[&SETS[..], &["leaf_spine.spine_delay=4us"]].concat());
        assert_eq!(rows.len(), 1);
        let lost = |node: u32| -> u64 {
            run.ports().iter().filter(|port| port.node == node).map(|port| port.drops).sum()
        };
        (lost(HOSTS), lost(HOSTS + 4 + spine), rows[0].fct_ps)
    };
    let found: Vec<_> = (0..4).map(at).collect();
    let hit: Vec<_> = found.iter().filter(|(up, down, _)| up + down > 0).collect();
    // Data takes one of the links, acknowledgements the same or another one.
    assert!((1..=2).contains(&hit.len()), "{found:?}");
    let data = found.iter().map(|found| found.0).max().unwrap_or(0);
    // Packets of 10 us, and those on 4 us of link and in transmission: 83.84 ns per packet.
    assert!((167..=168).contains(&data), "{found:?}");
}

/// The link is back before a switch has noticed: no route changes, and losses are recovered.
#[test]
fn a_short_outage_is_not_noticed() {
    let short = DOWN.replace("600us", "250us");
    let mut run = open(&with(&short), &SETS);
    let ports = samples(&mut run);
    assert!(
        ports.iter().all(|rows| {
            rows.iter().all(|row| row.tx_packets > 0 || row.time_ps == 250_000_000)
        })
    );
    assert!(ports.iter().flatten().any(|row| row.drops > 0));
    let progress = run.progress();
    assert_eq!(progress.flows_started, progress.flows_finished);
}

fn stuck(mut run: Run) -> String {
    loop {
        match run.step() {
            Ok(true) => {}
            Ok(false) => panic!("all flows have ended"),
            Err(error) => break error,
        }
    }
}

/// A run whose timeouts come too late is stuck. It names the link, and the two settings.
#[test]
fn a_flow_that_nobody_helps_is_named() {
    let late = ["switch.hop=none", "run.watchdog=5ms", "transport.timeout=20ms"];
    let error = stuck(open(&with(DOWN), &late));
    assert!(error.contains("the run is stuck") && error.contains("bytes acknowledged"), "{error}");
    for part in [
        " packets ([[fault]]): leaf:1,spine:2 from 193us to 600us\n",
        "transport.timeout = 20ms does not end before run.watchdog = 5ms",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

/// Without a timeout, a sender of go-back-N does not learn that the last packets of its flow are
/// lost, also where a full queue drops them.
#[test]
fn losses_without_a_timeout_are_named() {
    let full = ["switch.hop=none", "run.watchdog=5ms", "buffer.size=3KB", "buffer.kind=dedicated"];
    let error = stuck(open(SCENARIO, &full));
    assert!(error.contains("\n  switches dropped "), "{error}");
    assert!(
        error.contains("transport.timeout = \"0ps\": no sender repeats the last packets"),
        "{error}"
    );
}

/// Nothing is lost on a link that is missing from the start.
#[test]
fn a_link_that_is_missing_from_the_start_needs_no_timeout() {
    let missing = DOWN.replace("193us", "0us").replace("100us", "0us");
    let (run, rows) = run(&with(&missing), &["run.port_samples=0us"]);
    assert!(!rows.is_empty());
    assert_eq!(run.summary().dropped.packets, 0);
}

#[test]
fn a_share_of_packets_is_lost_on_one_link_or_on_all() {
    for (link, expected) in [("all", None), ("leaf:1,spine:2", Some([LEAF, SPINE]))] {
        let fault = format!(
            "[[fault]]\nkind = \"loss\"\nlink = \"{link}\"\nshare = 0.02\nuntil = \"900us\"\n"
        );
        let mut run = open(&with(&fault), &SETS);
        let rows = finish(&mut run);
        let progress = run.progress();
        assert_eq!(
            (rows.len() as u64, progress.flows_started),
            (progress.flows_finished, progress.flows_finished)
        );
        let ports = run.ports();
        let of_link = |node: u32, peer: u32| {
            expected.is_none_or(|ends| ends == [node, peer] || ends == [peer, node])
        };
        let (mut sent, mut lost) = (0, 0);
        for port in &ports {
            if of_link(port.node, port.peer) {
                sent += port.tx_packets;
                lost += port.drops;
            } else {
                assert_eq!(port.drops, 0);
            }
        }
        // About 0.9 of the measured time.
        let share = lost as f64 / sent as f64;
        assert!((0.012..0.024).contains(&share), "{link}: {lost} of {sent}");
    }
}

#[test]
fn faults_are_the_same_however_it_is_cut_and_on_any_threads() {
    let more = "[[fault]]\nkind = \"link-down\"\nlink = \"leaf:0,spine:2\"\nat = \"300us\"\n\
                detection = \"0us\"\n\
                [[fault]]\nkind = \"loss\"\nshare = 0.01\nat = \"100us\"\nuntil = \"500us\"\n\
                [[traffic]]\nkind = \"staggered\"\nsenders = \"5,9,14\"\ninterval = \"130us\"\n";
    let text = with(DOWN) + more;
    let tcp = ["tcp.min_rto=200us"];
    for (scheme, sets) in [
        ("dctcp", &SETS[..]),
        ("hpcc", &SETS),
        ("tcp-newreno", &tcp),
        ("pfabric", &[]),
        ("sfqcodel", &tcp),
        ("xcp", &tcp),
    ] {
        let outcome = |threads, parts: &str| {
            let scheme = format!("scheme={scheme}");
            let sets = [sets, &[scheme.as_str(), parts, "run.flow_series=100us"]].concat();
            let mut run = open_on(threads, &text, &sets);
            let (mut flows, mut series, mut ports) = (Vec::new(), Vec::new(), Vec::new());
            while run.step().unwrap_or_else(|message| panic!("{message}")) {
                flows.append(&mut run.rows().flows);
                series.append(&mut run.rows().flow_series);
                ports.append(&mut run.rows().port_samples);
            }
            (run.digest(), run.summary().json(), flows, series, ports)
        };
        let whole = outcome(Threads::ONE, "run.partitions=1");
        assert!(whole.2.len() > 100 && whole.4.iter().any(|row| row.drops > 0), "{scheme}");
        for (parts, threads) in [
            (2, Threads::ONE),
            (3, Threads { count: 3, jitter: Some((7, 30)), ..Threads::ONE }),
            (4, Threads::ONE),
        ] {
            let cut = format!("run.partitions={parts}");
            assert!(outcome(threads, &cut) == whole, "{scheme} {cut} {threads:?}");
        }
    }
}

#[test]
fn faults_that_cannot_be_are_refused() {
    let refused = |text: &str, overrides: &[&str], said: &str| {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).into()).collect();
        let Err(problems) = Run::open(text, "test.toml", &overrides, Threads::ONE) else {
            panic!("{text} {overrides:?} is accepted");
        };
        let problems = problems.to_string();
        assert!(problems.contains(said), "{said}:\n{problems}");
    };
    for (from, to, said) in [
        ("leaf:1,spine:2", "", "link: \"\" does not name two ends"),
        (
            "leaf:1,spine:2",
            "leaf:1",
            "\"leaf:1\" does not name two ends: write them as leaf:0,spine:1 or 3,leaf:0",
        ),
        ("leaf:1,spine:2", "leaf:1,spine:4", "names no spine switch"),
        ("leaf:1,spine:2", "leaf:1,leaf:2", "no link joins leaf:1 and leaf:2"),
        ("leaf:1,spine:2", "leaf:0-1,spine:2", "\"leaf:0-1\" is more than one node"),
        ("leaf:1,spine:2", "4,leaf:1", "host 4 has no other link, so it would be cut off"),
        ("link-down", "link-dwon", "unknown kind of fault \"link-dwon\""),
        ("600us", "193us", "until is 193us, which is not after at (193us)"),
        ("600us", "199us", "(193us) and until (199us) are rounded up to the same step of run.grid"),
        ("detection", "detectoin", "unknown key \"detectoin\""),
    ] {
        refused(&with(&DOWN.replace(from, to)), &SETS, said);
    }
    let loss = "[[fault]]\nkind = \"loss\"\nshare = 1.5\n";
    refused(&with(loss), &SETS, "share is 1.5: it is a share of the packets, 0 to 1");
    let text = with(DOWN);
    let loss = with("[[fault]]\nkind = \"loss\"\n");
    let slow = ["switch.hop=none", "nic.receive_rate=50Gbps"];
    let pfc = ["switch.hop=pfc"];
    for sets in [&slow[..], &pfc] {
        refused(&loss, sets, "would lose pauses and resumes");
    }
    let kept = format!("{loss}keep_pauses = true\n");
    refused(&kept, &["switch.hop=none"], "keep_pauses = true has no effect: nothing sends pauses");
    let spine = |settings: &str| with(&format!("[[fault]]\nkind = \"switch-down\"\n{settings}"));
    refused(&spine("switch = \"3\"\n"), &SETS, "\"3\" is a host: write a switch as spine:1");
    let core = format!(
        "{}[[fault]]\nkind = \"switch-down\"\nswitch = \"spine:0\"\n",
        SCENARIO.replace("spines = 4", "spines = 1")
    );
    refused(&core, &SETS, "disconnects the network: host ");
    let at_once = format!("{DOWN}local_repair = true\n").replace("\"100us\"", "\"0us\"");
    refused(&with(&at_once), &SETS, "local_repair = true has no effect with detection = \"0s\"");
    let flap = "[[fault]]\nkind = \"flap\"\nlink = \"leaf:1,spine:2\"\ndown = \"1ms\"\n";
    refused(&with(flap), &SETS, "down is 1ms: it must be more than zero and less than period");
    let often = flap.replace("1ms", "5us") + "period = \"50us\"\n";
    refused(
        &with(&often),
        &SETS,
        "would happen more than 1000 times until the run ends after 101ms",
    );
    let one_way = with("[[fault]]\nkind = \"loss\"\ndirection = \"back\"\n");
    refused(&one_way, &SETS, "direction has no meaning for link = \"all\"");
    for scheme in ["hpcc", "dctcp", "dcqcn", "pfc", "pfc-gbn", "ideal-fq", "timely", "homa"] {
        let scheme = format!("scheme={scheme}");
        refused(&text, &[&scheme], "set transport.timeout = \"10ms\"");
        refused(&text, &[&scheme], "test.toml:10");
        open(&text, &[&scheme, "transport.timeout=10ms"]);
    }
    let reporting = ["switch.hop=none", "transport.recovery=perfect"];
    refused(&text, &reporting, "no switch reports losses of a link");
    // All links of a leaf, one after another.
    let all: String = (0..4)
        .map(|spine| {
            let link = format!("leaf:1,spine:{spine}");
            DOWN.replace("leaf:1,spine:2", &link).replace("193us", &format!("{}us", 200 + spine))
        })
        .collect();
    refused(&with(&all), &SETS, "[[fault]] at 203us disconnects the network: host ");
}
