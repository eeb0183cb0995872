//! NDP: its hosts and the switches that trim for them belong together.

use xoff_core::Bytes;
use xoff_core::knobs::Knob;
use xoff_host::intake::NicConfig;
use xoff_host::ndp::NdpConfig;
use xoff_host::transport::{
    AckClass, AllocatorKind, Congestion, FlowControl, FrameConfig, Recovery, RoundRobin,
    TransportConfig, TransportKind, Window,
};
use xoff_net::buffer::{BufferConfig, BufferKind};
use xoff_net::trim::TrimConfig;

use super::Reader;
use crate::sections::{HopKind, OverflowKind, RunConfig, SchedulerKind, SwitchConfig};

/// What of `[transport]` says how a sender decides by itself.
const OF_SENDERS: [&str; 13] = [
    "congestion",
    "allocator",
    "window",
    "window_size",
    "window_follows_rate",
    "pacing",
    "recovery",
    "nack_interval",
    "timeout_low",
    "timeout_low_packets",
    "flow_control",
    "ack_class",
    "round_robin",
];

impl Reader<'_> {
    /// The transport of NDP's hosts: of the section, only the keys that have an effect there.
    pub(super) fn ndp_transport(&mut self) -> TransportConfig {
        let why = "transport.kind = \"ndp\": receivers say what is sent";
        let config: TransportConfig = self.section_without(&OF_SENDERS, why);
        TransportConfig {
            congestion: Congestion::None,
            allocator: AllocatorKind::None,
            window: Window::Unlimited,
            window_follows_rate: false,
            pacing: true,
            flow_control: FlowControl::None,
            recovery: Recovery::GoBackN,
            ack_class: AckClass::Control,
            round_robin: RoundRobin::Ready,
            ..config
        }
    }

    /// NDP's hosts, if this is what the hosts are.
    pub(super) fn ndp(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
    ) -> Option<NdpConfig> {
        if transport.kind != TransportKind::Ndp {
            self.layers.unused("ndp", &format!("transport.kind = {}", transport.kind.show()));
            return None;
        }
        if switch.overflow != OverflowKind::Trim {
            let message = "NDP's receivers hear of losses by trimmed packets, so they need \
                           switch.overflow = \"trim\"";
            let named = self.layers.has("switch", "overflow").is_some();
            let (section, key) = if named { ("switch", "overflow") } else { ("transport", "kind") };
            self.problem(section, key, message.into());
        }
        if switch.ecn {
            self.problem("switch", "ecn", "NDP's senders heed no marks: set ecn = false".into());
        }
        if self.layers.section::<NicConfig>().receive_rate.0 > 0 {
            let message = "NDP's receivers pull at the rate of their link: leave receive_rate out";
            self.problem("nic", "receive_rate", message.into());
        }
        if !self.layers.section::<RunConfig>().capture.is_empty() {
            let message = "no frame format is known for packets of NDP: leave capture out";
            self.problem("run", "capture", message.into());
        }
        Some(self.section::<NdpConfig>())
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

/// Gives the settings that are one bandwidth-delay product unless said otherwise their values.
pub(super) fn settle(
    ndp: Option<&mut NdpConfig>,
    trim: Option<&mut TrimConfig>,
    bandwidth_delay_product: Bytes,
) {
    let sizes = [ndp.map(|ndp| &mut ndp.initial_window), trim.map(|trim| &mut trim.header_queue)];
    for size in sizes.into_iter().flatten().filter(|size| size.0 == 0) {
        *size = bandwidth_delay_product;
    }
}
