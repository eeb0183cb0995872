//! Packet spraying: equal paths get equal shares, and schemes that need one path refuse it.

use crate::common::{finish, over_hosts, run};
use xoff_run::Run;
use xoff_sim::{PortRow, Threads};

/// One flow from the first rack of BFC's fabric to the second.
const ONE_FLOW: &str = "scheme = \"ndp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"200us\"\n\
                        [[traffic]]\nkind = \"list\"\nfile = \"one.csv\"\n";

/// Packets from the first leaf to each spine.
fn shares(ports: &[PortRow]) -> Vec<u64> {
    let up = ports.iter().filter(|port| port.link == "leaf-spine");
    let leaf = up.clone().map(|port| port.node).min();
    up.filter(|port| Some(port.node) == leaf).map(|port| port.tx_packets).collect()
}

fn one_flow(overrides: &[&str]) -> Vec<u64> {
    let folder = std::env::temp_dir().join(format!("xoff-spray-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("one.csv"), "src,dst,size_bytes,start_ps\n0,20,1600000,0\n")
        .unwrap();
    let file = folder.join("scenario.toml");
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_string()).collect();
    let opened = Run::open(ONE_FLOW, file.to_str().unwrap(), &overrides, Threads::ONE);
    let mut run = opened.unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(finish(&mut run).len(), 1);
    assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0);
    shares(&run.ports())
}

#[test]
fn a_flow_takes_one_path_in_turns_all_and_at_random_all_in_the_mean() {
    let ecmp = one_flow(&[]);
    assert_eq!((ecmp.iter().sum::<u64>(), ecmp.iter().max()), (1600, Some(&1600)));
    let turns = one_flow(&["switch.balance=spray", "spray.order=round-robin"]);
    assert_eq!(turns, vec![1600 / turns.len() as u64; turns.len()]);
    let random = one_flow(&["switch.balance=spray"]);
    assert_eq!(random.iter().sum::<u64>(), 1600);
    let mean = 1600 / random.len() as u64;
    assert!(random.iter().all(|&share| share.abs_diff(mean) < 60), "{random:?}");
    assert_eq!(random, one_flow(&["switch.balance=spray"]));
    assert_ne!(random, one_flow(&["switch.balance=spray", "seed=2"]));
}

/// PFC, where a packet does not wait for others of its flow, with notices of losses to the sender.
#[test]
fn spraying_goes_with_hosts_that_do_not_heed_order() {
    let text = "scheme = \"dctcp\"\n[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                [[traffic]]\nkind = \"open-loop\"\nload = 0.5\nstop = \"20us\"\n";
    for overrides in [
        &["switch.balance=spray", "transport.recovery=perfect"][..],
        &["switch.balance=spray", "transport.recovery=sack", "tcp.duplicate_acks=0"],
        &["switch.balance=spray", "transport.recovery=sack", "tcp.duplicate_acks=40"],
    ] {
        let (run, rows) = run(text, overrides);
        assert!(rows.len() > 100);
        assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0, "{overrides:?}");
    }
}

#[test]
fn spraying_is_refused_where_a_flow_needs_one_path() {
    for (scheme, said) in [
        ("bfc", "backpressure follows a flow's packets upstream"),
        ("sfc", "computed from one queue on its path"),
        ("dctcp", "which these hosts take for losses"),
        ("irn", "which these hosts take for losses"),
        ("tcp-cubic", "which these hosts take for losses"),
        ("hpcc", "INT entries of one hop in successive packets"),
        ("onramp", "follow the delay of one path"),
        ("flowtune", "computes a single path for each flow"),
        ("detail", "others have balance = \"adaptive\""),
    ] {
        let text = format!(
            "scheme = \"{scheme}\"\n[[traffic]]\nkind = \"open-loop\"\nload = 0.5\n\
             [switch]\nbalance = \"spray\"\n"
        );
        let Err(problems) = Run::open(&text, "test.toml", &[], Threads::ONE) else {
            panic!("{scheme} sprays");
        };
        let text = problems.to_string();
        assert!(text.contains(said) && text.contains("test.toml:6"), "{scheme}:\n{text}");
    }
}
