//! Limits of a host's hardware.

use crate::common::{open, over_switches, run};
use xoff_net::arch::Switch;

/// Endless senders to host 0 of a star with a round trip of about 1 us: 12 packets.
fn incast(senders: u32, settings: &str) -> String {
    let flows: String = (1..=senders)
        .map(|src| format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\n"))
        .collect();
    format!(
        "{settings}[network]\ntopology = \"star\"\n\
         [star]\nhosts = {}\nrate = \"100Gbps\"\ndelay = \"200ns\"\n\
         [run]\nwarmup = \"0us\"\nmeasure = \"4ms\"\ndrain = \"0us\"\n{flows}",
        senders + 1
    )
}

/// The bytes in the switch at each step of the run's second half.
fn buffer_bytes(text: &str, overrides: &[&str]) -> Vec<u64> {
    let mut run = open(text, overrides);
    let mut used = Vec::new();
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        used.push(run.simulation().partitions()[0].switches()[0].1.used_bytes());
    }
    used.split_off(used.len() / 2)
}

/// 40 flows have a third of a packet each on the path. A NIC that paces sends one every third round
/// trip. A NIC with windows only always has a packet of each flow in flight, and 28 of 40 wait.
#[test]
fn without_pacing_a_flow_does_not_go_below_one_packet_a_round_trip() {
    let text = incast(40, "scheme = \"hpcc\"\n");
    let mean = |overrides: &[&str]| {
        let used = buffer_bytes(&text, overrides);
        used.iter().sum::<u64>() / used.len() as u64
    };
    let slow = "hpcc.min_rate=\"100Mbps\"";
    let paced = mean(&[slow]);
    let by_window = mean(&[slow, "transport.pacing=false"]);
    assert!(paced < 10 * 1128, "{paced} bytes wait with pacing");
    assert!((20 * 1128..=35 * 1128).contains(&by_window), "{by_window} bytes wait without");
}

/// One sender at 100 Gb/s to a host that takes 40 Gb/s.
const SLOW_HOST: [&str; 2] = ["nic.receive_rate=\"40Gbps\"", "buffer.size=\"1MB\""];

/// The NIC's pauses move the queue into the switch, and PFC moves it from there to the sender.
/// Nothing is lost, and the host receives exactly its rate.
#[test]
fn a_slow_host_pauses_its_switch() {
    let mut run = open(&incast(1, "scheme = \"pfc\"\n"), &SLOW_HOST);
    let received = |run: &xoff_scenario::Run| {
        run.simulation().partitions()[0].hosts().nics()[0].received_bytes as f64
    };
    let mut used = Vec::new();
    let mut after_one_ms = None;
    while run.step().unwrap_or_else(|message| panic!("{message}")) {
        let partition = &run.simulation().partitions()[0];
        used.push(partition.switches()[0].1.used_bytes());
        if partition.fabric().now == 1_000_000_000 {
            after_one_ms = Some(received(&run));
        }
    }
    let last = run.simulation().partitions()[0].fabric().now as f64;
    let seconds = (last - 1e9) / 1e12;
    let rate = (received(&run) - after_one_ms.unwrap()) * 1048.0 / 1000.0 * 8.0 / seconds;
    assert!((rate / 40e9 - 1.0).abs() < 0.01, "{rate} bit/s");
    assert!(used.iter().max() > Some(&50_000), "nothing waits in the switch");
    assert_eq!(over_switches(&run, |switch| switch.stats().drops), 0);
    assert!(over_switches(&run, |switch| switch.stats().pauses) > 10, "the sender is not paused");
}

/// A NIC that ignores pauses keeps sending into a full switch.
#[test]
fn a_nic_without_pfc_overruns_its_switch() {
    let overrides = [SLOW_HOST[0], SLOW_HOST[1], "nic.pfc=false"];
    let (run, _) = run(&incast(1, "scheme = \"pfc\"\n"), &overrides);
    assert!(over_switches(&run, |switch| switch.stats().drops) > 1000);
}

/// With room for all of it in the switch, no upstream port is paused for a slow host.
#[test]
fn the_queue_of_a_slow_host_is_in_the_switch() {
    let text = incast(1, "scheme = \"pfc\"\n");
    let overrides = [SLOW_HOST[0], "switch.hop=\"none\"", "buffer.kind=\"unlimited\""];
    let windowless = ["transport.window=\"unlimited\""];
    let used = buffer_bytes(&text, &[&overrides[..], &windowless[..]].concat());
    // A surplus of 60 Gb/s for 2 and for 4 ms, less the bytes that wait at the host.
    assert!((used[0] as f64 / 15e6 - 1.0).abs() < 0.02, "{} bytes after 2 ms", used[0]);
    let last = used[used.len() - 1];
    assert!((last as f64 / 30e6 - 1.0).abs() < 0.02, "{last} bytes after 4 ms");
}
