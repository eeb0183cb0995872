//! The ideal flow completion time: the flow alone on its path, in the base frame format.
//!
//! This is a closed form, not a simulation. It follows the last two packets of the flow and their
//! acknowledgements over the links. That suffices, because full packets before them keep a constant
//! distance. It includes no window and no INT, so that slowdown >= 1 holds for every scheme.

use xoff_core::Ps;
use xoff_host::FrameConfig;
use xoff_net::fabric::{Rounding, serialisation};

/// A link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Rate in bits per second.
    pub rate: u64,
    /// Propagation delay.
    pub delay: Ps,
}

/// The time from a flow's start to the arrival, at its sender, of the acknowledgement of its last
/// byte.
#[must_use]
pub fn fct(legs: &[Leg], bytes: u64, frame: &FrameConfig, rounding: Rounding) -> Ps {
    let payload = frame.payload.0;
    let packets = bytes.div_ceil(payload).max(1);
    let last = bytes - (packets - 1) * payload;
    let time = |leg: &Leg, bytes: u64| serialisation(rounding, leg.rate, bytes);
    let full = payload + frame.header.0;
    // Times at which the last full packet and the last packet have left each link's sending end.
    let (mut before, mut end) = (0, 0);
    let mut slowest = 0;
    for leg in legs {
        let step = time(leg, full);
        if packets > 1 {
            // The first full packet takes `step` here; each of the others follows at the pace of
            // the slowest link so far.
            let faster = slowest;
            slowest = slowest.max(step);
            before += step + (packets - 2) * (slowest - faster);
        }
        end = before.max(end) + time(leg, last + frame.header.0);
        before += leg.delay.0;
        end += leg.delay.0;
    }
    for leg in legs.iter().rev() {
        let step = time(leg, frame.ack.0);
        if packets > 1 {
            before += step;
        } else {
            before = 0;
        }
        end = before.max(end) + step + leg.delay.0;
        before += leg.delay.0;
    }
    Ps(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legs(count: usize) -> Vec<Leg> {
        vec![Leg { rate: 100_000_000_000, delay: Ps::from_us(1) }; count]
    }

    fn fct_ps(legs: &[Leg], bytes: u64) -> u64 {
        fct(legs, bytes, &FrameConfig::default(), Rounding::PicosecondUp).0
    }

    #[test]
    fn one_packet() {
        // Four links of 1 us in each direction, 1048 B at 100 Gb/s four times, 60 B four times.
        assert_eq!(fct_ps(&legs(4), 1000), 8_000_000 + 4 * (83_840 + 4_800));
        assert_eq!(fct_ps(&legs(2), 1), 4_000_000 + 2 * (3_920 + 4_800));
    }

    #[test]
    fn full_packets_follow_at_the_bottleneck() {
        let mut legs = legs(3);
        legs[1].rate = 25_000_000_000;
        let bytes = 10_000;
        let fast = 83_840;
        let expected = 6_000_000 + 2 * fast + 10 * 4 * fast + 2 * 4_800 + 4 * 4_800;
        assert_eq!(fct_ps(&legs, bytes), expected);
    }

    /// A short last packet queues behind the preceding full one on every link, and its
    /// acknowledgement behind that packet's.
    #[test]
    fn a_short_last_packet_queues_behind_the_one_before() {
        let last = 49 * 80;
        let ack = 60 * 80;
        // The full packet's acknowledgement leaves the receiver when the last packet, 3.92 ns
        // behind, has just arrived: the last acknowledgement waits for 0.88 ns.
        let expected = 4_000_000 + 2 * 83_840 + last + 2 * ack + (ack - last);
        assert_eq!(fct_ps(&legs(2), 1001), expected);
    }
}
