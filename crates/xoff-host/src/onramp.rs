//! A flow control at the sender that holds packets back by the one-way delay of those before:
//! in the manner of OnRamp (Liu et al., NSDI 2021).
//!
//! What is published of it: a flow is paused by as much as its one-way delay exceeds a threshold;
//! doing only that "has queue oscillations and the possibility of under-utilization in the presence
//! of feedback delay", which a smoothing prevents that "tunes the gain factor when there are more
//! flows" (both as "SFC" quotes it, §2.3.1). The smoothing itself is not public.
//!
//! Here a hold is what a delay has above the threshold, less the time for which the flow has been
//! held since the packet of that delay left: those holds cannot show in it. For a flow that sends
//! at line rate whenever it may, delay less holds is the time it has sent since, so that the hold
//! grows with the data on its way. The rest is ours, and keeps many flows with one queue stable:
//!
//! - A packet that is not acknowledged yet has a delay, too: at least its age less the way back. So
//!   a flow looks not only at each acknowledgement but after each packet it sends. Otherwise flows
//!   whose first packets wait behind a queue, or who have nothing acknowledged because all were
//!   held, send at line rate until they hear.
//! - A hold begins only when none is in force, so that holds never pile up into the future.
//!
//! With both, no gain has to fall with the number of flows. N flows settle where a hold lasts the
//! N - 1 packet times of the others: each then has the threshold, the way back and (N - 1) / gain
//! packets on its way.

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
            return Err(("gain", "gain is a share: more than 0, up to 1".into()));
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
    /// Flow control by one-way delay, in the manner of OnRamp.
    pub struct OnRampConfig in "onramp" {
        /// A one-way delay above this holds packets back; 0: three quarters of the base RTT, half as
        /// much again as the delay without queues (not published; such that the queue of "SFC",
        /// Fig. 1, settles near the 13 MB it shows).
        threshold: Ps = Ps(0),
        /// Share of the delay above it that a hold makes up for (choice of this implementation: all
        /// of it).
        gain: f64 = 1.0,
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: u64,
    /// `OnRamp::held` then.
    held: u64,
}

/// A flow's state (times in ps).
#[derive(Clone, Debug, Default)]
pub struct OnRamp {
    /// Packets of which nothing is heard yet, oldest first.
    on_the_way: VecDeque<Sent>,
    /// All holds so far, one after the other.
    held: u64,
    /// When the last hold ends, and no sooner than the last packet has left the NIC.
    until: u64,
}

impl OnRamp {
    /// A packet leaves: until when the flow is held after it, by the delay that its oldest packet on
    /// the way has at least.
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

    /// The receiver has the packet sent at `sent`; an acknowledgement also says how long it took.
    /// Until when the flow is held.
    pub fn on_arrived(
        &mut self,
        config: &OnRampConfig,
        path: &Path,
        now: u64,
        sent: u64,
        delay: Option<u64>,
    ) -> u64 {
        let mut arrived = None;
        // Packets do not overtake each other: what was sent before has come, too, or is lost.
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

    /// Nothing was heard for too long: what is on the way is lost, which is no delay.
    pub fn on_timeout(&mut self) {
        self.on_the_way.clear();
    }

    /// Holds the flow, which is not held now, for a packet's `delay`; `held_before` is what it had
    /// been held when that packet left.
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
    fn a_delay_is_made_up_for_once() {
        let mut flow = flow(&[0, 1, 2, 3]);
        let mut ack = |now, sent, delay| {
            flow.on_arrived(&CONFIG, &PATH, now * US, sent * US, Some(delay * US))
        };
        assert_eq!(ack(15, 0, 10), 15 * US, "the threshold holds nothing back");
        assert_eq!(ack(23, 1, 17), 30 * US);
        assert_eq!(ack(26, 2, 19), 30 * US, "no hold begins within another");
        // The hold of 7 us came after this packet and cannot show in its delay.
        assert_eq!(ack(31, 3, 19), 33 * US);
        flow.on_sent(&CONFIG, &PATH, 40 * US, 1000);
        // What left after the holds and is late again, is late for another reason.
        let until = flow.on_arrived(&CONFIG, &PATH, 60 * US, 40 * US, Some(13 * US));
        assert_eq!(until, 63 * US);
    }

    #[test]
    fn a_part_of_a_delay_is_made_up_for_with_a_gain() {
        let half = OnRampConfig { gain: 0.5, ..CONFIG };
        let until = flow(&[0]).on_arrived(&half, &PATH, 30 * US, 0, Some(20 * US));
        assert_eq!(until, 35 * US);
    }

    #[test]
    fn a_flow_that_hears_nothing_is_held_after_each_packet() {
        let mut flow = flow(&[0, 5]);
        // 15 us are the way back and the threshold.
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 15 * US, 1000), 15_080_000);
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 18 * US, 1000), 21_080_000);
        // Of 22 us, 3 were a hold, and the threshold and the way back are 15.
        assert_eq!(flow.on_sent(&CONFIG, &PATH, 22 * US, 1000), 26_080_000);
        // The oldest on the way is the packet of 15 us; 7 us were held since.
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
