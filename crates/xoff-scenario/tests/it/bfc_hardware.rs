//! BFC within the limits of its hardware (§4, §6.1), and with sampling of packets (App. A.8).

use crate::common::{over_hosts, over_switches, run};
use xoff_net::arch::Switch;
use xoff_net::hop::{AnyHop, TofinoStats};
use xoff_scenario::Run;

/// The paper's mix on its fabric (Fig. 11a) for a short time, with one of its incasts.
const MIX: &str = "[run]\nwarmup = \"0us\"\nmeasure = \"300us\"\n\
                   [[traffic]]\nkind = \"open-loop\"\nsizes = \"hadoop\"\nload = 0.55\n\
                   stop = \"300us\"\n\
                   [[traffic]]\nkind = \"incast\"\nperiod = \"1s\"\n";

fn hardware(run: &Run) -> TofinoStats {
    let mut sum = TofinoStats::default();
    for (_, switch) in run.simulation().partitions().iter().flat_map(|part| part.switches()) {
        if let Some(AnyHop::Tofino(bfc)) = switch.hop() {
            sum.add(&bfc.hardware_stats());
        }
    }
    sum
}

/// A packet overtakes another only if its flow changes queues while unsampled packets of it wait.
/// That requires that no sampled packet waits and none arrived for a sticky threshold. "However,
/// sticky queue assignment should reduce the frequency of these events" (App. A.8).
#[test]
fn sticky_queues_keep_flows_in_order_of_which_a_sample_counts() {
    let again = |scheme: &str, sticky: &str| {
        let (run, rows) = run(MIX, &[&format!("scheme={scheme}"), sticky]);
        assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0, "{scheme}: drops");
        let packets: u64 = rows.iter().map(|row| row.size_bytes.div_ceil(1000)).sum();
        over_hosts(&run, |stats| stats.retransmitted) as f64 / packets as f64
    };
    assert_eq!(again("bfc", "bfc.sticky_hrtts=2"), 0.0);
    let [sticky, loose] =
        [2, 0].map(|hrtts| again("bfc-sampling", &format!("bfc.sticky_hrtts={hrtts}")));
    assert!(sticky < 0.002 && loose > 10.0 * sticky, "{sticky}, and {loose} if nothing sticks");
}

/// Headers of 48 B of all packets take less than 48 / 1048 of the bytes sent. They hardly wait if
/// recirculation has 12 % of the capacity (§4).
#[test]
fn headers_of_all_packets_come_back_in_time() {
    let (run, rows) = run(MIX, &["scheme=bfc-tofino", "bfc.queues=32"]);
    let TofinoStats { recirculation, .. } = hardware(&run);
    let packets: u64 = rows.iter().map(|row| row.size_bytes.div_ceil(1000)).sum();
    // One for each switch on the path: one or three.
    assert!(
        (2 * packets..3 * packets).contains(&recirculation.headers),
        "{packets} {recirculation:?}"
    );
    assert_eq!(recirculation.bytes, 48 * recirculation.headers);
    assert!(recirculation.longest_wait_ps < 100_000, "{recirculation:?}");
    let hardware = run.summary().bfc_hardware.expect("BFC on a Tofino");
    assert!((0.0..0.1).contains(&hardware.recirculated_share_of_capacity), "{hardware:?}");
}

/// Fig. 7: two flows at one link. A "pause from the downstream cannot pause" packets that have left
/// their queue, so more of them wait there.
#[test]
fn hardware_queues_that_cannot_be_paused_add_to_what_waits() {
    let two = "[network]\ntopology = \"dumbbell\"\n\
               [dumbbell]\nleft_hosts = 2\nright_hosts = 2\nside_hosts = 1\n\
               host_delay = \"500ns\"\ntrunk_delay = \"500ns\"\n\
               [run]\nwarmup = \"100us\"\nmeasure = \"1ms\"\ngrid = \"100ns\"\nmonitor = \"3\"\n\
               [[traffic]]\nkind = \"long\"\nsrc = 1\ndst = 3\n\
               [[traffic]]\nkind = \"long\"\nsrc = 4\ndst = 3\n";
    let queue = |fifo: &str| {
        let fifo = format!("tofino.egress_fifo={fifo}");
        let (run, _) = run(two, &["scheme=bfc-tofino", "tofino.pipelines=1", &fifo]);
        run.simulation().monitors()[0].bytes.mean()
    };
    let (without, with) = (queue("0B"), queue("8KB"));
    assert!(with > without + 1000.0, "{without} B, and {with} B with hardware queues");
}
