//! Flow control by one-way delay settles the queue of an incast without congestion control.

use crate::common::open;

/// The incast of "SFC", §2.3.1, with these senders and this spread of their starts.
fn incast(senders: u32, spread: &str) -> String {
    format!(
        r#"
scheme = "onramp"
network = {{ topology = "dumbbell" }}
dumbbell.left_hosts = {senders}
dumbbell.right_hosts = 1
dumbbell.trunk_rate = "6400Gbps"
dumbbell.trunk_delay = "3us"
buffer = {{ kind = "unlimited" }}
transport = {{ congestion = "none", window = "unlimited" }}
run = {{ warmup = "0us", measure = "4ms", drain = "1us", grid = "10us", monitor = "{senders}" }}
[[traffic]]
kind = "incast"
victims = "{senders}"
degree = {senders}
bytes = "630MB"
period = "1s"
spread = "{spread}"
"#
    )
}

/// The least and the most bytes in the receiver's queue, before and after the middle of the 4 ms.
fn halves(text: &str, overrides: &[&str]) -> [(u64, u64); 2] {
    let mut run = open(text, overrides);
    let mut halves = [(u64::MAX, 0); 2];
    while run.step().unwrap() {
        for row in run.rows().samples.drain(..).filter(|row| row.port != u16::MAX) {
            let (least, most) = &mut halves[usize::from(row.time_ps >= 2_000_000_000)];
            *least = row.bytes.min(*least);
            *most = row.bytes.max(*most);
        }
    }
    halves
}

/// "stabilizes the queue depth within 2 ms from the start. The equilibrium queue depth is 13MB"
/// (SFC, Fig. 1).
#[test]
fn the_queue_settles_where_sfc_shows_it() {
    for spread in ["0us", "50us", "100us"] {
        let [(_, peak), (least, most)] = halves(&incast(63, spread), &[]);
        assert!(least > 12_000_000 && most < 15_000_000, "{spread}: {least} to {most}");
        assert!(most - least < most / 20, "{spread}: {least} to {most}");
        assert!(peak < 16_000_000, "{spread}: {peak}");
    }
}

/// The module explains why a hold lasts the packet times of the other flows.
#[test]
fn the_queue_follows_the_law() {
    let packet_us = 1048.0 * 8.0 / 100e3;
    let (base_rtt_us, way_back_us) = (10.0, 5.0);
    for (senders, threshold_us, gain) in
        [(8_u32, 7.5, 1.0), (16, 7.5, 1.0), (32, 7.5, 1.0), (32, 12.0, 1.0), (32, 7.5, 0.5)]
    {
        let settings =
            [format!("onramp.threshold={threshold_us}us"), format!("onramp.gain={gain}")];
        let (_, most) = halves(&incast(senders, "50us"), &settings.each_ref().map(|s| &**s))[1];
        let others = f64::from(senders - 1) * packet_us / gain;
        let on_the_way_us = f64::from(senders) * (threshold_us + way_back_us + others);
        let expected = (on_the_way_us - base_rtt_us) * 12_500.0;
        assert!((most as f64 / expected - 1.0).abs() < 0.05, "{senders}: {most}, not {expected}");
    }
}
