//! What the settings of a transport say about it.

use xoff_core::knobs::Checked;
use xoff_core::seam::Need;
use xoff_core::{Bytes, Ps, knobs};
use xoff_net::credit::CreditShape;

use super::levels::Levels;
use super::{AnyDriven, DrivenSetup};
use crate::frame::FrameConfig;
use crate::nic::RoundRobin;

/// The sizes of a workload's flows, as far as the scenario determines them.
pub trait FlowSizes {
    /// The share of all bytes that are among the first `bytes` of their flow.
    fn share_of_first(&self, bytes: u64) -> f64;
    /// Divides flows by size into groups with equal shares of the first `bytes` of all flows: the
    /// longest flow of each group except the last (bytes).
    fn even_cutoffs(&self, groups: u8, bytes: u64) -> Vec<u64>;
}

/// What derived settings depend on.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Base RTT x host rate.
    pub bandwidth_delay_product: Bytes,
    /// Frame sizes.
    pub frame: &'a FrameConfig,
    /// The workload's flows.
    pub sizes: &'a dyn FlowSizes,
}

/// Derived settings by name, as a scenario file would write them.
pub(super) type Derived = Vec<(&'static str, String)>;

/// What the rest of the program asks the settings of a transport.
pub trait DriverSettings {
    /// Checks the settings by themselves and with `transport.timeout`.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self, _timeout: Ps) -> Checked {
        Ok(())
    }

    /// The name of the transport, if the receiver decides what is sent.
    fn receiver_driven(&self) -> Option<&'static str> {
        None
    }

    /// Values that it needs other settings to have.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Order in which its NICs serve flows.
    fn round_robin(&self) -> RoundRobin {
        RoundRobin::Ready
    }

    /// True if a dropped packet is repeated after `transport.timeout` only.
    fn repeats_after_timeout(&self) -> bool {
        false
    }

    /// True if data packets carry the priority of their queue.
    fn carries_priorities(&self) -> bool {
        false
    }

    /// The priorities of switches for such packets, and their use.
    fn levels(&self) -> Option<(u8, &Levels)> {
        None
    }

    /// True if derived settings depend on the sizes of the workload's flows.
    fn needs_flow_sizes(&self) -> bool {
        false
    }

    /// True if derived settings depend on the bandwidth-delay product.
    fn derives_from_bdp(&self) -> bool {
        false
    }

    /// Fills in derived settings.
    ///
    /// # Errors
    /// The keys that do not fit the context, and what to write instead.
    fn derive(&mut self, _context: &Context<'_>) -> Result<Derived, Vec<(&'static str, String)>> {
        Ok(Vec::new())
    }

    /// How ports shape credits for data packets of `full_packet` bytes on the wire, if receivers
    /// send credits.
    fn credits(&self, _full_packet: u64) -> Option<CreditShape> {
        None
    }

    /// The transport without hosts, if the receiver decides what is sent.
    fn build(&self, _setup: &DrivenSetup) -> Option<AnyDriven> {
        None
    }
}

knobs! {
    /// The sender decides what is sent.
    pub struct SenderDriven;
}

impl DriverSettings for SenderDriven {}
