//! Fair queueing with CoDel over whole networks.

use crate::common::{open, over_switches, run};
use xoff_net::arch::Switch;

/// Eight hosts send to one over a link of 10 Gb/s; a round trip takes 23 us.
const STAR: &str = "scheme = \"sfqcodel\"\n[network]\ntopology = \"star\"\n\
                    [star]\nhosts = 9\nrate = \"10Gbps\"\ndelay = \"5us\"\n\
                    [run]\nwarmup = \"0us\"\nmeasure = \"20ms\"\nmonitor = \"8\"\n";

fn flows(bytes: &str) -> String {
    let one =
        |src| format!("[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 8\nbytes = \"{bytes}\"\n");
    (0..8).map(one).collect()
}

/// Flows of one size that start together end together, after equal numbers of bytes.
#[test]
fn long_flows_share_the_link_equally() {
    let (run, rows) = run(&(STAR.to_owned() + &flows("2MB")), &[]);
    let times: Vec<u64> = rows.iter().map(|row| row.fct_ps).collect();
    let (first, last) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
    let link_ps = 8 * 2_000_000 * 1048 / 1000 * 800;
    assert_eq!(times.len(), 8);
    assert!(first as f64 > 0.9 * last as f64, "{times:?}");
    assert!((link_ps..link_ps + link_ps / 10).contains(&last), "{last} of {link_ps}");
    assert!(over_switches(&run, |switch| switch.stats().drops) > 0);
}

/// A short flow passes eight long ones by.
#[test]
fn a_flow_of_few_packets_does_not_wait_for_long_ones() {
    let short =
        "[[traffic]]\nkind = \"long\"\nsrc = 7\ndst = 8\nbytes = \"1000B\"\nstart = \"5ms\"\n";
    let long = flows("2MB").replacen("src = 7", "src = 6", 1);
    let (_, rows) = run(&(STAR.to_owned() + &long + short), &[]);
    let row = rows.iter().find(|row| row.size_bytes == 1000).unwrap();
    assert!(row.slowdown() < 1.1, "{}", row.slowdown());
}

/// The wait of packets is near the target, though senders' windows could fill the memory of 288 us.
/// The shortest wait of an interval is about the target, the mean is a few times that.
#[test]
fn the_queue_stays_near_its_target() {
    for target_us in [10, 40] {
        let target = format!("sfqcodel.target={target_us}us");
        let text = STAR.to_owned() + &flows("2MB");
        let mut run = open(&text, &[&target, "sfqcodel.interval=500us"]);
        let mut bytes = Vec::new();
        while run.step().unwrap() {
            let samples = run.rows().samples.drain(..);
            bytes.extend(samples.filter(|row| row.port == 8).map(|row| row.bytes));
        }
        let settled = &bytes[bytes.len() / 4..bytes.len() * 3 / 4];
        let mean = settled.iter().sum::<u64>() / settled.len() as u64;
        // 10 Gb/s are 1250 B per microsecond.
        let wait_us = mean / 1250;
        assert!((target_us..4 * target_us).contains(&wait_us), "{wait_us} us of {target_us} us");
    }
}
