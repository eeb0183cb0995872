//! Flow control at the sender by one-way delay, modelled on OnRamp (Liu et al., NSDI 2021).
//!
//! Published facts: a flow is paused for the excess of its one-way delay over a threshold. That
//! alone "has queue oscillations and the possibility of under-utilization in the presence of
//! feedback delay". A smoothing that "tunes the gain factor when there are more flows" prevents
//! this (both as quoted by "SFC", §2.3.1). The smoothing itself is not published.
//!
//! Here a pause is the delay above the threshold minus the time that the flow has been paused since
//! the packet with that delay left, because those pauses cannot show in its delay. For a flow that
//! sends at line rate whenever it may, delay minus pauses is the time it has sent since, so that
//! the pause grows with the data in flight. Two rules of xoff's own keep many flows on one queue
//! stable:
//!
//! - An unacknowledged packet has a delay too: at least its age minus the return delay. A flow
//!   therefore evaluates its delay not only at each acknowledgement but also after each packet it
//!   sends. Otherwise flows would send at line rate while their first packets wait in a queue, or
//!   while they have no acknowledgements because all packets were held back.
//! - A pause begins only when none is in force, so that pauses never accumulate.
//!
//! With both rules the gain need not fall with the number of flows. N flows converge to a pause of
//! the N - 1 packet times of the others. Each then has the threshold, the return delay and (N - 1)
//! / gain packets in flight.

use std::collections::VecDeque;

use xoff_core::knobs::Checked;
use xoff_core::{Ps, knobs};

use crate::cc::Path;

/// What the rest of the program asks the settings of a sender's flow control.
pub trait FlowControlSettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// The settings of the control by one-way delay, if it is that one.
    fn onramp(&self) -> Option<&OnRampConfig> {
        None
    }
}

knobs! {
    /// No flow control.
    pub struct NoFlowControl;
}

impl FlowControlSettings for NoFlowControl {}

impl FlowControlSettings for OnRampConfig {
    fn check(&self) -> Checked {
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(("gain", "gain must be above 0 and at most 1".into()));
        }
        Ok(())
    }

    fn onramp(&self) -> Option<&OnRampConfig> {
        Some(self)
    }
}

xoff_core::seam! {
    /// Flow controls of the sender.
    pub enum FlowControlConfig: dyn FlowControlSettings, named by FlowControl {
        /// None.
        None(NoFlowControl) = "none",
        /// By the one-way delay of the flow's packets, section `onramp`.
        OnRampLike(OnRampConfig) = "onramp-like",
    }
}

knobs! {
    /// Flow control by one-way delay, modelled on OnRamp.
    pub struct OnRampConfig in "onramp" {
        /// One-way delay above which a flow is paused. 0: three quarters of the base RTT, which is
        /// 1.5 times the delay without queues (not published; chosen so that the queue of "SFC",
        /// Fig. 1, converges near the 13 MB shown).
        threshold: Ps = Ps(0),
        /// Fraction of the excess delay that a pause makes up for (xoff's choice: all of it).
        gain: f64 = 1.0,
    }
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    /// `OnRamp::held` at that time.
    held: u64,
}

/// A flow's state (times in ps).
#[derive(Clone, Debug, Default)]
pub struct OnRamp {
    /// Packets without acknowledgement, oldest first.
    on_the_way: VecDeque<Sent>,
    /// Sum of all pauses so far.
    held: u64,
    /// End of the last pause, and no sooner than the end of the last packet's transmission.
    until: u64,
}

impl OnRamp {
    /// A packet leaves. Returns the end of the pause after it, from the minimum delay of the oldest
    /// packet in flight.
    pub fn on_sent(
        &mut self,
        config: &OnRampConfig,
        path: &Path,
        now: u64,
        wire_bytes: u64,
    ) -> u64 {
        self.until = now + wire_bytes * 8_000_000_000_000 / path.line_rate;
        self.on_the_way.push_back(Sent { at: now, held: self.held });
        let oldest = self.on_the_way[0];
        let delay = (now - oldest.at).saturating_sub(path.base_rtt / 2);
        self.hold(config, path, delay, oldest.held)
    }

    /// The receiver has the packet sent at `sent`; an acknowledgement also carries its `delay`.
    /// Returns the end of the pause.
    pub fn on_arrived(
        &mut self,
        config: &OnRampConfig,
        path: &Path,
        now: u64,
        sent: u64,
        delay: Option<u64>,
    ) -> u64 {
        let mut arrived = None;
        // Packets are not reordered: earlier packets have arrived as well, or are lost.
        while let Some(packet) = self.on_the_way.front().filter(|packet| packet.at <= sent) {
            arrived = Some(packet.held);
            self.on_the_way.pop_front();
        }
        if let (Some(held), Some(delay)) = (arrived, delay)
            && self.until <= now
        {
            self.until = now;
            return self.hold(config, path, delay, held);
        }
        self.until
    }

    /// Retransmission timeout: packets in flight are lost, which is no delay.
    pub fn on_timeout(&mut self) {
        self.on_the_way.clear();
    }

    /// Pauses the flow, which is not paused now, for a packet's `delay`. `held_before` is the sum
    /// of pauses when that packet left.
    fn hold(&mut self, config: &OnRampConfig, path: &Path, delay: u64, held_before: u64) -> u64 {
        let threshold = match config.threshold {
            Ps(0) => path.base_rtt / 4 * 3,
            Ps(threshold) => threshold,
        };
        let missing = delay.saturating_sub(threshold + self.held - held_before);
        let hold = (config.gain * missing as f64) as u64;
        self.held += hold;
        self.until += hold;
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: Path = Path {
        line_rate: 100_000_000_000,
        base_rtt: 10_000_000,
        bdp: 125_000,
        window: u64::MAX,
        window_follows_rate: false,
        narrow_int: false,
        payload: 1000,
        full_packet: 1048,
    };
    const CONFIG: OnRampConfig = OnRampConfig { threshold: Ps(10_000_000), gain: 1.0 };
    const US: u64 = 1_000_000;

    /// A flow that has sent a packet of 80 ns at each of these times (us).
    fn flow(sent_us: &[u64]) -> OnRamp {
        let mut flow = OnRamp::default();
        for at in sent_us {
            flow.on_sent(&CONFIG, &PATH, at * US, 1000);
        }
        flow
    }

    #[test]
    fn a_delay_causes_one_pause() {
        let mut flow = flow(&[0, 1, 2, 3]);
        let mut ack = |now, sent, delay| {
            flow.on_arrived(&CONFIG, &PATH, now * US, sent * US, Some(delay * US))
        };
        assert_eq!(ack(15, 0, 10), 15 * US, "no pause at the threshold");
        assert_eq!(ack(23, 1, 17), 30 * US);
        assert_eq!(ack(26, 2, 19), 30 * US, "no pause begins within another");
        // The pause of 7 us came after this packet and cannot show in its delay.
        assert_eq!(ack(31, 3, 19), 33 * US);
        flow.on_sent(&CONFIG, &PATH, 40 * US, 1000);
        // A packet that left after the pauses and is late again has another cause.
        let until = flow.on_arrived(&CONFIG, &PATH, 60 * US, 40 * US, Some(13 * US));
        assert_eq!(until, 63 * US);
    }

    #[test]
    fn a_gain_scales_the_pause() {
        let half = OnRampConfig { gain: 0.5, ..CONFIG };
        let until = flow(&[0]).on_arrived(&half, &PATH, 30 * US, 0, Some(20 * US));
        assert_eq!(until, 35 * US);
    }

    #[test]
    fn a_flow_without_acknowledgements_is_paused_after_each_packet() {
        let mut flow = flow(&[0, 5]);
        // 15 us are the return delay and the threshold.
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 15 * US, 1000), 15_080_000);
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 18 * US, 1000), 21_080_000);
        // Of 22 us, 3 were a pause, and the threshold and the return delay are 15.
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 22 * US, 1000), 26_080_000);
        // The oldest packet in flight was sent at 15 us; 7 us of pauses followed.
        flow.on_arrived(&CONFIG, &PATH, 27 * US, 5 * US, None);
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 38 * US, 1000), 39_080_000);
        flow.on_timeout();
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 500 * US, 1000), 500_080_000);
    }

    #[test]
    fn the_threshold_follows_the_path() {
        let ack = |delay| {
            let config = OnRampConfig::default();
            flow(&[0]).on_arrived(&config, &PATH, 20 * US, 0, Some(delay))
        };
        assert_eq!(ack(7_500_000), 20 * US);
        assert_eq!(ack(8_000_000), 20_500_000);
    }
}
