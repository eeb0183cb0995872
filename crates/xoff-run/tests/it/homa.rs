//! Homa from end to end: grants, priorities and spraying together.

use crate::common::{open, over_hosts, over_switches, received_bytes, run};
use xoff_host::receiver_driven::AnyDriven;
use xoff_host::receiver_driven::homa::HomaStats;
use xoff_net::arch::Switch;
use xoff_run::Run;
use xoff_sim::{FlowRow, Threads};

fn stats(run: &Run) -> HomaStats {
    let mut sum = HomaStats::default();
    for partition in run.simulation().partitions() {
        let Some(AnyDriven::Homa(homa)) = partition.hosts().receiver_driven() else {
            panic!("no Homa")
        };
        sum.add(&homa.stats());
    }
    sum
}

/// One flow of `bytes` from one rack of BFC's fabric to another.
fn one_flow(bytes: u64) -> (Run, Vec<FlowRow>) {
    let text = format!(
        "scheme = \"homa\"\n[run]\nwarmup = \"0us\"\nmeasure = \"10us\"\n\
         [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 20\nbytes = \"{bytes}B\"\n"
    );
    run(&text, &[])
}

#[test]
fn a_message_of_one_packet_alone_takes_the_ideal_time() {
    for bytes in [1, 700, 1000] {
        let (run, rows) = one_flow(bytes);
        assert_eq!(rows[0].fct_ps, rows[0].ideal_fct_ps, "{bytes}");
        assert_eq!((stats(&run).granted.grants, stats(&run).unscheduled_bytes), (0, bytes));
    }
}

/// All packets leave at line rate, though they take different paths. Later grants keep the link
/// busy, except for the part of a grant's delay that the base RTT does not include.
#[test]
fn a_message_alone_goes_at_line_rate() {
    for (bytes, most) in [(50_000, 1.01), (100_000, 1.01), (10_000_000, 1.05)] {
        let (run, rows) = one_flow(bytes);
        assert!(rows[0].slowdown() < most, "{bytes} B: {}", rows[0].slowdown());
        let found = stats(&run);
        assert_eq!(found.unscheduled_bytes + found.scheduled_bytes, bytes);
        assert_eq!(found.scheduled_bytes, found.granted.bytes);
        assert_eq!(found.granted.grants, found.granted.bytes.div_ceil(1000), "one a packet");
        assert_eq!(received_bytes(&run), bytes);
    }
}

const BACKGROUND: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"100us\"\ndrain = \"20ms\"\n\
                          link_delays = true\n[[traffic]]\nkind = \"open-loop\"\n\
                          sizes = \"google\"\n\
                          load = 0.6\nstop = \"100us\"\n";

fn mixed(scheme: &str, more: &[&str]) -> (Run, Vec<FlowRow>) {
    let text = format!(
        "scheme = \"{scheme}\"\n{BACKGROUND}\
         [[traffic]]\nkind = \"incast\"\ndegree = 60\nbytes = \"12MB\"\nevents = 1\n"
    );
    run(&text, more)
}

#[test]
fn nothing_is_lost_and_nothing_sent_twice() {
    for scheme in ["homa", "homa-ecmp"] {
        let (run, rows) = mixed(scheme, &[]);
        let sent: u64 = rows.iter().map(|row| row.size_bytes).sum();
        assert!(rows.len() > 1000);
        assert_eq!(received_bytes(&run), sent);
        let packets: u64 = rows.iter().map(|row| row.size_bytes.div_ceil(1000)).sum();
        assert_eq!(over_hosts(&run, |s| s.finished_packets), packets);
        let found = stats(&run);
        assert_eq!(found.unscheduled_bytes + found.scheduled_bytes, sent);
        assert_eq!((found.granted.resends, over_hosts(&run, |s| s.timeouts)), (0, 0));
        assert_eq!(over_switches(&run, |s| s.stats().drops), 0);
        for (node, switch) in run.simulation().partitions().iter().flat_map(|p| p.switches()) {
            assert_eq!(switch.used_bytes(), 0, "bytes left in switch {node}");
        }
    }
}

/// Packets are lost for lack of room, and all messages complete: receivers report missing data, and
/// senders that receive nothing try again.
#[test]
fn what_a_full_buffer_drops_is_sent_again() {
    let finite = ["buffer.kind=shared", "buffer.size=300KB", "transport.timeout=200us"];
    let (run, rows) = mixed("homa", &finite);
    assert!(over_switches(&run, |s| s.stats().drops) > 100);
    assert!(stats(&run).granted.resends > 10 && over_hosts(&run, |s| s.timeouts) > 0);
    let (_, whole) = mixed("homa", &[]);
    assert_eq!(rows.len(), whole.len());
}

/// BFC App. A.2, Table 2: scheduled packets wait on core links with ECMP, and hardly with spraying.
/// There is no incast: its unscheduled bytes fill the links to the receiver's leaf with any
/// spraying.
#[test]
fn delays_are_told_apart_by_link_and_priority() {
    let delays = |scheme| {
        let text = format!("scheme = \"{scheme}\"\n{BACKGROUND}");
        let (run, _) = run(&text, &["run.measure=300us", "traffic.0.stop=300us"]);
        let of = |link: &str, packets: &str| {
            let found = run.simulation().link_delays().iter();
            let one = found.clone().find(|one| one.link == link && one.packets == packets);
            one.unwrap_or_else(|| panic!("no {packets} at {link}")).delays.clone()
        };
        for link in ["leaf-spine", "spine-leaf", "leaf-host"] {
            let parts = ["unscheduled", "scheduled"].map(|packets| of(link, packets));
            assert_eq!(of(link, "all").count(), parts[0].count() + parts[1].count(), "{link}");
        }
        ["leaf-spine", "spine-leaf"].map(|link| of(link, "scheduled").quantile(0.99).unwrap())
    };
    let (sprayed, hashed) = (delays("homa"), delays("homa-ecmp"));
    assert!(
        hashed.iter().zip(sprayed).all(|(hashed, sprayed)| *hashed > 3 * sprayed),
        "{hashed:?} {sprayed:?}"
    );
    let (run, _) = mixed("homa", &["run.link_delays=false"]);
    assert!(run.simulation().link_delays().is_empty());
}

/// The priorities derived from a scenario's sizes, as in the effective scenario.
fn derived(traffic: &str, more: &[&str]) -> String {
    let text = format!("scheme = \"homa\"\n[run]\nmeasure = \"1ms\"\n{traffic}");
    open(&text, more).effective().to_owned()
}

const GOOGLE: &str = "[[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.5\n";

#[test]
fn the_workload_divides_the_priorities() {
    let google = derived(GOOGLE, &[]);
    let hadoop = derived(&GOOGLE.replace("google", "hadoop"), &[]);
    let unscheduled = |text: &str| {
        let line = text.lines().find(|line| line.contains("homa_unscheduled_priorities")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert!(unscheduled(&google) > unscheduled(&hadoop) && unscheduled(&hadoop) > 1);
    // Unscheduled bytes of flows without an end are negligible.
    let endless = derived("[[traffic]]\nkind = \"permutation\"\n", &[]);
    assert_eq!(unscheduled(&endless), 1);
    assert!(endless.contains("homa_overcommitment = 31"), "{endless}");
    let by_hand = derived(GOOGLE, &["homa.cutoffs=300,2000", "homa.priorities=8"]);
    assert_eq!(unscheduled(&by_hand), 3);
    assert!(by_hand.contains("homa_cutoffs = \"300,2000\"\n"), "{by_hand}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let queries = "[[traffic]]\nkind = \"queries\"\n";
    let lossy = format!("{GOOGLE}[[fault]]\nkind = \"loss\"\n");
    let cutoffs = format!("homa.cutoffs={}", ["1"; 255].join(","));
    for (scheme, traffic, setting, said) in [
        ("homa", GOOGLE, "switch.scheduler=fifo", "requires switch.scheduler = \"strict\""),
        ("homa", GOOGLE, "homa.priorities=33", "priorities are 2 to 32"),
        ("homa", GOOGLE, "homa.priorities=1", "priorities are 2 to 32"),
        ("homa", GOOGLE, "homa.unscheduled_priorities=32", "leave at least one for scheduled data"),
        ("homa", GOOGLE, "homa.cutoffs=300,200", "sizes must rise"),
        ("homa", GOOGLE, &cutoffs, "256 of priorities = 32 are for unscheduled data"),
        ("homa", GOOGLE, "homa.cutoffs=300B", "write sizes in bytes"),
        ("homa", GOOGLE, "buffer.kind=shared", "waits without limit for dropped packets"),
        ("homa", GOOGLE, "switch.ecn=true", "ignores ECN marks"),
        ("homa", GOOGLE, "switch.hop=pfc", "set scheduler = \"fifo\""),
        ("homa", GOOGLE, "switch.hop=bfc", "set scheduler = \"drr\""),
        ("homa", GOOGLE, "transport.congestion=dctcp", "receivers decide what is sent"),
        ("homa", GOOGLE, "nic.receive_rate=50Gbps", "at the rate of their link"),
        ("homa", &lossy, "seed=1", "waits without limit for packets that a link loses"),
        ("homa", queries, "seed=1", "set homa.cutoffs"),
        ("dctcp", GOOGLE, "switch.scheduler=strict", "set transport.kind = \"homa\""),
        ("dctcp", GOOGLE, "homa.priorities=8", "transport.kind = \"sender\""),
    ] {
        let text = format!("scheme = \"{scheme}\"\n[run]\nmeasure = \"1ms\"\n{traffic}");
        let Err(problems) = Run::open(&text, "test.toml", &[setting.into()], Threads::ONE) else {
            panic!("{setting} is accepted");
        };
        let text = problems.to_string();
        assert!(text.contains(said), "{setting}:\n{text}");
    }
    let by_hand = ["homa.cutoffs=300,2000", "homa.unscheduled_priorities=3"];
    assert!(derived(queries, &by_hand).contains("homa_unscheduled_priorities = 3"));
}

/// Two messages of one host: the shorter one starts later and is sent first.
#[test]
fn a_host_sends_the_message_with_the_least_left() {
    let text = "scheme = \"homa\"\n[run]\nwarmup = \"0us\"\nmeasure = \"10us\"\n\
                [[traffic]]\nkind = \"long\"\ndst = 20\nbytes = \"90kB\"\n\
                [[traffic]]\nkind = \"long\"\ndst = 21\nbytes = \"20kB\"\nstart = \"2us\"\n";
    let (_, rows) = run(text, &[]);
    let short = rows.iter().find(|row| row.size_bytes == 20_000).unwrap();
    assert!(short.slowdown() < 1.03, "{}", short.slowdown());
    // The longer one waits for the shorter one's time on the link, 21 packets at most.
    let long = rows.iter().find(|row| row.size_bytes == 90_000).unwrap();
    let waited = long.fct_ps - long.ideal_fct_ps;
    assert!((20 * 83_840..22 * 83_840).contains(&waited), "{waited}");
}

/// A short message passes the queue of a long one at the receiver's switch.
#[test]
fn a_short_message_passes_all_that_waits_for_its_receiver() {
    let text = "scheme = \"homa\"\n[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = 50\nbytes = \"5MB\"\n\
                events = 1\n\
                [[traffic]]\nkind = \"long\"\nsrc = 20\ndst = 0\nbytes = \"900B\"\n\
                start = \"15us\"\n";
    let (_, rows) = run(text, &["homa.cutoffs=\"1000\""]);
    let short = rows.iter().find(|row| row.size_bytes == 900).unwrap();
    // At most the packet on the wire is ahead of it at each hop.
    assert!(short.fct_ps - short.ideal_fct_ps < 4 * 83_840, "{}", short.slowdown());
}
