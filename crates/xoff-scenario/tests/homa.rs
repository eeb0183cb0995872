//! Homa from end to end: what grants, priorities and spraying promise together.

mod common;

use common::{finish, open, over_hosts, over_switches, received_bytes, run};
use xoff_host::driven::AnyDriven;
use xoff_host::driven::homa::HomaStats;
use xoff_net::arch::Switch;
use xoff_scenario::Run;
use xoff_sim::{FlowRow, Threads};

fn stats(run: &Run) -> HomaStats {
    let mut sum = HomaStats::default();
    for partition in run.simulation().partitions() {
        let Some(AnyDriven::Homa(homa)) = partition.hosts().driven() else { panic!("no Homa") };
        sum.add(&homa.stats());
    }
    sum
}

/// One flow of so many bytes from one rack of BFC's fabric to another.
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

/// All goes at line rate, though packets take different paths; then grants keep the link busy but for
/// what a grant takes on its way and base RTT does not count.
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

fn mixed(scheme: &str, more: &[&str]) -> (Run, Vec<FlowRow>) {
    let text = format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"100us\"\ndrain = \"20ms\"\nlink_delays = true\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.6\nstop = \"100us\"\n\
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
        let found = stats(&run);
        assert_eq!(found.unscheduled_bytes + found.scheduled_bytes, sent);
        assert_eq!((found.granted.resends, over_hosts(&run, |s| s.timeouts)), (0, 0));
        assert_eq!(over_switches(&run, |s| s.stats().drops), 0);
        for (node, switch) in run.simulation().partitions().iter().flat_map(|p| p.switches()) {
            assert_eq!(switch.used_bytes(), 0, "bytes left in switch {node}");
        }
    }
}
