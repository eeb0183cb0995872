//! Memory follows the flows in progress, not those in the past.

use crate::common::run;

/// The most places for flows and for packets in a run of this length, and its number of flows.
fn slots(scheme: &str, overrides: &[&str], microseconds: u32) -> (usize, usize, u64) {
    let text = format!(
        "scheme = \"{scheme}\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"{microseconds}us\"\nflows = \"none\"\n\
         [[traffic]]\nkind = \"open-loop\"\nsizes = \"google\"\nload = 0.5\n\
         arrivals = \"poisson\"\nstop = \"{microseconds}us\"\n"
    );
    let (run, rows) = run(&text, overrides);
    assert!(rows.is_empty(), "rows were not requested");
    let partition = &run.simulation().partitions()[0];
    let progress = run.progress();
    (partition.hosts().flow_slots(), partition.fabric().packets.slots(), progress.flows_started)
}

#[test]
fn places_for_flows_and_packets_do_not_grow_with_the_length_of_a_run() {
    let lossy = [
        "switch.hop=\"none\"",
        "buffer.size=\"200KB\"",
        "transport.recovery=\"selective-repeat\"",
        "transport.timeout=\"320us\"",
    ];
    for (scheme, overrides) in [("bfc", &[][..]), ("dctcp", &[]), ("dctcp", &lossy)] {
        let (flows, packets, started) = slots(scheme, overrides, 200);
        let (later_flows, later_packets, later_started) = slots(scheme, overrides, 1000);
        assert!(later_started > 4 * started, "{scheme}: {later_started} after {started}");
        assert!(later_flows < 2 * flows, "{scheme}: {later_flows} places after {flows}");
        assert!(later_packets < 2 * packets, "{scheme}: {later_packets} places after {packets}");
        assert!(flows < started as usize / 4, "{scheme}: {flows} places for {started} flows");
    }
}
