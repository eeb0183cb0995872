//! What the settings of a scheduler say about it.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::Need;
use xoff_core::{Bytes, Ps};

use super::AnyScheduler;
use crate::hop::HopQueues;

/// An egress port that gets a scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerSite {
    /// The queues of its hop control.
    pub queues: HopQueues,
    /// Bytes that a turn of round robin allows.
    pub quantum: u32,
    /// Seed of a hash of flows.
    pub bin_seed: u32,
    /// Priorities that packets carry.
    pub priorities: u8,
}

/// What the rest of the program asks the settings of a scheduler.
pub trait SchedulerSettings {
    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn check(&self) -> Checked {
        Ok(())
    }

    /// Values that it needs other settings to have.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Capabilities that it provides.
    fn provide(&self, _capabilities: &mut Capabilities) {}

    /// Whether it serves the queues of a hop control. By default, only where the hop control has none.
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

    /// True if it serves flows by what packets say is left of them.
    fn uses_flow_sizes(&self) -> bool {
        false
    }

    /// True if it serves the priorities that packets carry.
    fn serves_carried_priorities(&self) -> bool {
        false
    }

    /// True if derived settings depend on the base RTT.
    fn derives_from_base_rtt(&self) -> bool {
        false
    }

    /// Fills in settings that follow from the base RTT, and checks them. Returns them by name.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    fn derive(&mut self, _base_rtt: Ps) -> Result<Vec<(&'static str, Ps)>, (&'static str, String)> {
        Ok(Vec::new())
    }

    /// The memory of a port where `buffer.size` is 0, from the bandwidth-delay product, with its name
    /// among the derived settings.
    fn port_memory(&self, _bandwidth_delay_product: Bytes) -> Option<(&'static str, Bytes)> {
        None
    }

    /// Estimated memory of a port (bytes).
    fn port_bytes(&self) -> u128 {
        0
    }

    /// The scheduler of a port whose queues it serves.
    fn build(&self, site: &SchedulerSite) -> AnyScheduler;
}
