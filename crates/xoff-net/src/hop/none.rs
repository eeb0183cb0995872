//! No hop control: a full buffer drops. Classes may have shares of the buffer.

use xoff_core::knobs;
use xoff_core::knobs::Capabilities;

use super::pfc::MemoryPlan;
use super::{AnyHop, Carried, HopControl, HopSettings, HopSite, Pfc, PfcPort};
use crate::buffer::BufferConfig;
use crate::capability::CLASS_MEMORY;

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

    fn provide(&self, capabilities: &mut Capabilities) {
        capabilities.provide(CLASS_MEMORY, true);
    }

    fn set_aside(&self, buffer: &BufferConfig, ports: &[PfcPort]) -> u64 {
        MemoryPlan { pfc: None, buffer }.aside(ports).bytes()
    }

    fn explain(&self, buffer: &BufferConfig, ports: &[PfcPort]) -> Vec<(String, u64)> {
        match buffer.by_class.is_empty() {
            true => Vec::new(),
            false => MemoryPlan { pfc: None, buffer }.explain(ports),
        }
    }

    fn build(&self, site: HopSite) -> Result<AnyHop, String> {
        let plan = MemoryPlan { pfc: None, buffer: &site.buffer };
        if plan.is_by_class() {
            return Ok(AnyHop::PfcByClass(Pfc::by_class(plan, &site.pfc_ports(), site.nic_rate)?));
        }
        Ok(if site.carried_queues { AnyHop::Carried(Carried) } else { AnyHop::None(Uncontrolled) })
    }
}

/// No hop control.
#[derive(Debug)]
pub struct Uncontrolled;

impl HopControl for Uncontrolled {}
