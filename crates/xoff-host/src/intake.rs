//! A host that takes data more slowly than its link brings it: what waits for it at its NIC, and when
//! the NIC pauses its switch.
//!
//! What waits is a fluid: the host takes it at a constant rate, whatever the packets' bounds, so all
//! there is to know is when it will have taken everything. The NIC holds any amount. It acknowledges
//! data when it arrives, as NICs do that write it to memory themselves.

use xoff_core::knobs::{Effect, because};
use xoff_core::{BitRate, Bytes, knobs};
use xoff_net::capability::PFC_FRAMES;

knobs! {
    /// What NICs do about congestion at their own end of the link.
    pub struct NicConfig in "nic" {
        /// Whether NICs obey pause frames of their switch (IEEE 802.1Qbb).
        pfc: bool = true => [Effect::Needs(PFC_FRAMES)],
        /// Rate at which a host takes data frames from its NIC; 0: as fast as they come.
        receive_rate: BitRate = BitRate(0),
        /// With more than so many bytes waiting for the host the NIC pauses the class of what arrives.
        /// No source.
        receive_xoff: Bytes = Bytes(64_000) => [Effect::Unless(unlimited)],
        /// With so many bytes waiting it lets all classes go on. No source.
        receive_xon: Bytes = Bytes(32_000) => [Effect::Unless(unlimited)],
    }
}

/// Why the thresholds have no effect, if they have none.
fn unlimited(nic: &NicConfig) -> Option<String> {
    because(nic.receive_rate.0 == 0, "nic.receive_rate = \"0bps\"")
}

impl NicConfig {
    /// What is wrong with it, if anything, on links of so many bit/s.
    ///
    /// # Errors
    /// The key concerned and what to do.
    pub fn check(&self, link_rate: BitRate) -> Result<(), (&'static str, String)> {
        if self.receive_rate.0 == 0 {
            return Ok(());
        }
        if self.receive_rate >= link_rate {
            let message = format!(
                "receive_rate = {} has no effect behind a link of {link_rate}",
                self.receive_rate
            );
            return Err(("receive_rate", message));
        }
        if self.receive_xon > self.receive_xoff {
            let message = format!(
                "receive_xon = {} must not be more than receive_xoff = {}",
                self.receive_xon, self.receive_xoff
            );
            return Err(("receive_xon", message));
        }
        Ok(())
    }
}

/// What waits for one host, and which classes its NIC has paused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intake {
    /// When the host will have taken all that waits (ps).
    empty_at: u64,
    /// The classes paused, one bit each.
    paused: u128,
}

impl Intake {
    /// A data frame has arrived; whether its class is to be paused for it.
    pub fn on_data(&mut self, config: &NicConfig, now: u64, class: u8, bytes: u64) -> bool {
        self.empty_at = self.empty_at.max(now) + config.receive_rate.time_for(bytes).0;
        let limit = config.receive_rate.time_for(config.receive_xoff.0).0;
        let pause = self.empty_at - now > limit && self.paused >> class & 1 == 0;
        self.paused |= u128::from(pause) << class;
        pause
    }

    /// When no more than `receive_xon` will be waiting, if nothing arrives meanwhile (ps).
    #[must_use]
    pub fn resume_at(&self, config: &NicConfig) -> u64 {
        self.empty_at.saturating_sub(config.receive_rate.time_for(config.receive_xon.0).0)
    }

    /// Lets all classes go on; returns which were paused.
    pub fn resume(&mut self) -> u128 {
        std::mem::take(&mut self.paused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Gb/s are a byte a nanosecond.
    #[test]
    fn it_pauses_above_one_threshold_and_resumes_at_the_other() {
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
        // 1900 of 2000 bytes wait, and 1000 more.
        assert!(intake.on_data(&config, 100 * ns, 3, 1000));
        // Class 3 has been paused already, class 0 has not.
        assert!(!intake.on_data(&config, 200 * ns, 3, 1000));
        assert!(intake.on_data(&config, 200 * ns, 0, 1000));
        assert_eq!(intake.resume_at(&config), 4500 * ns);
        assert_eq!(intake.resume(), 0b1001);
        assert!(!intake.on_data(&config, 9000 * ns, 3, 2500));
        assert!(intake.on_data(&config, 9000 * ns, 3, 1));
    }
}
