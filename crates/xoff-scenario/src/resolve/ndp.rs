//! NDP: its hosts and the switches that trim for them belong together.

use xoff_core::knobs::Knob;
use xoff_host::driven::ndp::NdpConfig;
use xoff_host::transport::{FrameConfig, TransportConfig, TransportKind};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::trim::TrimConfig;

use super::Reader;
use crate::sections::{HopKind, OverflowKind, SchedulerKind, SwitchConfig};

impl Reader<'_> {
    /// NDP's hosts.
    pub(super) fn ndp(&mut self, switch: &SwitchConfig) -> NdpConfig {
        if switch.overflow != OverflowKind::Trim {
            let message = "NDP's receivers hear of losses by trimmed packets, so they need \
                           switch.overflow = \"trim\"";
            let named = self.layers.has("switch", "overflow").is_some();
            let (section, key) = if named { ("switch", "overflow") } else { ("transport", "kind") };
            self.problem(section, key, message.into());
        }
        self.section::<NdpConfig>()
    }

    /// Payload trimming, if switches do it.
    pub(super) fn trim(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
        buffer: &BufferConfig,
        frame: &FrameConfig,
    ) -> Option<TrimConfig> {
        if switch.overflow != OverflowKind::Trim {
            self.layers.unused("trim", &format!("switch.overflow = {}", switch.overflow.show()));
            return None;
        }
        let needs = [
            (
                transport.kind != TransportKind::Ndp,
                "switch",
                "overflow",
                "transport.kind = \"ndp\"",
            ),
            (switch.hop != HopKind::None, "switch", "hop", "hop = \"none\""),
            (
                switch.scheduler != SchedulerKind::Fifo,
                "switch",
                "scheduler",
                "scheduler = \"fifo\"",
            ),
            (buffer.kind == BufferKind::Unlimited, "buffer", "kind", "a limited buffer"),
        ];
        for (missing, section, key, need) in needs {
            if missing {
                let message = format!("switch.overflow = \"trim\" needs {need}");
                self.problem(section, key, message);
            }
        }
        let trim = self.section::<TrimConfig>();
        let full = frame.payload.0 + frame.header.0;
        if let Err((key, message)) = trim.check(full, frame.ack.0) {
            self.problem("trim", key, message);
        }
        Some(trim)
    }
}
