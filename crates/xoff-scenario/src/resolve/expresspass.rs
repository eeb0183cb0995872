//! ExpressPass: its hosts, and what switches have to be for credits to mean anything.

use xoff_host::driven::expresspass::ExpressPassConfig;
use xoff_host::transport::TransportConfig;

use super::Reader;
use crate::sections::{ArchitectureKind, HopKind, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    /// ExpressPass's hosts.
    pub(super) fn expresspass(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
    ) -> ExpressPassConfig {
        let needs = [
            (
                !switch.symmetric_ecmp,
                "symmetric_ecmp",
                "symmetric_ecmp = true: a credit makes room on the links that it passes, so data must \
                 take them back",
            ),
            (
                switch.architecture != ArchitectureKind::OutputQueued,
                "architecture",
                "architecture = \"output-queued\", whose ports shape credits",
            ),
            (
                switch.hop != HopKind::None,
                "hop",
                "hop = \"none\": credits keep queues of data short",
            ),
            (
                switch.scheduler != SchedulerKind::Fifo,
                "scheduler",
                "scheduler = \"fifo\": a port has one queue of data beside that of credits",
            ),
        ];
        for (missing, key, need) in needs {
            if missing {
                let named = self.layers.has("switch", key).is_some();
                let (section, key) = if named { ("switch", key) } else { ("transport", "kind") };
                self.problem(section, key, format!("ExpressPass needs switch.{need}"));
            }
        }
        let config = self.section::<ExpressPassConfig>();
        if let Err((key, message)) = config.check() {
            self.problem("expresspass", key, message);
        }
        if config.early_stop && transport.timeout.0 == 0 {
            let message = "early_stop = true needs a transport.timeout: after it, a sender asks again for \
                           credits that were lost";
            self.problem("expresspass", "early_stop", message.into());
        }
        config
    }
}
