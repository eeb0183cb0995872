//! Hosts that go down, for a time or for good.

use std::collections::BTreeSet;

use crate::common::{finish, for_fast_links, open, over_hosts};
use crate::fault_kinds::{REFUSALS, opened, pauses};
use xoff_core::{HostId, Ps};
use xoff_run::Run;
use xoff_scenario::presets;
use xoff_sim::{CutOffRow, FlowRow, Threads};

const US: u64 = 1_000_000;

/// Runs it to its end and returns its rows: of flows that ended, and of flows that were cut off.
fn rows(run: &mut Run) -> (Vec<FlowRow>, Vec<CutOffRow>) {
    let mut flows = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        flows.append(&mut run.rows().flows);
        run.rows().samples.clear();
    }
    flows.append(&mut run.rows().flows);
    (flows, std::mem::take(&mut run.rows().cut_off))
}

fn down(host: u32, until: &str) -> String {
    format!(
        "[[fault]]\nkind = \"host-down\"\nhost = \"{host}\"\nat = \"50us\"\nuntil = \"{until}\"\n"
    )
}

/// Under every preset all other flows end, the run ends with them, and does not depend on threads.
#[test]
fn a_dead_host_cuts_off_its_own_flows_and_no_others() {
    let mut several = [2, 3, 8].into_iter().cycle();
    let (mut ran, mut refused) = (0, 0);
    for (scheme, _) in presets() {
        let mut found = Vec::new();
        for threads in [1].into_iter().chain(several.next()) {
            match opened(&scheme, &down(5, "0us"), threads) {
                Ok(mut run) => {
                    let (flows, cut_off) = rows(&mut run);
                    assert!(!cut_off.is_empty(), "{scheme}");
                    for row in &cut_off {
                        assert!(
                            [row.src, row.dst].contains(&5) && row.host == 5,
                            "{scheme} {row:?}"
                        );
                        assert_eq!(row.down_ps, 50 * US);
                    }
                    for row in flows.iter().filter(|row| [row.src, row.dst].contains(&5)) {
                        // An acknowledgement may have been on its way.
                        let received = row.start_ps + row.rx_fct_ps;
                        assert!(received <= 50 * US, "{scheme} {row:?}");
                    }
                    let progress = run.progress();
                    let all = (flows.len() + cut_off.len()) as u64;
                    assert_eq!(progress.flows_started, all, "{scheme}: other flows have not ended");
                    assert_eq!(progress.missing_flows, 0, "{scheme}");
                    assert!(progress.sim_ps < progress.drain_end_ps, "{scheme} waits for the dead");
                    found.push((run.digest(), run.summary().json(), flows, cut_off));
                    ran += 1;
                }
                Err(said) => {
                    let is_known = REFUSALS.iter().any(|known| said.contains(known));
                    assert!(is_known, "{scheme}:\n{said}");
                    refused += 1;
                }
            }
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{scheme} depends on threads");
    }
    assert!(ran > 3 * refused, "{ran} runs, {refused} refused");
}

/// A leaf dies, and its hosts with it: under every preset the flows of all other hosts end, and the
/// run does not depend on threads.
#[test]
fn a_dead_leaf_cuts_off_the_flows_of_its_hosts_and_no_others() {
    let dead_leaf = |until: &str| {
        format!(
            "[[fault]]\nkind = \"switch-down\"\nswitch = \"leaf:1\"\nat = \"50us\"\n\
             until = \"{until}\"\ndetection = \"20us\"\n"
        )
    };
    let of_leaf = 4..8;
    let mut several = [2, 3, 8].into_iter().cycle();
    let (mut ran, mut refused) = (0, 0);
    for (scheme, _) in presets() {
        for until in ["0us", "150us"] {
            let mut found = Vec::new();
            for threads in [1].into_iter().chain(several.next()) {
                let mut run = match opened(&scheme, &dead_leaf(until), threads) {
                    Ok(run) => run,
                    Err(said) => {
                        let is_known = REFUSALS.iter().any(|known| said.contains(known));
                        assert!(is_known, "{scheme}:\n{said}");
                        refused += 1;
                        continue;
                    }
                };
                let (flows, cut_off) = rows(&mut run);
                assert_eq!(cut_off.is_empty(), until != "0us", "{scheme}");
                for row in &cut_off {
                    let ends = [row.src, row.dst];
                    assert!(of_leaf.contains(&row.host) && ends.contains(&row.host), "{row:?}");
                }
                let progress = run.progress();
                let all = (flows.len() + cut_off.len()) as u64;
                assert_eq!(progress.flows_started, all, "{scheme} {until}: flows have not ended");
                assert_eq!(pauses(&run), 0, "{scheme} {until}");
                found.push((run.digest(), run.summary().json(), flows, cut_off));
                ran += 1;
            }
            for pair in found.windows(2) {
                assert!(pair[0] == pair[1], "{scheme} {until} depends on threads");
            }
        }
    }
    assert!(ran > 3 * refused, "{ran} runs, {refused} refused");
}

/// Fifteen senders to host 0 around a switch. The receiver goes down, with packets for it in the
/// switch, or a sender, whose NIC is paused. All senders have sent all once by the end of the run.
#[test]
fn no_pause_of_a_host_outlives_it() {
    let text = |host: u32, until: &str| {
        format!(
            "network = {{ topology = \"star\" }}\nstar = {{ hosts = 16 }}\n\
             run = {{ warmup = \"0us\", measure = \"5ms\", drain = \"100ms\" }}\n\
             [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 15\n\
             bytes = \"15MB\"\nperiod = \"100ms\"\n{}",
            down(host, until).replace("50us", "200us")
        )
    };
    let timeouts = ["transport.timeout=10ms", "tcp.min_rto=10ms"];
    let mut paused_at_death = BTreeSet::new();
    for (scheme, timeout) in [
        ("bfc", timeouts[0]),
        ("pfc", timeouts[0]),
        ("sfc", timeouts[0]),
        ("capfc-cal", timeouts[1]),
        ("detail", timeouts[1]),
    ] {
        for (host, until) in [(0, "600us"), (0, "0us"), (7, "600us"), (7, "0us")] {
            let name = format!("scheme={scheme}");
            let sets = [&[name.as_str(), timeout], for_fast_links(scheme)].concat();
            let mut run = open(&text(host, until), &sets);
            while run.progress().sim_ps < 200 * US {
                assert!(run.step().unwrap());
            }
            let nics = run.simulation().partitions()[0].hosts().nics();
            if nics[host as usize].paused() != 0 {
                paused_at_death.insert(scheme);
            }
            let (flows, cut_off) = rows(&mut run);
            let expected = match (host, until) {
                (_, "600us") => (15, 0),
                (0, _) => (0, 15),
                _ => (14, 1),
            };
            assert_eq!((flows.len(), cut_off.len()), expected, "{scheme} {host} {until}");
            assert_eq!(pauses(&run), 0, "{scheme} {host} {until}");
            let nics = run.simulation().partitions()[0].hosts().nics();
            assert!(nics.iter().all(|nic| nic.paused() == 0), "{scheme} {host} {until}");
        }
    }
    assert_eq!(paused_at_death, BTreeSet::from(["bfc", "detail", "pfc"]));
}

/// Two hosts of a rack with a flow of 25 packets each. The last packet of one of them has left host
/// 0 before it dies, and its acknowledgement is sent before host 1 does.
#[test]
fn an_acknowledgement_on_its_way_ends_its_flow() {
    let text = |at: &str| {
        format!(
            "scheme = \"dctcp\"\nnetwork = {{ topology = \"star\" }}\n\
             star = {{ hosts = 4, rate = \"10Gbps\", delay = \"10us\" }}\n\
             run = {{ warmup = \"0us\", measure = \"300us\", drain = \"50ms\" }}\n\
             [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\nbytes = \"1000B\"\n\
             [[fault]]\nkind = \"host-down\"\nhost = \"1\"\nat = \"{at}\"\n"
        )
    };
    // The packet arrives after 21.7 us, its acknowledgement crosses the link until 31.7 us and
    // arrives at 41.8 us. Packets of the host's own link die with it.
    for (at, ends) in [("40us", true), ("30us", false), ("20us", false)] {
        let mut run = open(&text(at), &[]);
        let (flows, cut_off) = rows(&mut run);
        assert_eq!((flows.len(), cut_off.len()), (usize::from(ends), usize::from(!ends)), "{at}");
        let class = &run.simulation().classes()[0].all;
        assert_eq!((class.flows(), class.finished()), (u64::from(ends), u64::from(ends)), "{at}");
        let dead = run.simulation().dead_hosts();
        assert_eq!((dead[0].host, dead[0].flows), (HostId(1), u64::from(!ends)), "{at}");
    }
}

/// The watchdog of stuck runs is shorter than the absence of the host, and its flow goes on.
#[test]
fn flows_wait_for_a_host_that_comes_back() {
    let text = "scheme = \"irn\"\nnetwork = { topology = \"star\" }\nstar = { hosts = 4 }\n\
                run = { warmup = \"0us\", measure = \"300us\", drain = \"50ms\" }\n\
                [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\nbytes = \"1MB\"\n";
    for host in [0, 1] {
        let mut run = open(&format!("{text}{}", down(host, "10ms")), &["run.watchdog=2ms"]);
        let flows = finish(&mut run);
        assert_eq!(flows.len(), 1);
        assert!(Ps(flows[0].fct_ps) > Ps::from_us(9_950), "{:?}", flows[0]);
        assert!(over_hosts(&run, |stats| stats.timeouts) > 0);
        assert!(run.simulation().dead_hosts().is_empty() && run.rows().cut_off.is_empty());
    }
}

/// The links of a star's only switch are all links of hosts. Flows that have not ended are reported
/// with the switch that lost their packets, and with some of the faults only if they are many.
#[test]
fn a_warning_names_the_faults_that_lost_packets() {
    let text = "scheme = \"irn\"\nnetwork = { topology = \"star\" }\nstar = { hosts = 3 }\n\
                run = { warmup = \"0us\", measure = \"300us\", drain = \"300us\" }\n\
                [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\nbytes = \"10MB\"\n";
    let reported = |fault: &str| {
        let mut run = open(&format!("{text}{fault}"), &[]);
        assert_eq!(finish(&mut run).len(), 0);
        let warnings = run.summary().warnings;
        let lost = warnings.into_iter().find(|warning| warning.starts_with("links lost"));
        let lost = lost.expect("packets were lost");
        lost.split_once("([[fault]]): ").expect("the faults are named").1.to_owned()
    };
    let switch = "[[fault]]\nkind = \"switch-down\"\nswitch = \"leaf:0\"\nat = \"50us\"\n\
                  until = \"200us\"\ndetection = \"20us\"\n";
    assert_eq!(
        reported(switch),
        "leaf:0 from 50us to 200us; host 0 from 50us to 200us; host 1 from 50us to 200us; host 2 \
         from 50us to 200us"
    );
    let down: String = (1..9)
        .map(|at| {
            down(1, &format!("{}us", 50 * at + 40)).replacen("50us", &format!("{}us", 50 * at), 1)
        })
        .collect();
    let many = reported(&down);
    assert!(many.starts_with("host 1 from 50us to 90us; host 1 from 100us to 140us; "), "{many}");
    assert!(many.ends_with("host 1 from 250us to 290us and 3 more"), "{many}");
}

/// A ring all-reduce needs every rank: it stops at the round in which its host dies. A second job,
/// without that host, ends.
#[test]
fn a_job_with_a_dead_host_is_reported_and_not_waited_for() {
    let job = |hosts: &str| {
        format!(
            "[[traffic]]\nkind = \"collective\"\noperation = \"all-reduce\"\nalgorithm = \"ring\"\n\
             bytes = \"400KB\"\nrounds = 8\ncompute = \"20us\"\nhosts = \"{hosts}\"\n"
        )
    };
    let text = format!(
        "scheme = \"hpcc\"\nnetwork = {{ topology = \"star\" }}\nstar = {{ hosts = 8 }}\n\
         run = {{ warmup = \"0us\", measure = \"100us\", drain = \"500ms\" }}\n{}{}{}",
        job("0-3"),
        job("4-7"),
        down(2, "0us").replace("50us", "150us")
    );
    let outcome = |threads| {
        let sets = [format!("run.partitions={threads}")];
        let mut run = Run::open(&text, "test.toml", &sets, Threads::up_to(threads)).unwrap();
        let (_, cut_off) = rows(&mut run);
        let ends: Vec<u32> =
            run.simulation().jobs().iter().map(|job| job.durations.len() as u32).collect();
        let warnings = run.summary().warnings;
        (ends, run.progress().sim_ps, warnings, cut_off, run.digest())
    };
    let (ends, sim_ps, warnings, cut_off, digest) = outcome(1);
    assert!((1..8).contains(&ends[0]) && ends[1] == 8, "{ends:?}");
    assert!(sim_ps < 5_000 * US, "{sim_ps}");
    let of_job = format!("finished {} of 8 rounds: its host 2 is down", ends[0]);
    assert!(warnings.iter().any(|warning| warning.contains(&of_job)), "{warnings:?}");
    assert!(warnings.iter().any(|warning| warning.contains("host 2 has been down since 150us")));
    let hosts: BTreeSet<u32> = cut_off.iter().flat_map(|row| [row.src, row.dst]).collect();
    assert!(hosts.contains(&2) && hosts.is_subset(&BTreeSet::from([1, 2, 3])), "{hosts:?}");
    for threads in [2, 3] {
        assert_eq!(
            outcome(threads),
            (ends.clone(), sim_ps, warnings.clone(), cut_off.clone(), digest)
        );
    }
}

/// A web request asks four of six servers. A request to host 3 cannot end.
#[test]
fn a_web_request_to_a_dead_server_is_not_waited_for() {
    let text = format!(
        "scheme = \"dctcp\"\nnetwork = {{ topology = \"star\" }}\nstar = {{ hosts = 8 }}\n\
         run = {{ warmup = \"0us\", measure = \"1ms\", drain = \"500ms\" }}\n\
         [[traffic]]\nkind = \"queries\"\nclients = \"0-1\"\nservers = \"2-7\"\nqueries = \"2\"\n\
         workflow = \"parallel\"\nrate = 40000\n{}",
        down(3, "0us").replace("50us", "500us")
    );
    let mut run = open(&text, &[]);
    while run.step().unwrap() {}
    let progress = run.progress();
    assert!(progress.sim_ps < 10_000 * US, "{progress:?}");
    assert_eq!((progress.missing_requests, progress.missing_flows), (0, 0));
    let dead = run.simulation().dead_hosts();
    let all = &run.simulation().requests()[0].requests[&None];
    assert_eq!(all.flows(), all.finished());
    // Two of six servers in half of the time: a sixth of some 80.
    assert!((5..25).contains(&dead[0].requests) && all.flows() > 40, "{dead:?}");
    assert!(dead[0].flows >= dead[0].requests, "each has a request that no server answers");
}

/// A connection matrix with flows that wait for triggers. Host 1 dies, so the first flow never
/// ends, and triggers 1 and 2 never come. Trigger 3 comes, and its flow to host 1 is as stuck as
/// the first one.
#[test]
fn flows_behind_a_dead_host_are_reported_and_not_waited_for() {
    let matrix = "Nodes 5\nConnections 6\nTriggers 3\n\
                  0->1 start 0 size 10000000 send_done_trigger 1\n\
                  2->3 trigger 1 size 20000 recv_done_trigger 2\n\
                  3->4 trigger 2 size 20000\n\
                  4->2 start 0 size 10000000 recv_done_trigger 3\n\
                  2->0 trigger 3 size 20000\n\
                  3->1 trigger 3 size 20000\n\
                  trigger id 1 oneshot\ntrigger id 2 oneshot\ntrigger id 3 oneshot\n";
    let folder = std::env::temp_dir().join(format!("xoff-dead-trigger-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("dead.cm");
    std::fs::write(&file, matrix).unwrap();
    let text = format!(
        "scheme = \"dctcp\"\nnetwork = {{ topology = \"star\" }}\nstar = {{ hosts = 5 }}\n\
         run = {{ warmup = \"0us\", measure = \"1ms\", drain = \"500ms\" }}\n\
         [[traffic]]\nkind = \"connections\"\nfile = \"{}\"\n{}",
        file.display(),
        down(1, "0us")
    );
    let mut run = open(&text, &[]);
    let (flows, cut_off) = rows(&mut run);
    std::fs::remove_dir_all(folder).unwrap();
    let pair = |src: u32, dst: u32| (src, dst);
    assert_eq!(
        flows.iter().map(|row| pair(row.src, row.dst)).collect::<BTreeSet<_>>(),
        BTreeSet::from([(4, 2), (2, 0)])
    );
    let found: BTreeSet<_> = cut_off.iter().map(|row| pair(row.src, row.dst)).collect();
    assert_eq!(found, BTreeSet::from([(0, 1), (2, 3), (3, 4), (3, 1)]));
    assert!(cut_off.iter().all(|row| row.host == 1 && row.down_ps == 50 * US), "{cut_off:?}");
    let waited = cut_off.iter().filter(|row| [2, 3].contains(&row.src) && row.dst != 1);
    assert!(waited.clone().count() == 2 && waited.clone().all(|row| row.acked_bytes == 0));
    let progress = run.progress();
    assert_eq!(progress.missing_flows, 0);
    assert!(progress.sim_ps < 100_000 * US, "it waits for the drain: {progress:?}");
    assert_eq!(run.simulation().dead_hosts()[0].flows, 4);
}

#[test]
fn hosts_that_cannot_go_down_are_refused() {
    let scenario = "scheme = \"dctcp\"\nnetwork = { topology = \"star\" }\nstar = { hosts = 4 }\n\
                    [[traffic]]\nkind = \"permutation\"\nbytes = \"10KB\"\n";
    for (host, sets, said) in [
        ("leaf:0", "scheme=dctcp", "host: \"leaf:0\" is a switch: write a host as 3"),
        ("4", "scheme=dctcp", "host 4 does not exist: hosts are 0 to 3"),
        ("0-1", "scheme=dctcp", "\"0-1\" is more than one node"),
        ("4", "scheme=flowtune", "host 4 is the host of an allocator, which cannot go down"),
        ("1", "scheme=bfc-strawman", "a switch would keep pauses of a link that is down"),
    ] {
        let fault = down(0, "0us").replace("\"0\"", &format!("\"{host}\""));
        let text = format!("{scenario}{fault}");
        let Err(problems) = Run::open(&text, "test.toml", &[sets.into()], Threads::ONE) else {
            panic!("{host} under {sets} is accepted");
        };
        assert!(problems.to_string().contains(said), "{said}:\n{problems}");
    }
    // Only a host that comes back has flows that need a timeout.
    open(&format!("{scenario}{}", down(1, "0us")), &["scheme=dctcp"]);
    let back = format!("{scenario}{}", down(1, "90us"));
    let Err(problems) = Run::open(&back, "test.toml", &["scheme=dctcp".into()], Threads::ONE)
    else {
        panic!("a host that comes back needs a timeout");
    };
    assert!(problems.to_string().contains("set transport.timeout = \"10ms\""), "{problems}");
    // So do the hosts of a leaf that is down from the start, though all switches know of it.
    let leaf = "[[fault]]\nkind = \"switch-down\"\nswitch = \"leaf:0\"\nuntil = \"90us\"\n\
                detection = \"0us\"\n";
    let Err(problems) = Run::open(
        &format!("{scenario}{leaf}"),
        "test.toml",
        &["scheme=dctcp".into()],
        Threads::ONE,
    ) else {
        panic!("a leaf that comes back needs a timeout");
    };
    assert!(problems.to_string().contains("set transport.timeout = \"10ms\""), "{problems}");
}
