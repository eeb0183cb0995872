//! Schedulers of switches, and what they need.
//!
//! That those that drop packets themselves (pFabric, fair queueing with CoDel) stand beside no hop control and no trimming is said where those are read: each names the
//! schedulers it needs.

use xoff_core::knobs::Knob;
use xoff_core::{Bytes, Ps};
use xoff_host::transport::{FrameConfig, Recovery, TransportConfig, TransportKind};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::hop::BackpressureKind;
use xoff_net::sched::{EtsConfig, SfqCodelConfig};
use xoff_sim::setup::{HopSetup, Scheduling};

use super::Reader;
use crate::diagnostic::Place;
use crate::sections::{SchedulerKind, SwitchConfig};

impl Reader<'_> {
    pub(super) fn scheduling(
        &mut self,
        switch: &SwitchConfig,
        buffer: &BufferConfig,
    ) -> Scheduling {
        if switch.scheduler != SchedulerKind::SfqCodel {
            let why = format!("switch.scheduler = {}", switch.scheduler.show());
            self.layers.unused("sfqcodel", &why);
        }
        if switch.scheduler != SchedulerKind::Ets {
            let why = format!("switch.scheduler = {}", switch.scheduler.show());
            self.layers.unused("ets", &why);
        }
        match switch.scheduler {
            SchedulerKind::Fifo => Scheduling::Fifo,
            SchedulerKind::Drr => Scheduling::Drr,
            SchedulerKind::PerFlow => Scheduling::PerFlow,
            SchedulerKind::Srf => Scheduling::Srf,
            SchedulerKind::PerFlowSrf => Scheduling::PerFlowSrf,
            SchedulerKind::PFabric => {
                if buffer.kind != BufferKind::Dedicated {
                    let message = "pFabric's ports have a small memory each, in which it looks at \
                                   every packet: set kind = \"dedicated\"";
                    self.problem("buffer", "kind", message.into());
                }
                Scheduling::PFabric
            }
            SchedulerKind::SfqCodel => Scheduling::SfqCodel(self.section::<SfqCodelConfig>()),
            SchedulerKind::Ets => self.ets(),
            SchedulerKind::Strict => self.strict(switch),
        }
    }

    /// Schedulers that go by what flows have left need queues to choose among, and packets that say so.
    pub(super) fn check_sizes(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
        hop: &HopSetup,
        endless: Option<&Place>,
    ) {
        if !matches!(switch.scheduler, SchedulerKind::Srf | SchedulerKind::PerFlowSrf) {
            return;
        }
        let scheduler = format!("scheduler = {}", switch.scheduler.show());
        if switch.scheduler == SchedulerKind::Srf {
            self.check_choice(hop);
        }
        let says = format!("{scheduler} goes by what packets say their flow has left");
        if transport.kind != TransportKind::Sender {
            let kind = transport.kind.show();
            let message = format!("{says}, and those of transport.kind = {kind} do not say it");
            self.problem_where("kind", message);
        } else if transport.recovery != Recovery::GoBackN {
            let recovery = transport.recovery.show();
            let message = format!(
                "{says}; with transport.recovery = {recovery} a packet sent again says what comes \
                 after it in the flow, most of which may have arrived: set recovery = \"go-back-n\""
            );
            self.problem_where("recovery", message);
        }
        if let Some(place) = endless {
            let message = format!(
                "[[traffic]] flows without end have no size to go by, which {scheduler} needs: give \
                 them bytes"
            );
            self.layers.problem(Some(place.clone()), message, None);
        }
    }

    /// Queues in order of what their heads have left: there must be some.
    fn check_choice(&mut self, hop: &HopSetup) {
        match hop {
            HopSetup::Bfc(bfc) if bfc.data_queues() == 1 => {
                let message = "scheduler = \"srf\" has nothing to choose from in one queue";
                self.problem("switch", "scheduler", message.into());
            }
            HopSetup::Bfc(bfc) if bfc.classes > 1 => {
                let message = "scheduler = \"srf\" knows no classes, and queues of one are served in \
                               turns (BFC App. A.3): set bfc.classes = 1";
                self.problem("switch", "scheduler", message.into());
            }
            HopSetup::Bfc(bfc) if bfc.backpressure == BackpressureKind::Flows => {
                let message = "scheduler = \"srf\" passes over paused queues, not over paused flows in \
                               them: set bfc.backpressure = \"queues\"";
                self.problem("switch", "scheduler", message.into());
            }
            HopSetup::Bfc(_) => {}
            HopSetup::None | HopSetup::Pfc(_) | HopSetup::Sfc(_) => {
                let message = "scheduler = \"srf\" chooses among the queues that BFC gives flows: set \
                               hop = \"bfc\", or scheduler = \"per-flow-srf\" for a queue a flow";
                self.problem("switch", "scheduler", message.into());
            }
        }
    }

    /// A scheduler that does not go with a key of the transport: said there, if it is written down.
    fn problem_where(&mut self, key: &str, message: String) {
        let named = self.layers.has("transport", key).is_some();
        let (section, key) = if named { ("transport", key) } else { ("switch", "scheduler") };
        self.problem(section, key, message);
    }

    fn ets(&mut self) -> Scheduling {
        match self.section::<EtsConfig>().plan() {
            Ok(plan) => Scheduling::Ets(plan),
            Err((key, message)) => {
                self.problem("ets", key, message);
                Scheduling::Fifo
            }
        }
    }

    /// Fills in the times that follow from the base RTT, and checks them.
    pub(super) fn derived_scheduling(&mut self, scheduling: Scheduling, rtt: Ps) -> Scheduling {
        let Scheduling::SfqCodel(config) = scheduling else { return scheduling };
        let config = config.derived(rtt);
        if let Err((key, message)) = config.check() {
            self.problem("sfqcodel", key, message);
        }
        self.effective.derive("sfqcodel_interval", config.interval);
        self.effective.derive("sfqcodel_target", config.target);
        Scheduling::SfqCodel(config)
    }

    /// Fills in pFabric's memory of a port, "2xBDP" (pFabric §5).
    pub(super) fn derived_buffer(
        &mut self,
        mut buffer: BufferConfig,
        switch: &SwitchConfig,
        frame: &FrameConfig,
        bandwidth_delay_product: Bytes,
    ) -> BufferConfig {
        if switch.scheduler == SchedulerKind::PFabric && buffer.size.0 == 0 {
            buffer.size = Bytes(2 * bandwidth_delay_product.0);
            self.check_dedicated(&buffer, switch, frame);
            self.effective.derive("pfabric_buffer", buffer.size);
        }
        buffer
    }
}
