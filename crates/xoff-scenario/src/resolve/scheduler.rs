//! Schedulers of switches that drop packets themselves: pFabric, and fair queueing with CoDel.
//!
//! That they stand beside no hop control and no trimming is said where those are read: each names the
//! schedulers it needs.

use xoff_core::knobs::Knob;
use xoff_core::{Bytes, Ps};
use xoff_host::transport::FrameConfig;
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::sched::{EtsConfig, SfqCodelConfig};
use xoff_sim::setup::Scheduling;

use super::Reader;
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
        }
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
