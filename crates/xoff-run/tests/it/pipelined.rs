//! Properties of pipelined switches (CaPFC): where packets may be lost, which traffic a full queue
//! blocks, and equal results for all partitions of the network.

use crate::common::{finish, open_on, over_hosts, over_switches, run};
use xoff_net::arch::{PipelineStats, Switch};
use xoff_run::Run;
use xoff_sim::Threads;

const SCHEMES: [&str; 4] = ["pfc-wdrop", "pfc-wstop", "capfc-max", "capfc-cal"];

/// A small fat tree. Many short flows go to one host in class 1 at once, others in class 0, all
/// with first windows larger than queues.
fn bursts(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n[network]\ntopology = \"fat-tree\"\n[fat_tree]\nk = 4\n\
         host_rate = \"1Gbps\"\naggregation_rate = \"1Gbps\"\ncore_rate = \"1Gbps\"\n\
         host_delay = \"6600ns\"\naggregation_delay = \"6600ns\"\ncore_delay = \"6600ns\"\n\
         [tcp]\ninitial_window_packets = 80\n[run]\nwarmup = \"0us\"\nmeasure = \"4ms\"\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload_on = \"hosts\"\nload = 0.05\n\
         stop = \"4ms\"\n\
         [[traffic]]\nkind = \"incast\"\ndegree = 14\nbytes = \"1500KB\"\nperiod = \"2ms\"\n\
         stop = \"4ms\"\n\
         priority = 1\n"
    )
}

fn stats(run: &Run) -> PipelineStats {
    let mut totals = PipelineStats::default();
    for partition in run.simulation().partitions() {
        let now = partition.fabric().now;
        for (_, switch) in partition.switches() {
            totals.add(&switch.pipeline_stats(now).expect("switches are pipelined"));
        }
    }
    totals
}

#[test]
fn only_where_it_may_does_a_switch_drop_or_stop() {
    let found = SCHEMES.map(|scheme| {
        let (run, rows) = run(&bursts(scheme), &[]);
        assert!(!rows.is_empty(), "{scheme}");
        let stats = stats(&run);
        let drops = over_switches(&run, |switch| switch.stats().drops);
        assert_eq!((drops, stats.ingress_drops), (stats.egress_drops, 0), "{scheme}: {stats:?}");
        // Only timeouts show losses; long stops may run into them, too.
        assert!(drops == 0 || over_hosts(&run, |host| host.timeouts) > 0, "{scheme}");
        stats
    });
    let [wdrop, wstop, max, cal] = found;
    assert!(wdrop.egress_drops > 0 && wdrop.stops == 0 && wdrop.blames == 0, "{wdrop:?}");
    // "PFC with stop [...] pauses packet processing in that case to prevent any packet drop"
    // (§IV-C).
    assert!(
        wstop.egress_drops == 0 && wstop.blocked_ps > 0 && wstop.cross_class_ps > 0,
        "{wstop:?}"
    );
    for capfc in [max, cal] {
        assert!(capfc.blames > 0 && (capfc.stops, capfc.cross_class_ps) == (0, 0), "{capfc:?}");
        assert!(capfc.egress_drops < wdrop.egress_drops, "{capfc:?} {wdrop:?}");
    }
}

#[test]
fn results_are_the_same_however_it_is_cut() {
    for scheme in ["pfc-wstop", "capfc-cal", "capfc-max-shared", "pfc-wstop-shared"] {
        let outcome = |threads, partitions: &str| {
            let mut run = open_on(threads, &bursts(scheme), &[partitions]);
            let flows = finish(&mut run).len();
            (flows, run.digest(), stats(&run))
        };
        let one = outcome(Threads::ONE, "run.partitions=1");
        assert_eq!(outcome(Threads::ONE, "run.partitions=3"), one, "{scheme}");
        assert_eq!(outcome(Threads::up_to(4), "run.partitions=8"), one, "{scheme}");
    }
}
