//! A host that reads data more slowly than its link delivers it: the backlog at its NIC, and the
//! NIC's pauses of its switch.
//!
//! The backlog is a fluid. The host reads it at a constant rate, whatever the packet boundaries, so
//! the only state is the time at which the backlog is empty. The NIC's buffer is unlimited. The NIC
//! acknowledges data on arrival, like NICs that write to memory themselves.

use xoff_core::knobs::{Effect, because};
use xoff_core::{BitRate, Bytes, knobs};
use xoff_net::capability::PFC_FRAMES;

knobs! {
    /// Congestion at the NICs' end of the link.
    pub struct NicConfig in "nic" {
        /// NICs obey pause frames from their switch (IEEE 802.1Qbb).
        pfc: bool = true => [Effect::Needs(PFC_FRAMES)],
        /// Rate at which a host reads data frames from its NIC. 0: unlimited.
        receive_rate: BitRate = BitRate(0),
        /// XOFF threshold: with a larger backlog the NIC pauses the class of an arriving frame. No
        /// source.
        receive_xoff: Bytes = Bytes(64_000) => [Effect::Unless(unlimited)],
        /// XON threshold: with at most this backlog the NIC resumes all classes. No source.
        receive_xon: Bytes = Bytes(32_000) => [Effect::Unless(unlimited)],
    }
}

/// The reason that the thresholds have no effect, if so.
fn unlimited(nic: &NicConfig) -> Option<String> {
    because(nic.receive_rate.0 == 0, "nic.receive_rate = \"0bps\"")
}

impl NicConfig {
    /// Validates the settings for links of `link_rate`.
    ///
    /// # Errors
    /// The invalid key and the message.
    pub fn check(&self, link_rate: BitRate) -> Result<(), (&'static str, String)> {
        if self.receive_rate.0 == 0 {
            return Ok(());
        }
        if self.receive_rate >= link_rate {
            let message = format!(
                "receive_rate = {} has no effect behind a link of {link_rate}; use a lower \
                 rate or 0",
                self.receive_rate
            );
            return Err(("receive_rate", message));
        }
        if self.receive_xon > self.receive_xoff {
            let message = format!(
                "receive_xon = {} must be at most receive_xoff = {}",
                self.receive_xon, self.receive_xoff
            );
            return Err(("receive_xon", message));
        }
        Ok(())
    }
}

/// The backlog of one host, and the classes that its NIC has paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intake {
    /// Time at which the backlog will be empty (ps).
    empty_at: u64,
    /// The paused classes, one bit each.
    paused: u128,
}

impl Intake {
    /// A data frame has arrived; returns true if its class must be paused.
    pub fn on_data(&mut self, config: &NicConfig, now: u64, class: u8, bytes: u64) -> bool {
        self.empty_at = self.empty_at.max(now) + config.receive_rate.time_for(bytes).0;
        let limit = config.receive_rate.time_for(config.receive_xoff.0).0;
        let pause = self.empty_at - now > limit && self.paused >> class & 1 == 0;
        self.paused |= u128::from(pause) << class;
        pause
    }

    /// Time at which the backlog falls to `receive_xon` if nothing arrives meanwhile (ps).
    #[must_use]
    pub fn resume_at(&self, config: &NicConfig) -> u64 {
        self.empty_at.saturating_sub(config.receive_rate.time_for(config.receive_xon.0).0)
    }

    /// Resumes all classes; returns those that were paused.
    pub fn resume(&mut self) -> u128 {
        std::mem::take(&mut self.paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Gb/s is one byte per nanosecond.
    #[test]
    fn it_pauses_above_xoff_and_resumes_at_xon() {
        let config = NicConfig {
            receive_rate: BitRate::from_gbps(8),
            receive_xoff: Bytes(2500),
            receive_xon: Bytes(500),
            ..NicConfig::default()
        };
        let mut intake = Intake::default();
        let ns = 1000;
        assert!(!intake.on_data(&config, 0, 3, 1000));
        assert!(!intake.on_data(&config, 100 * ns, 3, 1000));
        // A backlog of 1900 of 2000 bytes, and 1000 more.
        assert!(intake.on_data(&config, 100 * ns, 3, 1000));
        // Class 3 is already paused, class 0 is not.
        assert!(!intake.on_data(&config, 200 * ns, 3, 1000));
        assert!(intake.on_data(&config, 200 * ns, 0, 1000));
        assert_eq!(intake.resume_at(&config), 4500 * ns);
        assert_eq!(intake.resume(), 0b1001);
        assert!(!intake.on_data(&config, 9000 * ns, 3, 2500));
        assert!(intake.on_data(&config, 9000 * ns, 3, 1));
    }
}
