//! Properties of a scheduler's settings.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::Need;
use xoff_core::{Bytes, Ps};

use super::AnyScheduler;
use crate::sched::HopQueues;

/// The site of a scheduler: an egress port.
#[derive(Clone, Debug)]
pub struct SchedulerSite {
    /// The queues of its hop control.
    pub queues: HopQueues,
    /// Bytes of a turn of round robin.
    pub quantum: u32,
    /// Seed of a hash of flows.
    pub bin_seed: u32,
    /// Priorities in packets.
    pub priorities: u8,
}

/// The interface of a scheduler's settings.
pub trait SchedulerSettings {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// Values that it needs in other settings.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, _capabilities: &mut Capabilities) {}

    /// Whether it serves the queues of a hop control. By default it does only if the hop control
    /// has none.
    ///
    /// # Errors
    /// The reason, which completes "it ...".
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any => Ok(()),
            HopQueues::Classes => Err("has no queue for each class in order of arrival".into()),
            HopQueues::Assigned(_) => {
                Err("does not serve queues that flows are assigned to".into())
            }
        }
    }

    /// True if queues take turns, of `switch.quantum` each.
    fn takes_turns(&self) -> bool {
        false
    }

    /// True if its queues have lengths that can mark packets, and memory of their own.
    fn has_queues(&self) -> bool {
        true
    }

    /// True if it serves flows by the bytes left in their packets' headers.
    fn uses_flow_sizes(&self) -> bool {
        false
    }

    /// True if it serves the priorities in packets.
    fn serves_carried_priorities(&self) -> bool {
        false
    }

    /// True if derived settings depend on the base RTT.
    fn derives_from_base_rtt(&self) -> bool {
        false
    }

    /// Fills in settings that depend on the base RTT, and checks them. Returns them by name.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn derive(&mut self, _base_rtt: Ps) -> Result<Vec<(&'static str, Ps)>, (&'static str, String)> {
        Ok(Vec::new())
    }

    /// The memory of a port with `buffer.size` = 0, from the bandwidth-delay product, with its name
    /// among the derived settings.
    fn port_memory(&self, _bandwidth_delay_product: Bytes) -> Option<(&'static str, Bytes)> {
        None
    }

    /// Estimated memory of a port (bytes).
    fn port_bytes(&self) -> u128 {
        0
    }

    /// A scheduler for a port with these queues.
    fn build(&self, site: &SchedulerSite) -> AnyScheduler;
}
