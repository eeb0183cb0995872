//! What the settings of a scheduler say about it.

use xoff_core::knobs::{Capabilities, Checked};
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Ps, knobs};

use super::{
    AnyScheduler, Drr, DrrFlows, Ets, EtsConfig, Fifo, PFabric, PerFlow, PerFlowSrf, Priorities,
    SfqCodel, SfqCodelConfig, Srf, TrafficManager,
};
use crate::capability::TURNS;
use crate::hop::{CLASS_QUEUES, HopQueues};

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
    fn provide(&self, capabilities: &mut Capabilities) {
        capabilities.provide(TURNS, self.takes_turns());
    }

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

knobs! {
    /// First in, first out, by class.
    pub struct FifoConfig;
}

impl SchedulerSettings for FifoConfig {
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Classes => Ok(()),
            HopQueues::Assigned(_) => Err("serves queues of classes, not of flows".into()),
        }
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Fifo(Fifo::default())
    }
}

knobs! {
    /// Deficit round robin over the queues of the hop control.
    pub struct DrrConfig;
}

impl SchedulerSettings for DrrConfig {
    fn provide(&self, capabilities: &mut Capabilities) {
        capabilities.provide(TURNS, true);
    }

    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Assigned(_) => Ok(()),
            HopQueues::Classes => Err("has no queue for each class in order of arrival".into()),
        }
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        let quantum = site.quantum;
        let HopQueues::Assigned(queues) = &site.queues else {
            return AnyScheduler::Drr(Drr::new(CLASS_QUEUES, quantum));
        };
        if let Some(tofino) = &queues.tofino {
            let (cell, fifo) = (tofino.cell.0 as u16, tofino.egress_fifo.0 as u32);
            return AnyScheduler::TrafficManager(TrafficManager::new(
                queues.count,
                quantum,
                cell,
                fifo,
            ));
        }
        match queues.division {
            Some(division) => AnyScheduler::DrrClasses(Drr::with_classes(division, quantum)),
            None if queues.pauses_flows => {
                AnyScheduler::DrrFlows(DrrFlows::new(queues.count, quantum))
            }
            None => AnyScheduler::Drr(Drr::new(queues.count, quantum)),
        }
    }
}

knobs! {
    /// Deficit round robin with a queue for every flow.
    pub struct PerFlowConfig;
}

impl SchedulerSettings for PerFlowConfig {
    fn takes_turns(&self) -> bool {
        true
    }

    fn has_queues(&self) -> bool {
        false
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PerFlow(PerFlow::new(site.quantum))
    }
}

knobs! {
    /// Shortest remaining flow first over the queues of the hop control.
    pub struct SrfConfig;
}

impl SchedulerSettings for SrfConfig {
    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Classes => {
                Err("chooses among queues that flows are assigned \
                                                        to: set hop = \"bfc\", or scheduler = \
                                                        \"per-flow-srf\" for one queue per flow"
                    .into())
            }
            HopQueues::Assigned(queues) if queues.count == 1 => {
                Err("has nothing to choose from in one queue".into())
            }
            HopQueues::Assigned(queues) if queues.division.is_some() => {
                Err("knows no classes, and queues of one class take turns (BFC App. A.3): set \
                     bfc.classes = 1"
                    .into())
            }
            HopQueues::Assigned(queues) if queues.pauses_flows => Err(
                "skips paused queues, not paused flows in them: set bfc.backpressure = \"queues\""
                    .into(),
            ),
            HopQueues::Assigned(queues) if queues.tofino.is_some() => {
                Err("is not known for Tofino2, which serves its queues in turns".into())
            }
            HopQueues::Assigned(_) => Ok(()),
        }
    }

    fn uses_flow_sizes(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        let count = match &site.queues {
            HopQueues::Assigned(queues) => queues.count,
            HopQueues::Any | HopQueues::Classes => CLASS_QUEUES,
        };
        AnyScheduler::Srf(Srf::new(count))
    }
}

knobs! {
    /// Shortest remaining flow first with a queue for every flow.
    pub struct PerFlowSrfConfig;
}

impl SchedulerSettings for PerFlowSrfConfig {
    fn has_queues(&self) -> bool {
        false
    }

    fn uses_flow_sizes(&self) -> bool {
        true
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PerFlowSrf(PerFlowSrf::default())
    }
}

knobs! {
    /// pFabric.
    pub struct PFabricSchedulerConfig;
}

impl SchedulerSettings for PFabricSchedulerConfig {
    fn needs(&self) -> Vec<Need> {
        let reason = "ports have a small memory each, in which it looks at every packet";
        vec![need(("buffer", "kind"), &["dedicated"], reason)]
    }

    /// "2xBDP" (pFabric §5).
    fn port_memory(&self, bandwidth_delay_product: Bytes) -> Option<(&'static str, Bytes)> {
        Some(("pfabric_buffer", Bytes(2 * bandwidth_delay_product.0)))
    }

    fn build(&self, _site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::PFabric(PFabric::default())
    }
}

impl SchedulerSettings for SfqCodelConfig {
    fn takes_turns(&self) -> bool {
        true
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.interval.0 == 0
    }

    fn derive(&mut self, base_rtt: Ps) -> Result<Vec<(&'static str, Ps)>, (&'static str, String)> {
        *self = self.clone().derived(base_rtt);
        SfqCodelConfig::check(self)?;
        Ok(vec![("sfqcodel_interval", self.interval), ("sfqcodel_target", self.target)])
    }

    fn port_bytes(&self) -> u128 {
        u128::from(self.bins) * super::sfqcodel::BIN_BYTES
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::SfqCodel(SfqCodel::new(self, site.quantum, site.bin_seed))
    }
}

impl SchedulerSettings for EtsConfig {
    fn check(&self) -> Checked {
        self.plan().map(|_| ())
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Ets(Ets::new(self.plan().unwrap_or_default(), site.quantum))
    }
}

knobs! {
    /// Strict priorities that packets carry.
    pub struct StrictConfig;
}

impl SchedulerSettings for StrictConfig {
    fn needs(&self) -> Vec<Need> {
        let reason = "its priorities are the queues of an egress port";
        vec![need(("switch", "architecture"), &["output-queued"], reason)]
    }

    fn serves_carried_priorities(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Priorities(Priorities::new(site.priorities))
    }
}
