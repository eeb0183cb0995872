//! Flowlets: bursts of a flow with gaps between them (Sinha, Kandula and Katabi, "Harnessing TCP's
//! burstiness with flowlet switching", HotNets 2004).
//!
//! A table holds the port of each flow's last packet. A flow whose packets have not come for some
//! time may take another port, because the packets before the gap have left the network by then.

use xoff_core::knobs::Checked;
use xoff_core::{Ps, choices, knobs};

use super::{address, murmur3};
use crate::packet::Packet;

choices! {
    /// The measurement of a gap.
    pub enum Gaps {
        /// One bit per entry, as in hardware: a timer checks all entries once per timeout. A gap is
        /// detected after one to two timeouts (CONGA §3.4).
        AgeBit = "age-bit",
        /// The time of the last packet: a gap is detected after exactly one timeout.
        Timestamp = "timestamp",
    }
}

knobs! {
    /// Flowlets, where `switch.balance` is "letflow" or "conga".
    pub struct FlowletConfig in "flowlets" {
        /// A flow without packets for this time begins a new flowlet (CONGA §3.6: Tfl).
        timeout: Ps = Ps::from_us(500),
        /// The measurement of this time.
        gaps: Gaps = Gaps::AgeBit,
        /// Entries of a switch's table. Flows with the same entry share their port, and a gap must
        /// be a gap of all of them (CONGA §3.4: 64K).
        entries: u32 = 65_536,
    }
}

impl FlowletConfig {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        if self.timeout == Ps(0) {
            let message = "timeout = 0ps makes each packet a flowlet: set switch.balance = \
                           \"spray\", or a longer timeout";
            return Err(("timeout", message.into()));
        }
        if !(1..=1 << 24).contains(&self.entries) {
            let message = format!("entries = {} must be from 1 to 16777216", self.entries);
            return Err(("entries", message));
        }
        Ok(())
    }
}

/// The flowlet table of a switch.
#[derive(Debug)]
pub(super) struct Flowlets {
    timeout: u64,
    gaps: Gaps,
    seed: u32,
    /// By entry, the time of the last packet (ps) and 1 more; 0: no packet so far. Zeros take no
    /// memory until they are overwritten.
    last: Vec<u64>,
    ports: Vec<u16>,
}

/// The flowlet of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flowlet {
    /// It goes on: the packet takes this port.
    Same(u16),
    /// It is new. The one before took this port, if there was one.
    New(Option<u16>),
}

impl Flowlets {
    /// An empty table. The seed says which flows share an entry.
    pub(super) fn new(config: &FlowletConfig, seed: u32) -> Self {
        let entries = config.entries as usize;
        let (last, ports) = (vec![0; entries], vec![0; entries]);
        Self { timeout: config.timeout.0, gaps: config.gaps, seed, last, ports }
    }

    /// The entry of a packet.
    pub(super) fn entry(&self, packet: &Packet) -> usize {
        let tuple = [address(packet.src), address(packet.dst), packet.label];
        murmur3(tuple, self.seed) as usize % self.last.len()
    }

    /// A packet with this entry arrives.
    pub(super) fn arrive(&mut self, entry: usize, now: u64) -> Flowlet {
        let before = std::mem::replace(&mut self.last[entry], now + 1);
        let port = self.ports[entry];
        match before.checked_sub(1) {
            None => Flowlet::New(None),
            Some(last) if self.has_gap(last, now) => Flowlet::New(Some(port)),
            Some(_) => Flowlet::Same(port),
        }
    }

    /// The port of a new flowlet.
    pub(super) fn set_port(&mut self, entry: usize, port: u16) {
        self.ports[entry] = port;
    }

    // The timer of age bits fires at whole multiples of the timeout. It sets the bit, which a
    // packet clears. It ends the flowlet if the bit is set already: at the second multiple after
    // the last packet.
    fn has_gap(&self, last: u64, now: u64) -> bool {
        match self.gaps {
            Gaps::AgeBit => now / self.timeout > last / self.timeout + 1,
            Gaps::Timestamp => now - last > self.timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table in which a timer sets the bits, as in hardware.
    struct Hardware {
        valid: bool,
        age: bool,
        timer: u64,
    }

    impl Hardware {
        /// Whether a packet at `now` finds a valid entry.
        fn arrive(&mut self, now: u64, timeout: u64) -> bool {
            while self.timer <= now {
                self.valid &= !self.age;
                self.age = true;
                self.timer += timeout;
            }
            self.age = false;
            std::mem::replace(&mut self.valid, true)
        }
    }

    proptest! {
        /// Age bits end flowlets when the hardware's timer does.
        #[test]
        fn age_bits_are_those_of_a_timer(gaps in prop::collection::vec(1u64..400, 1..200)) {
            let timeout = 100;
            let config = FlowletConfig { timeout: Ps(timeout), ..FlowletConfig::default() };
            let mut table = Flowlets::new(&config, 1);
            let mut hardware = Hardware { valid: false, age: false, timer: timeout };
            let mut now = 0;
            for gap in gaps {
                now += gap;
                let same = matches!(table.arrive(3, now), Flowlet::Same(_));
                prop_assert_eq!(same, hardware.arrive(now, timeout), "at {}", now);
            }
        }

        /// Neither measurement ends a flowlet before the timeout, and both do after two.
        #[test]
        fn gaps_are_as_long_as_promised(start in 0u64..1000, gap in 0u64..400) {
            for gaps in [Gaps::AgeBit, Gaps::Timestamp] {
                let config = FlowletConfig { timeout: Ps(100), gaps, entries: 1 };
                let mut table = Flowlets::new(&config, 1);
                prop_assert_eq!(table.arrive(0, start), Flowlet::New(None));
                table.set_port(0, 7);
                let found = table.arrive(0, start + gap);
                if gap <= 100 {
                    prop_assert_eq!(found, Flowlet::Same(7));
                }
                if gap > 200 || gaps == Gaps::Timestamp && gap > 100 {
                    prop_assert_eq!(found, Flowlet::New(Some(7)));
                }
            }
        }
    }

    #[test]
    fn flows_share_entries_of_a_small_table_only() {
        let table = |entries| Flowlets::new(&FlowletConfig { entries, ..Default::default() }, 5);
        let entries = |table: &Flowlets| {
            let mut found: Vec<usize> = (0..50)
                .map(|label| {
                    let mut packet = Packet::new(crate::packet::Kind::Data, 100);
                    packet.label = label;
                    table.entry(&packet)
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            found.len()
        };
        assert_eq!([1, 1 << 20].map(|size| entries(&table(size))), [1, 50]);
    }
}
