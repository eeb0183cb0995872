//! Pauses of source flow control as seen on the links: a paused flow is silent for exactly the time
//! in the signal, and no other flow is.

use std::collections::BTreeMap;
use xoff_net::arch::Switch;

use crate::common::{captured, data, finish, open, over_hosts, over_switches, packets};
use xoff_formats::Bts;
use xoff_run::Run;
use xoff_sim::FlowRow;

/// A packet of 1000 B and a signal on a link of 100 Gb/s, and that link's delay (ps).
const PACKET_PS: u64 = 1048 * 80;
const SIGNAL_PS: u64 = 64 * 80;
const LINK_PS: u64 = 1_000_000;
const PS_PER_US: u64 = 1_000_000;

/// Hosts 0 to 15 behind one switch, 16 and 17 behind another. Only SFC holds the flows back.
const DUMBBELL: &str = "scheme = \"sfc\"\n[network]\ntopology = \"dumbbell\"\n\
    [dumbbell]\nleft_hosts = 16\nright_hosts = 2\ntrunk_rate = \"10Tbps\"\n\
    [buffer]\nkind = \"unlimited\"\n[transport]\ncongestion = \"none\"\nwindow = \"unlimited\"\n\
    [run]\nwarmup = \"0us\"\nmeasure = \"2ms\"\n";

/// Two flows of each of the 16 hosts to host 16.
fn incast(senders: &str, degree: u32) -> String {
    format!(
        "{DUMBBELL}[[traffic]]\nkind = \"incast\"\nsenders = \"{senders}\"\nvictims = \"16\"\n\
         degree = {degree}\nflows_per_sender = 2\nbytes = \"{}MB\"\nevents = 1\n",
        4 * degree
    )
}

/// The events of a flow at its sender (ps).
#[derive(Default)]
struct Seen {
    /// Arrivals of signals, with the end of the requested pause.
    pauses: Vec<(u64, u64)>,
    /// Starts of packets' transmissions.
    sent: Vec<u64>,
}

/// By queue pair, from the packets captured on the senders' links.
fn seen(file: &[u8]) -> BTreeMap<u32, Seen> {
    let mut flows: BTreeMap<u32, Seen> = BTreeMap::new();
    for (_, time, frame) in packets(file) {
        if let Some((_, queue_pair)) = data(frame) {
            flows.entry(queue_pair).or_default().sent.push(time);
        } else if let Ok(bts) = Bts::decode(frame) {
            let arrival = time + SIGNAL_PS + LINK_PS;
            let end = arrival + u64::from(bts.pause_us) * PS_PER_US;
            flows.entry(bts.queue_pair).or_default().pauses.push((arrival, end));
        }
    }
    flows
}

/// "Its pause-end time is updated with the new one" (SFC §3.3): the last signal to arrive counts.
#[test]
fn a_paused_flow_is_silent_until_its_pause_ends_and_no_longer() {
    // Without a filter every packet is answered. Times are rounded down to whole microseconds, so a
    // later signal may ask for an earlier end.
    let settings = ["run.capture=\"0-15\"", "run.drain=0us", "sfc.filter=false"];
    let mut run = open(&incast("0-15", 16), &settings);
    let (_, file) = captured(&mut run);
    let (mut prompt, mut replaced, mut shortened) = (0, 0, 0);
    for (queue_pair, Seen { pauses, sent }) in seen(&file) {
        for (index, &(arrival, end)) in pauses.iter().enumerate() {
            let next = pauses.get(index + 1).map_or(u64::MAX, |next| next.0);
            let first = sent[sent.partition_point(|&time| time < arrival)..].first();
            let Some(&first) = first else { continue };
            assert!(first >= end.min(next), "{queue_pair}: {first} is in {arrival} to {end}");
            if next > end {
                // The NIC may be sending a packet of its other flow, and then another one.
                assert!(first <= end + 2 * PACKET_PS, "{queue_pair}: {first} is long after {end}");
                prompt += 1;
            } else {
                replaced += 1;
                shortened += u32::from(first < end);
            }
        }
    }
    let counts = (prompt, replaced, shortened);
    assert!(prompt > 300 && replaced > 300 && shortened > 100, "{counts:?}");
}

/// Host 0 sends to host 17, by default 20 kB while its flows to host 16, if it has any, are paused.
fn bystander(incast: &str, overrides: &[&str]) -> (Vec<u8>, FlowRow) {
    let text = incast.to_owned()
        + "[[traffic]]\nkind = \"incast\"\nsenders = \"0\"\nvictims = \"17\"\ndegree = 1\n\
           bytes = \"20kB\"\nstart = \"40us\"\nevents = 1\nclass = \"bystander\"\n";
    let overrides = [&["run.capture=\"0\"", "run.drain=10ms"], overrides].concat();
    let (rows, file) = captured(&mut open(&text, &overrides));
    (file, rows.into_iter().find(|row| row.dst == 17).expect("the bystander finishes"))
}

/// A sender "pauses the targeted flow" (SFC §3.3): another flow of its class continues as if no
/// flow were paused. With SFC-P it waits, "on a per-priority-queue rather than a per-flow basis"
/// (§4).
#[test]
fn a_flow_that_is_not_paused_does_not_wait() {
    let (file, with) = bystander(&incast("0-15", 16), &[]);
    let during = with.start_ps..with.start_ps + with.fct_ps;
    let held = |flow: &&Seen| {
        let covers = |&(arrival, end)| arrival < during.start && end > during.end;
        flow.pauses.iter().any(covers) && !flow.sent.iter().any(|time| during.contains(time))
    };
    assert_eq!(seen(&file).values().filter(held).count(), 2, "the host's flows in the incast");
    let (_, without) = bystander(&incast("1-15", 15), &[]);
    // A few signals of 64 B share its links.
    assert!(with.fct_ps.abs_diff(without.fct_ps) < 10 * SIGNAL_PS, "{with:?} {without:?}");
    let (_, by_class) = bystander(&incast("0-15", 16), &["sfc.to_pfc=true"]);
    assert!(by_class.fct_ps > 2 * with.fct_ps, "{by_class:?} {with:?}");
}

/// The same while the signals arrive: as long as the other flow has bytes to send, its host's link
/// is never idle, though two flows of the host are soon paused.
#[test]
fn a_host_is_not_idle_while_a_flow_of_it_is_not_paused() {
    let early = ["traffic.1.start=\"0us\"", "traffic.1.bytes=\"500kB\""];
    let (file, _) = bystander(&incast("0-15", 16), &early);
    let (paused, free): (Vec<Seen>, Vec<Seen>) =
        seen(&file).into_values().partition(|flow| !flow.pauses.is_empty());
    assert_eq!((paused.len(), free.len(), free[0].sent.len()), (2, 1, 500));
    let last = free[0].sent[499];
    let is_early = |time: &&u64| **time < last;
    let others: Vec<u64> =
        paused.iter().flat_map(|flow| &flow.sent).filter(is_early).copied().collect();
    assert!((10..250).contains(&others.len()), "{} packets of paused flows", others.len());
    assert!(paused.iter().all(|flow| flow.pauses[0].0 < last), "signals came too late to matter");
    let mut sent = [&free[0].sent[..], &others].concat();
    sent.sort_unstable();
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == PACKET_PS));
}

/// Host 1 sends to host 17, which takes 40 Gb/s.
const SLOW_HOST: &str = "[nic]\nreceive_rate = \"40Gbps\"\n\
    [[traffic]]\nkind = \"incast\"\nsenders = \"1\"\nvictims = \"17\"\ndegree = 1\n\
    bytes = \"10MB\"\nevents = 1\n";

/// App. A: "PFC frames sent from the NIC pause the transmission of packets by the switch egress
/// queue, which automatically translates to queue buildup that triggers BTS".
#[test]
fn a_slow_host_is_a_queue_of_its_switch() {
    let text = format!("{DUMBBELL}{SLOW_HOST}");
    let small = ["buffer.kind=\"shared\"", "buffer.size=\"1MB\""];
    let run = |overrides: &[&str]| {
        let mut run = open(&text, &[&small[..], overrides].concat());
        let rows = finish(&mut run);
        assert_eq!(rows.len(), 1);
        (run, rows[0])
    };
    let drops = |run: &Run| over_switches(run, |switch| switch.stats().drops);
    let (sfc, row) = run(&[]);
    let pauses = sfc.ports().iter().map(|port| port.pauses).max();
    let signals = over_hosts(&sfc, |stats| stats.signals.count);
    assert!(pauses > Some(10) && signals > 10, "{pauses:?} pauses by the NIC, {signals} signals");
    let pfc = sfc.summary().pfc;
    // Ports count in the measured time, in which the flow does not end.
    let frames = over_hosts(&sfc, |stats| stats.pauses);
    assert!(pfc.pause_frames == frames && Some(frames) >= pauses, "{pfc:?}, {pauses:?}");
    assert!(pfc.pause_time_share > 0.0, "{pfc:?}");
    assert_eq!((drops(&sfc), over_hosts(&sfc, |stats| stats.retransmitted)), (0, 0));
    // The sender is paused for no longer than the host needs.
    let ideal = 10e6 * 1.048 * 8.0 / 40e9;
    let seconds = row.fct_ps as f64 * 1e-12;
    assert!((seconds / ideal - 1.0).abs() < 0.05, "{seconds} s");
    let (none, _) = run(&["scheme=irn"]);
    assert!(drops(&none) > 1000, "without SFC the same buffer is not enough: {}", drops(&none));
}
