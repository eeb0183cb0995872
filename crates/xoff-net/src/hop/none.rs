//! No hop control: a full buffer drops.

use xoff_core::knobs;

use super::{AnyHop, Carried, HopControl, HopSettings, HopSite};

knobs! {
    /// No hop control.
    pub struct NoHopConfig;
}

impl HopSettings for NoHopConfig {
    fn survives_link_down(&self) -> bool {
        true
    }

    fn survives_loss(&self) -> bool {
        true
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        Ok(if site.carried_queues { AnyHop::Carried(Carried) } else { AnyHop::None(Uncontrolled) })
    }
}

/// No hop control.
#[derive(Debug)]
pub struct Uncontrolled;

impl HopControl for Uncontrolled {}
