//! Senders under BFC: a window from delays (App. A.1), and NICs that ignore pauses (App. A.8).

use crate::common::{bfc_stats, over_hosts, over_switches, received_bytes, run};
use xoff_net::arch::Switch;
use xoff_scenario::Run;

/// 100 flows of 1 MB at once to one host of BFC's fabric: three times its number of queues.
const MANY: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"10ms\"\ngrid = \"5us\"\n\
                    [[traffic]]\nkind = \"incast\"\nbytes = \"100MB\"\nperiod = \"1s\"\n";

fn many(scheme: &str) -> Run {
    let (run, rows) = run(MANY, &[&format!("scheme={scheme}")]);
    assert_eq!(rows.len(), 100, "{scheme}: flows that finished");
    assert_eq!(received_bytes(&run), 100_000_000, "{scheme}: bytes received");
    assert_eq!(over_hosts(&run, |stats| stats.retransmitted), 0, "{scheme}: sent again");
    assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{scheme}: drops");
    let stats = bfc_stats(&run);
    assert_eq!(stats.frames.pauses, stats.frames.resumes, "{scheme}: {stats:?}");
    run
}

/// "BFC can use a simple end-to-end congestion control mechanism to reduce this buffering" (App.
/// A.1). A hundred flows share 2.5 BDPs of 104 KB at the receiver's link. Without the control each
/// could fill its share of a 1-hop BDP at each of three switches.
#[test]
fn a_window_from_delays_takes_most_of_the_queues_of_many_flows() {
    let [plain, windows] =
        ["bfc", "bfc-cc"].map(|scheme| many(scheme).simulation().buffer().mean());
    assert!(windows < 0.5 * plain, "{windows} B a switch, {plain} B without");
}

/// "more buffering at ToR" (App. A.8), but at most 100 windows of one BDP, and no NIC waits.
#[test]
fn nics_that_heed_no_pause_fill_the_switches_and_lose_nothing() {
    let [plain, ignoring] = ["bfc", "bfc-switches"].map(many);
    let most = |run: &Run| run.simulation().buffer().max();
    assert!(most(&ignoring) > most(&plain) && most(&ignoring) < 100 * 104_000);
    let waited = |run: &Run| {
        let parts = run.simulation().partitions().iter();
        let nics = parts.flat_map(|part| part.hosts().nics());
        nics.map(|nic| nic.paused_time().pauses()).sum::<u64>()
    };
    assert!(waited(&plain) > 0);
    assert_eq!(waited(&ignoring), 0);
}
