//! What a host's hardware cannot do.

mod common;

use common::open;

/// So many senders without end to host 0 of a star, whose round trip takes about 1 us: 12 packets.
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
        used.push(run.simulation().partitions()[0].switches()[0].1.buffer().used());
    }
    used.split_off(used.len() / 2)
}

/// 40 flows have a third of a packet each on the path. A NIC that paces sends one every third round
/// trip; one with a window alone always has a packet of each flow under way, and 28 of 40 wait.
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
