//! Data that a switch writes into the side records of packets.

use crate::fabric::Fabric;
use crate::{pint, xcp};

/// What it writes.
#[derive(Debug)]
pub enum InBand {
    /// Nothing.
    None,
    /// INT entries (HPCC).
    Int,
    /// Feedback into congestion headers (XCP).
    Xcp(xcp::Router),
    /// Codes of utilisations (PINT).
    Pint(Box<pint::Meter>),
}

impl InBand {
    /// Port `egress` works at `rate` (bit/s) from now on. INT reads the rate from the port.
    pub(super) fn set_rate(&mut self, egress: u16, rate: u64) {
        match self {
            Self::None | Self::Int => {}
            Self::Xcp(router) => router.set_rate(egress, rate),
            Self::Pint(meter) => meter.set_rate(egress, rate),
        }
    }

    /// A packet's transmission starts on port `egress`, which keeps measurements of its own.
    #[inline(never)]
    pub(super) fn measure(&mut self, fabric: &mut Fabric, egress: u16, id: u32, queue_bytes: u32) {
        match self {
            Self::None | Self::Int => {}
            Self::Xcp(router) => router.on_departure(fabric, egress, id, queue_bytes),
            Self::Pint(meter) => meter.on_departure(fabric, egress, id, queue_bytes),
        }
    }
}
