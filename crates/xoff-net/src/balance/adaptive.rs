//! Per-packet adaptive load balancing (DeTail §5.3, §5.4, §6.2).
//!
//! Each egress counts *drain bytes* for each class: its bytes of that class and of more important
//! ones, which "must be transmitted before a new packet with the given priority can be placed on
//! the wire". Ports below a threshold are favoured. A bitmap per class and threshold holds them. A
//! packet takes an acceptable port of its route that the lowest possible threshold favours.

use xoff_core::knobs::Checked;
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Rng, knobs};

use super::{BalanceSettings, PathPer};
use crate::packet::CLASSES;
use crate::ports::{PortMask, nth};

knobs! {
    /// Adaptive load balancing.
    pub struct AlbConfig in "alb" {
        /// Ports with fewer drain bytes are the most favoured (DeTail §6.2: 16 KB).
        favoured: Bytes = Bytes(16_384),
        /// Ports with fewer drain bytes are favoured if no acceptable port is most favoured (DeTail
        /// §6.2: 64 KB). 0: only one threshold.
        second: Bytes = Bytes(65_536),
    }
}

impl BalanceSettings for AlbConfig {
    fn check(&self) -> Checked {
        if self.favoured.0 == 0 {
            return Err(("favoured", "favoured = 0B favours no port: set more than 0B".into()));
        }
        if self.second.0 > 0 && self.second <= self.favoured {
            let message = format!(
                "second = {} must be more than favoured = {}, or 0B for a single threshold",
                self.second, self.favoured
            );
            return Err(("second", message));
        }
        Ok(())
    }

    fn needs(&self) -> Vec<Need> {
        let reason = "it follows the egress queues of classes";
        vec![need(("switch", "architecture"), &["crossbar", "pipelined"], reason)]
    }

    fn path_per(&self) -> PathPer {
        PathPer::Packet
    }

    fn adaptive(&self) -> Option<&AlbConfig> {
        Some(self)
    }
}

/// The number of thresholds.
const LEVELS: usize = 2;

/// Bytes at one egress.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    total: u32,
    bytes: [u32; CLASSES],
    /// For each threshold, the classes with fewer drain bytes.
    below: [u8; LEVELS],
}

impl Load {
    /// Classes with drain bytes below a limit.
    #[inline]
    fn classes_below(&self, limit: u32) -> u8 {
        let (mut drain, mut below) = (0, 0);
        for (class, bytes) in self.bytes.iter().enumerate() {
            drain += bytes;
            below |= u8::from(drain < limit) << class;
        }
        below
    }
}

/// The loads of one switch's egress ports, and its favoured ports.
#[derive(Debug)]
pub struct Adaptive {
    limits: [u32; LEVELS],
    loads: Vec<Load>,
    /// By threshold and class, the ports below it.
    favoured: [[PortMask; CLASSES]; LEVELS],
    rng: Rng,
}

impl Adaptive {
    /// For an empty switch of `ports` ports. Choices are drawn from `rng`.
    #[must_use]
    pub fn new(config: &AlbConfig, ports: usize, rng: Rng) -> Self {
        let second = if config.second.0 == 0 { config.favoured } else { config.second };
        let limits =
            [config.favoured, second].map(|limit| u32::try_from(limit.0).unwrap_or(u32::MAX));
        let load = Load { below: [u8::MAX; LEVELS], ..Load::default() };
        let all = PortMask::MAX >> (PortMask::BITS - ports as u32);
        Self { limits, loads: vec![load; ports], favoured: [[all; CLASSES]; LEVELS], rng }
    }

    /// A packet of `class` joins egress `port`.
    #[inline]
    pub fn join(&mut self, port: u16, class: u8, bytes: u16) {
        let load = &mut self.loads[port as usize];
        load.total += u32::from(bytes);
        load.bytes[class as usize] += u32::from(bytes);
        if load.total >= self.limits[0] {
            self.signal(port);
        }
    }

    /// A packet of `class` leaves egress `port`.
    #[inline]
    pub fn leave(&mut self, port: u16, class: u8, bytes: u16) {
        let load = &mut self.loads[port as usize];
        let before = load.total;
        load.total -= u32::from(bytes);
        load.bytes[class as usize] -= u32::from(bytes);
        if before >= self.limits[0] {
            self.signal(port);
        }
    }

    /// The port's signals to the bitmaps: "a logical 1" if its counter is below a threshold.
    fn signal(&mut self, port: u16) {
        let load = &mut self.loads[port as usize];
        for level in 0..LEVELS {
            let below = load.classes_below(self.limits[level]);
            let mut changed = below ^ load.below[level];
            load.below[level] = below;
            while changed != 0 {
                self.favoured[level][changed.trailing_zeros() as usize] ^= 1 << port;
                changed &= changed - 1;
            }
        }
    }

    /// The port for a packet of `class`: "DeTail randomly chooses" one of the most favoured
    /// acceptable ports, or else of the favoured ones, or else of all acceptable ports.
    #[inline]
    pub fn choose(&mut self, class: u8, acceptable: PortMask) -> u16 {
        let favoured = self.favoured.iter().map(|ports| ports[class as usize] & acceptable);
        let among = favoured.into_iter().find(|&ports| ports != 0).unwrap_or(acceptable);
        u16::from(match among.count_ones() {
            1 => among.trailing_zeros() as u8,
            count => nth(among, self.rng.below(u64::from(count))),
        })
    }

    /// Bytes that must leave a port before a new packet of `class`.
    #[must_use]
    pub fn drain_bytes(&self, port: u16, class: u8) -> u32 {
        self.loads[port as usize].bytes[..=class as usize].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xoff_core::Rng;
    use xoff_core::rng::Purpose;

    use super::*;

    fn adaptive(favoured: u64, second: u64, ports: usize) -> Adaptive {
        let config = AlbConfig { favoured: Bytes(favoured), second: Bytes(second) };
        Adaptive::new(&config, ports, Rng::stream(1, Purpose::Spraying, 0))
    }

    fn join(adaptive: &mut Adaptive, port: u16, class: u8, mut bytes: u32) {
        while bytes > 0 {
            let packet = bytes.min(1530) as u16;
            adaptive.join(port, class, packet);
            bytes -= u32::from(packet);
        }
    }

    /// The chosen ports over many choices, with their counts.
    fn chosen(adaptive: &mut Adaptive, class: u8, acceptable: PortMask) -> Vec<(u16, u32)> {
        let mut counts = [0; 128];
        (0..4_000).for_each(|_| counts[adaptive.choose(class, acceptable) as usize] += 1);
        (0..128).map(|port| (port, counts[port as usize])).filter(|one| one.1 > 0).collect()
    }

    fn ports_of(chosen: &[(u16, u32)]) -> Vec<u16> {
        chosen.iter().map(|one| one.0).collect()
    }

    /// DeTail §5.4: "Output port 1 has a queue of 10 KB with priority 7. However, port 2 has a
    /// queue of 20 KB with priority 0". A packet of priority 7, the most important there, goes to
    /// port 2. That holds for thresholds up to 10 KB; by bytes alone it would go to port 1.
    #[test]
    fn a_packet_goes_where_nothing_as_important_waits() {
        let mut queues = adaptive(8_192, 0, 4);
        join(&mut queues, 1, 0, 10_240);
        join(&mut queues, 2, 7, 20_480);
        assert_eq!(ports_of(&chosen(&mut queues, 0, 0b110)), [2]);
        // The least important packets take the other port: 10 KB are less than 20 KB.
        let mut queues = adaptive(16_384, 65_536, 4);
        join(&mut queues, 1, 0, 10_240);
        join(&mut queues, 2, 7, 20_480);
        assert_eq!(ports_of(&chosen(&mut queues, 7, 0b110)), [1]);
    }

    #[test]
    fn favoured_ports_share_evenly_and_when_none_is_any_will_do() {
        let mut adaptive = adaptive(16_384, 65_536, 6);
        let acceptable = 0b11_1100;
        let even = chosen(&mut adaptive, 3, acceptable);
        assert_eq!(ports_of(&even), [2, 3, 4, 5]);
        assert!(even.iter().all(|one| (900..1100).contains(&one.1)), "{even:?}");
        join(&mut adaptive, 2, 3, 16_384);
        join(&mut adaptive, 3, 3, 16_383);
        join(&mut adaptive, 4, 0, 20_000);
        join(&mut adaptive, 5, 1, 70_000);
        assert_eq!(ports_of(&chosen(&mut adaptive, 3, acceptable)), [3]);
        assert_eq!(ports_of(&chosen(&mut adaptive, 0, acceptable)), [2, 3, 5]);
        join(&mut adaptive, 3, 3, 1);
        assert_eq!(ports_of(&chosen(&mut adaptive, 3, acceptable)), [2, 3, 4]);
        [2, 3, 4].into_iter().for_each(|port| join(&mut adaptive, port, 3, 65_536));
        assert_eq!(ports_of(&chosen(&mut adaptive, 3, acceptable)), [2, 3, 4, 5]);
    }

    proptest! {
        /// The bitmaps equal a recount of drain bytes.
        #[test]
        fn bitmaps_are_as_counted_anew(
            steps in prop::collection::vec((0..5u16, 0..8u8, 64..1531u16, 0..3u8), 1..400),
            second in prop_oneof![Just(0u64), Just(9_000)],
        ) {
            let mut adaptive = adaptive(3_000, second, 5);
            let mut held: Vec<(u16, u8, u16)> = Vec::new();
            for (port, class, bytes, what) in steps {
                if what > 0 || held.is_empty() {
                    adaptive.join(port, class, bytes);
                    held.push((port, class, bytes));
                } else {
                    let (port, class, bytes) = held.swap_remove(usize::from(bytes) % held.len());
                    adaptive.leave(port, class, bytes);
                }
                for port in 0..5u16 {
                    for class in 0..8u8 {
                        let counts = held.iter().filter(|one| one.0 == port && one.1 <= class);
                        let drain: u32 = counts.map(|one| u32::from(one.2)).sum();
                        prop_assert_eq!(adaptive.drain_bytes(port, class), drain);
                        for (level, limit) in [3_000, second.max(3_000)].into_iter().enumerate() {
                            let bit = adaptive.favoured[level][class as usize] >> port & 1;
                            prop_assert_eq!(bit == 1, u64::from(drain) < limit);
                        }
                    }
                }
            }
        }
    }
}
