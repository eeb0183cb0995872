//! Headroom: the bytes that arrive after an ingress has requested a pause, and thresholds that
//! leave room for them.
//!
//! There are two models. [`Reaction`] adds up the delays of a pause (DeTail §6.1). [`round_trips`]
//! uses multiples of the bytes on the wire (the HPCC simulator).

use xoff_core::{Bytes, Ps};

use super::PauseConfig;

/// The properties of a link and its ends that determine the headroom.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Bits per second of the link.
    pub rate: u64,
    /// Its propagation delay, including that of the transceivers.
    pub delay: Ps,
    /// Bytes of the longest packet.
    pub mtu: u64,
    /// Bytes of the pause frame.
    pub frame: u64,
    /// Time from the frame's arrival until the neighbour obeys it.
    pub response: Ps,
    /// Time that the switch takes to generate the frame.
    pub generation: Ps,
    /// Bytes that the neighbour's hardware sends in spite of a pause.
    pub outstanding: u64,
}

impl Reaction {
    /// Time until a pause takes effect, after its frame was generated: "T = T_O + T_P + T_R + T_O +
    /// T_P" (DeTail §6.1, (1)). T_O is the longest packet, which has just started here or there.
    #[must_use]
    pub fn time(&self) -> Ps {
        let packet = self.mtu * 8_000_000_000_000 / self.rate;
        Ps(self.generation.0 + 2 * (packet + self.delay.0) + self.response.0)
    }

    /// Bytes that may arrive in that time.
    #[must_use]
    pub fn headroom(&self) -> u64 {
        let bits = u128::from(self.time().0) * u128::from(self.rate);
        bits.div_ceil(8_000_000_000_000) as u64 + self.outstanding
    }

    /// Bytes that (1) leaves out: the packet that reaches the threshold may exceed it by all but
    /// one byte, and the frame itself takes time on the link.
    #[must_use]
    pub fn granularity(&self) -> u64 {
        self.mtu - 1 + self.frame
    }
}

/// The thresholds at which an ingress pauses and resumes a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Bytes from which a class is paused.
    pub xoff: u64,
    /// Bytes below which a class is resumed.
    pub xon: u64,
}

impl Thresholds {
    /// Thresholds of an ingress that never pauses.
    pub const NEVER: Self = Self { xoff: u64::MAX, xon: 0 };

    /// The highest XOFF: "We must leave 4,838B x 8 of buffer space for receiving packets after PFC
    /// generation" (DeTail §6.1). An ingress of `size` bytes keeps `reserve` bytes for each of the
    /// `classes` that are paused separately; XOFF is the rest. `None` if there is no rest.
    #[must_use]
    pub fn highest_xoff(size: u64, classes: u64, reserve: u64) -> Option<u64> {
        let xoff = size.checked_sub(classes * reserve)? / classes;
        (xoff > 0).then_some(xoff)
    }
}

impl PauseConfig {
    /// The headroom's parameters for a link of this rate (bit/s) and delay.
    #[must_use]
    pub fn reaction(&self, rate: u64, delay: Ps, mtu: u64, frame: u64) -> Reaction {
        let (response, generation) = (self.response, self.generation_delay);
        Reaction { rate, delay, mtu, frame, response, generation, outstanding: self.outstanding.0 }
    }

    /// Thresholds with this XOFF. XON is the configured value, or else the headroom, so that new
    /// packets arrive "before the ingress queue drains completely" (DeTail §6.1).
    ///
    /// # Errors
    /// The key concerned, and what is wrong with its value.
    pub(crate) fn with_xoff(
        &self,
        xoff: u64,
        headroom: u64,
    ) -> Result<Thresholds, (&'static str, String)> {
        let xon = if self.xon.0 == 0 { headroom.min(xoff) } else { self.xon.0 };
        if xon > xoff {
            let message =
                format!("xon = {} must not be more than xoff = {}", self.xon, Bytes(xoff));
            return Err(("xon", message));
        }
        Ok(Thresholds { xoff, xon })
    }
}

/// Bytes on a link of this rate (bit/s) in `factor` times its propagation delay (ps). Each delay is
/// rounded down to whole bytes.
pub(super) fn round_trips(rate: u64, delay_ps: u64, factor: u32) -> u64 {
    let in_flight = u128::from(rate) * u128::from(delay_ps) / 8_000_000_000_000;
    in_flight as u64 * u64::from(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DeTail §6.1: Gigabit Ethernet, 1530 B, T_P = 6.6 us, T_R = 1.024 us.
    const PAPER: Reaction = Reaction {
        rate: 1_000_000_000,
        delay: Ps(6_600_000),
        mtu: 1530,
        frame: 64,
        response: Ps(1_024_000),
        generation: Ps(0),
        outstanding: 0,
    };

    fn thresholds(reaction: &Reaction, classes: u64) -> Option<Thresholds> {
        let headroom = reaction.headroom();
        let xoff = Thresholds::highest_xoff(131_072, classes, headroom)?;
        PauseConfig::default().with_xoff(xoff, headroom).ok()
    }

    #[test]
    fn the_papers_figures() {
        assert_eq!(PAPER.time(), Ps(38_704_000));
        let headroom = PAPER.headroom();
        assert_eq!((headroom, headroom * 8), (4_838, 38_704));
        assert_eq!(thresholds(&PAPER, 8), Some(Thresholds { xoff: 11_546, xon: 4_838 }));
    }

    /// §7.2.2: 48 us more until the frame is sent, and 6 KB more after it has arrived. Two classes
    /// fit into 128 KB; eight do not.
    #[test]
    fn a_software_router_needs_more() {
        let click = Reaction { generation: Ps::from_us(48), outstanding: 6_000, ..PAPER };
        assert_eq!(click.headroom(), 4_838 + 6_000 + 6_000);
        assert_eq!(thresholds(&click, 2), Some(Thresholds { xoff: 48_698, xon: 16_838 }));
        assert_eq!(thresholds(&click, 8), None);
    }

    /// XOFF needs a byte of its own, and XON may be as high.
    #[test]
    fn thresholds_are_exact() {
        assert_eq!(Thresholds::highest_xoff(8 * 4_838, 8, 4_838), None);
        assert_eq!(Thresholds::highest_xoff(8 * 4_838 + 8, 8, 4_838), Some(1));
        let with = |xon| {
            let config = PauseConfig { xon: Bytes(xon), ..PauseConfig::default() };
            config.with_xoff(5_000, 6_000).map_err(|(key, _)| key)
        };
        let at_most = Ok(Thresholds { xoff: 5_000, xon: 5_000 });
        assert_eq!([with(0), with(5_000), with(5_001)], [at_most, at_most, Err("xon")]);
    }
}
