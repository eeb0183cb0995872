//! BFC's Appendix C: how often a flow runs out of packets because its resume takes a 1-hop RTT.

use crate::common::run;

/// One flow from a fast upstream link into a port that drains at mu: x = upstream rate / mu. The
/// NIC is close to its switch, so that switch always has packets to send, as in the model. Th =
/// HRTT mu is 240 full packets, so that a packet is small compared with it.
fn idle_share(x: f64, threshold_factor: f64) -> (f64, f64) {
    let text = format!(
        "scheme = \"bfc\"\n[network]\ntopology = \"dumbbell\"\n\
         [dumbbell]\nleft_hosts = 1\nright_hosts = 1\nhost_rate = \"800Gbps\"\n\
         right_rate = \"100Gbps\"\ntrunk_rate = \"{}Mbps\"\nhost_delay = \"10ns\"\n\
         trunk_delay = \"10us\"\n[bfc]\nthreshold_factor = {threshold_factor}\n\
         [buffer]\nalpha = 0\n\
         [run]\nwarmup = \"2ms\"\nmeasure = \"20ms\"\ndrain = \"0us\"\nmonitor = \"1\"\n\
         grid = \"1us\"\n\
         [[traffic]]\nkind = \"long\"\nsrc = 0\ndst = 1\n",
        (x * 100_000.0) as u64
    );
    let (run, _) = run(&text, &[]);
    let monitor = &run.simulation().monitors()[0];
    (1.0 - monitor.utilisation, monitor.bytes.max() as f64)
}

/// App. C, eq. 4 (with Th in units of HRTT mu): E_f = (x - 1) / (Th x + x^2 - 1).
fn model(x: f64, threshold: f64) -> f64 {
    (x - 1.0) / (threshold * x + x * x - 1.0)
}

#[test]
fn a_flow_runs_out_of_packets_as_often_as_appendix_c_says() {
    for x in [1.1, 1.5, 2.0, 4.0] {
        let (idle, peak) = idle_share(x, 1.0);
        let expected = model(x, 1.0);
        assert!((idle / expected - 1.0).abs() < 0.02, "x = {x}: {idle} against {expected}");
        // "The queue occupancy at the end of phase 1 is Th + HRTT mu (x - 1)."
        let bdp = 20e-6 * 100e9 / 8.0;
        let expected = bdp * x;
        assert!((peak / expected - 1.0).abs() < 0.03, "x = {x}: {peak} against {expected}");
    }
    assert!((model(2.0, 1.0) - 0.2).abs() < 1e-12);
    assert!((model(1.1, 1.0) - 0.0763).abs() < 1e-4);
}

#[test]
fn a_higher_threshold_costs_buffer_and_saves_idle_time() {
    let (idle, peak) = idle_share(2.0, 2.0);
    assert!((idle / model(2.0, 2.0) - 1.0).abs() < 0.02, "{idle}");
    assert!((peak / (20e-6 * 100e9 / 8.0 * 3.0) - 1.0).abs() < 0.03, "{peak}");
}
