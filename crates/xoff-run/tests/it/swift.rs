//! Swift in whole networks: queues settle at the length that the target implies.

use crate::common::{open, over_hosts, over_switches, received_bytes};
use xoff_net::arch::Switch;

/// A full packet on the wire (bytes).
const PACKET: f64 = 1048.0;

/// Endless flows from the hosts of a star to one of them.
struct Star {
    senders: u32,
    flows_per_sender: u32,
    gbps: f64,
    delay_us: f64,
}

/// Measurements of 20 ms, after 5 ms.
struct Seen {
    /// Share of the receiver's link.
    utilisation: f64,
    /// Bytes in the switch at each step of the grid.
    held: Vec<f64>,
    drops: u64,
    retransmitted: u64,
}

impl Seen {
    fn mean(&self) -> f64 {
        self.held.iter().sum::<f64>() / self.held.len() as f64
    }
}

impl Star {
    fn flows(&self) -> f64 {
        f64::from(self.senders * self.flows_per_sender)
    }

    /// Bytes on a link in a time (us).
    fn bytes_in(&self, us: f64) -> f64 {
        self.gbps * 125.0 * us
    }

    /// Time of a packet over two links (us).
    fn base_rtt(&self) -> f64 {
        4.0 * self.delay_us + 2.0 * PACKET / self.bytes_in(1.0)
    }

    /// The default target of Swift §3.5: two base RTTs, and up to ten more for small windows (us).
    fn target(&self, cwnd: f64) -> f64 {
        let scaled = (1.0 / cwnd.sqrt() - 0.1) / (f64::sqrt(10.0) - 0.1);
        self.base_rtt() * (2.0 + 10.0 * scaled.clamp(0.0, 1.0))
    }

    /// The queue at which equal windows fill the round trip and the round trip equals the target
    /// (bytes).
    fn queue(&self) -> f64 {
        let (mut low, mut high): (f64, f64) = (1e-3, 1e4);
        for _ in 0..100 {
            let cwnd = f64::midpoint(low, high);
            let below = cwnd * self.flows() * PACKET < self.bytes_in(self.target(cwnd));
            *(if below { &mut low } else { &mut high }) = cwnd;
        }
        // An acknowledgement of 60 B also takes time on two links.
        self.bytes_in(self.target(low) - self.base_rtt()) - 2.0 * 60.0
    }

    fn run(&self, overrides: &[&str]) -> Seen {
        let text = format!(
            "scheme = \"swift\"\n[network]\ntopology = \"star\"\n\
             [star]\nhosts = 64\nrate = \"{}Gbps\"\ndelay = \"{}us\"\n\
             [run]\nwarmup = \"5ms\"\nmeasure = \"20ms\"\ndrain = \"0us\"\ngrid = \"1us\"\n\
             [[traffic]]\nkind = \"incast\"\nvictims = \"0\"\ndegree = {}\nflows_per_sender = {}\n\
             bytes = \"10GB\"\nevents = 1\n",
            self.gbps, self.delay_us, self.senders, self.flows_per_sender,
        );
        let mut run = open(&text, overrides);
        let mut held = Vec::new();
        while run.step().unwrap_or_else(|message| panic!("{message}")) {
            let settled = run.rows().samples.drain(..).filter(|row| row.time_ps > 5_000_000_000);
            held.extend(settled.map(|row| row.bytes as f64));
        }
        Seen {
            utilisation: received_bytes(&run) as f64 / 1000.0 * PACKET / self.bytes_in(25_000.0),
            held,
            drops: over_switches(&run, |switch| switch.stats().drops),
            retransmitted: over_hosts(&run, |stats| stats.retransmitted),
        }
    }
}

#[test]
fn a_lone_flow_gets_the_line_rate_without_a_queue() {
    let star = Star { senders: 1, flows_per_sender: 1, gbps: 100.0, delay_us: 2.0 };
    let seen = star.run(&[]);
    assert!(seen.utilisation > 0.999, "{}", seen.utilisation);
    // The packet on the wire does not count.
    assert!(seen.held.iter().all(|&bytes| bytes == 0.0));
}

/// "Swift achieves low latency near the target" (§4.2), with and without flow-based scaling. A flow
/// sends whole packets of its window, and adds one per round trip. The sum of windows is therefore
/// off by up to a packet per flow.
#[test]
fn the_standing_queue_is_what_the_target_allows() {
    for senders in [2, 10, 40] {
        let star = Star { senders, flows_per_sender: 1, gbps: 100.0, delay_us: 2.0 };
        let allowance = star.bytes_in(star.base_rtt());
        for (overrides, expected) in [(&[][..], star.queue()), (&["swift.fs_range=0.0"], allowance)]
        {
            let seen = star.run(overrides);
            let (mean, tolerance) = (seen.mean(), star.flows() * PACKET);
            assert!((mean - expected).abs() < tolerance, "{senders}: {mean} B, not {expected} B");
            assert!(seen.utilisation > 0.999, "{senders}: {}", seen.utilisation);
            assert_eq!((seen.drops, seen.retransmitted), (0, 0));
        }
    }
}

/// §3.4 and Table 3: if there are more flows than packets in the BDP, "even a congestion window of
/// one is too high to prevent overload". A window below one packet keeps the queue near the target.
/// It grows by a whole packet at each acknowledgement below the target, so that the queue
/// oscillates: its mean is off by up to a half.
#[test]
fn an_incast_of_500_flows_needs_windows_below_one_packet() {
    let star = Star { senders: 50, flows_per_sender: 10, gbps: 10.0, delay_us: 1.0 };
    // 7 packets fill the path.
    assert!(star.bytes_in(star.base_rtt()) < 7.0 * PACKET);
    let slow = ["swift.initial_cwnd=1.0"];
    let seen = star.run(&slow);
    let off = seen.mean() / star.queue();
    assert!((off - 1.0).abs() < 0.5, "{} B, not {} B", seen.mean(), star.queue());
    assert!(seen.utilisation > 0.99, "{}", seen.utilisation);
    assert_eq!((seen.drops, seen.retransmitted), (0, 0));

    // A packet of each flow, less those on the links.
    let least_one = star.run(&[slow[0], "transport.pacing=false"]);
    let expected = star.flows() * PACKET - star.bytes_in(star.base_rtt());
    assert!((least_one.mean() - expected).abs() < 2.0 * PACKET, "{}", least_one.mean());
    assert!(least_one.mean() > 5.0 * seen.mean());
}
