//! Settings of BFC on Tofino2.

use xoff_core::knobs::Effect;
use xoff_core::{Bytes, Ps, knobs};

use super::super::{BfcConfig, EMPTY_QUEUES};
use crate::sched::TofinoMemory;

knobs! {
    /// Limits of Tofino2 (BFC §4, §6.1), with `bfc.hardware = "tofino"`.
    pub struct TofinoConfig in "tofino" {
        /// Ingress pipelines (§4: 4). Each has an equal share of a switch's ports, in order, and
        /// its part of the flow table. The number must divide the ports of every switch.
        pipelines: u8 = 4,
        /// Interval at which pipelines learn the empty queues (§4: "periodically", without a
        /// figure; this is half a 1-hop RTT of §6.2.1). 0: they always know them.
        bitmap_period: Ps = Ps::from_us(1) => [Effect::Needs(EMPTY_QUEUES)],
        /// Time of a packet's header from its egress back to its ingress, without waiting (not
        /// stated; §2.3 has some 500 ns for a pipeline).
        recirculation_delay: Ps = Ps::from_ns(500),
        /// Rate of a switch's recirculation, as a share of the rate of all its ports (§4: 12 %).
        recirculation_share: f64 = 0.12,
        /// Bytes of a recirculated header (not stated; up to 60 B fit "for every packet" of
        /// "average packet size greater than 500 bytes", §4). 48 B are the headers of
        /// `frame.header`.
        recirculated_bytes: Bytes = Bytes(48),
        /// Size of a memory cell: packets occupy whole cells, and queue lengths count cells (Fig.
        /// 7).
        cell: Bytes = Bytes(176),
        /// The "small hardware queues after the egress pipeline" (§6.1, without a size) accept
        /// packets while they hold less than this: two full packets. 0: no such queues.
        egress_fifo: Bytes = Bytes(2000),
    }
}

impl TofinoConfig {
    /// The memory of a port's queues.
    pub(crate) fn memory(&self) -> TofinoMemory {
        TofinoMemory { cell_bytes: self.cell.0 as u16, fifo_bytes: self.egress_fifo.0 as u32 }
    }

    /// Checks what the types of the fields cannot, with section `bfc` and full packets of
    /// `full_packet` bytes.
    ///
    /// # Errors
    /// The field and what is wrong.
    pub fn check(&self, bfc: &BfcConfig, full_packet: u64) -> Result<(), (&'static str, String)> {
        if self.pipelines == 0 {
            return Err(("pipelines", "a switch has at least one pipeline".into()));
        }
        if u32::from(bfc.queues) * bfc.table_factor < u32::from(self.pipelines) {
            let message = "each pipeline needs an entry of the flow table: raise bfc.table_factor";
            return Err(("pipelines", message.into()));
        }
        if !(self.recirculation_share > 0.0 && self.recirculation_share <= 1.0) {
            let message = "recirculation_share is a share of the ports' rate: more than 0, up to 1";
            return Err(("recirculation_share", message.into()));
        }
        if !(1..=1024).contains(&self.cell.0) {
            return Err(("cell", "a cell has 1B to 1024B".into()));
        }
        if !(1..=1500).contains(&self.recirculated_bytes.0) {
            return Err(("recirculated_bytes", "a header has 1B to 1500B".into()));
        }
        if self.egress_fifo.0 > 1_000_000 {
            let message = "egress_fifo is a small queue: 1MB at most";
            return Err(("egress_fifo", message.into()));
        }
        let share = bfc.sampling * self.recirculated_bytes.0 as f64 / full_packet as f64;
        if share > self.recirculation_share {
            let message = format!(
                "headers of {} are {:.1} % of full packets, and recirculation has {:.1} % of the \
                 ports' rate: headers would queue without limit. Lower bfc.sampling",
                self.recirculated_bytes,
                100.0 * share,
                100.0 * self.recirculation_share
            );
            return Err(("recirculated_bytes", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_checked_at_their_bounds() {
        let bfc = BfcConfig { queues: 2, table_factor: 1, ..BfcConfig::default() };
        let check = |full_packet, change: fn(&mut TofinoConfig)| {
            let mut tofino = TofinoConfig { pipelines: 2, ..TofinoConfig::default() };
            change(&mut tofino);
            tofino.check(&bfc, full_packet).map_err(|(key, _)| key)
        };
        assert_eq!(check(1048, |tofino| tofino.pipelines = 0), Err("pipelines"));
        // Two entries for two pipelines, but not for four.
        assert_eq!(check(1048, |_| {}), Ok(()));
        assert_eq!(check(1048, |tofino| tofino.pipelines = 4), Err("pipelines"));
        assert_eq!(check(1048, |tofino| tofino.recirculation_share = 1.0), Ok(()));
        let shares: [fn(&mut TofinoConfig); 2] =
            [|tofino| tofino.recirculation_share = 0.0, |tofino| tofino.recirculation_share = 1.01];
        for share in shares {
            assert_eq!(check(1048, share), Err("recirculation_share"));
        }
        assert_eq!(check(1048, |tofino| tofino.cell = Bytes(1024)), Ok(()));
        assert_eq!(check(1048, |tofino| tofino.cell = Bytes(1025)), Err("cell"));
        assert_eq!(check(1048, |tofino| tofino.cell = Bytes(0)), Err("cell"));
        assert_eq!(
            check(1048, |tofino| tofino.recirculated_bytes = Bytes(0)),
            Err("recirculated_bytes")
        );
        assert_eq!(check(1048, |tofino| tofino.egress_fifo = Bytes(1_000_000)), Ok(()));
        assert_eq!(check(1048, |tofino| tofino.egress_fifo = Bytes(1_000_001)), Err("egress_fifo"));
        // Headers of 48 B are 12 % of packets of 400 B, all that recirculation has.
        assert_eq!(check(400, |_| {}), Ok(()));
        assert_eq!(check(399, |_| {}), Err("recirculated_bytes"));
    }
}
