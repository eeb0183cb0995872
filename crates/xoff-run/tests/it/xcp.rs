//! Properties of XCP from its paper, at round-trip times of a data centre: full links, shares that
//! become equal at the pace of shuffling, queues that drain, and no losses.

use crate::common::{finish, open, over_hosts, over_switches, run};
use xoff_net::arch::Switch;
use xoff_run::Run;

/// Frames and delays of a network of 10 Gb/s hosts: 14 us of propagation between hosts of one
/// switch.
const STAR: &str = "scheme = \"xcp\"\n[network]\ntopology = \"star\"\n\
     [star]\nhosts = 16\nrate = \"10Gbps\"\ndelay = \"3500ns\"\n\
     [frame]\npayload = \"1460B\"\nheader = \"78B\"\nack = \"84B\"\nack_header = \"64B\"\n";
/// Bytes of a full packet with the congestion header.
const FULL: u64 = 1558;
/// RTT on an idle path of two links: propagation, two data packets and two acknowledgements of 84
/// B.
const RTT_US: f64 = 14.0 + 2.0 * 1.2464 + 2.0 * 0.0672;
/// Payload at 10 Gb/s (bytes/us).
const GOODPUT: f64 = 1250.0 * 1460.0 / FULL as f64;

/// Control intervals until a difference has shrunk to the share `left` of itself, if each interval
/// leaves the share `share`.
fn intervals(left: f64, share: f64) -> f64 {
    left.ln() / share.ln()
}

fn long(src: u32, start_us: u64) -> String {
    format!(
        "[[traffic]]\nkind = \"long\"\nsrc = {src}\ndst = 0\nstart = \"{start_us}us\"\n\
         class = \"flow {src:02}\"\n"
    )
}

/// Flows from hosts 1, 2, ... to host 0, each a fixed time later than the one before.
fn flows(count: u32, apart_us: u64) -> String {
    (0..count).map(|flow| long(flow + 1, u64::from(flow) * apart_us)).collect()
}

fn plan(warmup_us: u64, measure_us: u64) -> String {
    format!(
        "[run]\nwarmup = \"{warmup_us}us\"\nmeasure = \"{measure_us}us\"\ndrain = \"0us\"\n\
         monitor = \"0\"\n"
    )
}

/// Bytes acknowledged of the flow from host `src`.
fn acked(run: &Run, src: u32) -> u64 {
    let mut alive = run.simulation().partitions().iter().flat_map(|part| part.hosts().alive());
    alive.find(|flow| flow.start.src.0 == src).map_or(0, |flow| flow.snd_una)
}

fn drops(run: &Run) -> u64 {
    over_switches(run, |switch| switch.stats().drops)
}

/// Flows start one after another, each when the others have the whole link. The missing share of a
/// flow shrinks by a tenth in each interval, so 2 % of it are left after 37. A mean RTT exceeds the
/// idle one by the wait of up to two packets. Five intervals cover the first RTT, the first
/// decision and its delivery.
#[test]
fn flows_share_a_link_equally_and_fill_it() {
    for count in [2, 3, 5, 8] {
        let settle = (intervals(0.02, 0.9) + 5.0) * (RTT_US + 2.0 * 1.2464);
        let last = 300 * u64::from(count - 1);
        let warmup = (last + settle as u64).next_multiple_of(10);
        let text = STAR.to_string() + &plan(warmup, 5000) + &flows(count, 300);
        let (run, _) = run(&text, &[]);
        let shares = run.simulation().endless_acked();
        let mean = shares.iter().sum::<u64>() as f64 / f64::from(count);
        for share in &shares {
            let apart = *share as f64 / mean - 1.0;
            assert!(apart.abs() < 0.02, "{count} flows: {shares:?}");
        }
        let monitor = &run.simulation().monitors()[0];
        assert!(monitor.utilisation > 0.95, "{count} flows: {}", monitor.utilisation);
        // In the steady state a packet or two wait most of the time, and sometimes two of each
        // flow.
        let half = monitor.bytes.cdf().iter().find(|point| point.1 >= 0.5).map(|point| point.0);
        assert!(half.is_some_and(|bytes| bytes <= 2 * FULL), "{count} flows: {half:?}");
        let most = monitor.bytes.max();
        assert!(most <= 2 * u64::from(count) * FULL, "{count} flows: {most} bytes in the queue");
        assert_eq!((drops(&run), over_hosts(&run, |stats| stats.timeouts)), (0, 0));
    }
}

/// A share "alpha" of the spare bandwidth is distributed in each interval: 5 % are left after 6.
#[test]
fn a_lone_flow_has_the_link_after_a_few_intervals() {
    let text = STAR.to_string() + &plan(0, 300) + &flows(1, 0);
    let mut run = open(&text, &[]);
    let full_us = (intervals(0.05, 0.6) + 4.0) * RTT_US;
    let mut at_full = 0;
    for step in 1..=30u32 {
        run.step().unwrap();
        if step == (full_us / 10.0).ceil() as u32 {
            at_full = acked(&run, 1);
        }
    }
    let left_us = 300.0 - (full_us / 10.0).ceil() * 10.0;
    let rate = (acked(&run, 1) - at_full) as f64 / left_us;
    assert!(rate > 0.95 * GOODPUT && rate < 1.01 * GOODPUT, "{rate} of {GOODPUT} bytes/us");
    assert_eq!(drops(&run), 0);
    assert_eq!(run.simulation().monitors()[0].bytes.max(), 0, "no other flow waits");
}

/// A second flow gets its share no faster than a tenth of the traffic is redistributed in each
/// interval, and no slower than at half that pace.
#[test]
fn a_new_flow_gains_at_the_pace_of_shuffling() {
    let text = STAR.to_string() + &plan(0, 2000) + &flows(2, 1000);
    let mut run = open(&text, &[]);
    let mut before = 0;
    for step in 1..=150u32 {
        run.step().unwrap();
        let elapsed = f64::from(step) * 10.0 - 1000.0;
        if step % 10 != 0 || elapsed < 200.0 {
            before = if step % 10 == 0 { acked(&run, 2) } else { before };
            continue;
        }
        let share = (acked(&run, 2) - before) as f64 / 100.0 / GOODPUT;
        before = acked(&run, 2);
        // In the middle of these 100 us.
        let rounds = (elapsed - 50.0) / RTT_US;
        let (least, most) = (0.9f64.powf(rounds), 0.9f64.powf(rounds / 2.0));
        let lacking = 1.0 - 2.0 * share;
        assert!(lacking > least - 0.02 && lacking < most, "{least} < {lacking} < {most}");
    }
    // Without shuffling a flow gets the rest that others leave, which is almost nothing.
    let mut run = open(&text, &["xcp.gamma=0"]);
    finish(&mut run);
    assert!((acked(&run, 2) as f64) < 0.25 * acked(&run, 1) as f64);
}

/// A flow over two links and one over four, with RTTs of 17 and 28 us, to one host.
#[test]
fn a_longer_way_is_no_disadvantage() {
    let text = STAR.replace(
        "\"star\"\n[star]\nhosts = 16\nrate = \"10Gbps\"\ndelay = \"3500ns\"",
        "\"leaf-spine\"\n\
             [leaf_spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\nhost_rate = \"10Gbps\"\n\
             spine_rate = \"40Gbps\"\nhost_delay = \"3500ns\"\nspine_delay = \"2us\"",
    );
    let text = text + &plan(1500, 5000) + &long(1, 0) + &long(5, 0);
    let (run, _) = run(&text, &[]);
    let shares = run.simulation().endless_acked();
    let (near, far) = (shares[0] as f64, shares[1] as f64);
    assert!((near / far - 1.0).abs() < 0.05, "{shares:?}");
    assert!(run.simulation().monitors()[0].utilisation > 0.95);
    assert_eq!(drops(&run), 0);
}

/// Ten incasts of 15 flows in 10 us at a queue of ten packets: losses, timeouts, windows of one
/// packet.
#[test]
fn an_incast_ends_whatever_is_lost() {
    let text = STAR.to_string()
        + "[run]\nwarmup = \"0us\"\nmeasure = \"10us\"\ndrain = \"1s\"\n\
           [[traffic]]\nkind = \"incast\"\ndegree = 15\nbytes = \"600kB\"\nperiod = \"1us\"\n\
           stop = \"10us\"\n";
    let (run, rows) = run(&text, &["buffer.size=15580B"]);
    let (lost, timeouts) = (drops(&run), over_hosts(&run, |stats| stats.timeouts));
    assert_eq!(rows.len(), 150);
    assert!(lost > 100 && timeouts > 10, "{lost} drops, {timeouts} timeouts");
    assert!(rows.iter().all(|row| row.fct_ps >= row.ideal_fct_ps));
}

/// A header ends with its acknowledgement, even if packets cross partitions.
#[test]
fn no_header_is_left_behind() {
    for scheme in ["xcp", "hpcc"] {
        for parts in ["run.partitions=1", "run.partitions=4"] {
            let text = format!(
                "scheme = \"{scheme}\"\n[run]\nwarmup = \"0us\"\nmeasure = \"20us\"\n\
                 [[traffic]]\nkind = \"open-loop\"\nload = 0.3\nstop = \"20us\"\n"
            );
            let (run, rows) = run(&text, &[parts]);
            assert!(rows.len() > 500 && drops(&run) == 0);
            for part in run.simulation().partitions() {
                let (records, packets) = (&part.fabric().records, &part.fabric().packets);
                assert_eq!((records.len(), packets.len()), (0, 0), "{scheme}, {parts}");
            }
        }
    }
}
