//! Transports in which the receiver says what is sent: which one it is, and what none of them goes with.

use xoff_core::knobs::Knob;
use xoff_host::driven::DrivenConfig;
use xoff_host::driven::homa::Levels;
use xoff_host::intake::NicConfig;
use xoff_host::transport::{
    AckClass, AllocatorKind, Congestion, FlowControl, FrameConfig, Recovery, RoundRobin,
    TransportConfig, TransportKind, Window,
};
use xoff_net::buffer::BufferConfig;

use xoff_net::credit::CreditShape;

use super::Reader;
use crate::sections::{RunConfig, SwitchConfig};

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
    /// The transport of hosts under such a transport: of the section, only the keys that have an effect
    /// there.
    pub(super) fn driven_transport(&mut self, kind: TransportKind) -> TransportConfig {
        let why = format!("transport.kind = {}: receivers say what is sent", kind.show());
        let config: TransportConfig = self.section_without(&OF_SENDERS, &why);
        TransportConfig {
            congestion: Congestion::None,
            allocator: AllocatorKind::None,
            window: Window::Unlimited,
            window_follows_rate: false,
            pacing: true,
            flow_control: FlowControl::None,
            recovery: Recovery::GoBackN,
            ack_class: AckClass::Control,
            round_robin: match kind {
                // "The sender transmits the message with the fewest remaining bytes" (Homa §3.2).
                TransportKind::Homa => RoundRobin::Shortest,
                _ => RoundRobin::Ready,
            },
            ..config
        }
    }

    /// The receiver-driven transport, if hosts run one.
    pub(super) fn driven(
        &mut self,
        transport: &TransportConfig,
        switch: &SwitchConfig,
        buffer: &BufferConfig,
    ) -> Option<DrivenConfig> {
        for (kind, section) in [
            (TransportKind::Ndp, "ndp"),
            (TransportKind::Homa, "homa"),
            (TransportKind::ExpressPass, "expresspass"),
        ] {
            if kind != transport.kind {
                let why = format!("transport.kind = {}", transport.kind.show());
                self.layers.unused(section, &why);
            }
        }
        let driven = match transport.kind {
            TransportKind::Sender => return None,
            TransportKind::Ndp => DrivenConfig::Ndp(self.ndp(switch)),
            TransportKind::Homa => {
                DrivenConfig::Homa(self.homa(transport, switch, buffer), Levels::default())
            }
            TransportKind::ExpressPass => {
                DrivenConfig::ExpressPass(self.expresspass(transport, switch))
            }
        };
        self.check_beside_driven(driven.name());
        Some(driven)
    }

    /// How ports shape the credits of receivers, if these send any.
    pub(super) fn credits(
        &mut self,
        driven: Option<&DrivenConfig>,
        frame: &FrameConfig,
    ) -> Option<CreditShape> {
        let shape = driven?.credits(frame.payload.0 + frame.header.0)?;
        let share = shape.credit_bytes as f64 / shape.bytes_per_credit() as f64;
        self.effective.derive("credit_share", share);
        Some(shape)
    }

    fn check_beside_driven(&mut self, name: &str) {
        if self.layers.section::<NicConfig>().receive_rate.0 > 0 {
            let message = format!(
                "{name}'s receivers ask for data at the rate of their link: leave receive_rate out"
            );
            self.problem("nic", "receive_rate", message);
        }
        if !self.layers.section::<RunConfig>().capture.is_empty() {
            let message =
                format!("no frame format is known for packets of {name}: leave capture out");
            self.problem("run", "capture", message);
        }
    }
}
