//! Packets of a flow on several paths: what spreads them, and who cannot stand that.

use xoff_core::knobs::Knob;
use xoff_host::transport::{
    AllocatorKind, Congestion, FlowControl, Recovery, TcpConfig, TransportConfig, TransportKind,
};
use xoff_net::balance::{AlbConfig, SprayConfig};

use super::Reader;
use crate::sections::{ArchitectureKind, BalanceKind, HopKind, SwitchConfig};

/// Whether hosts take a packet that comes out of order as a sign that another one is lost.
fn heeds_order(transport: &TransportConfig, tcp: &TcpConfig) -> bool {
    match (transport.kind, transport.recovery) {
        (TransportKind::Sender, Recovery::GoBackN | Recovery::SelectiveRepeat) => true,
        (TransportKind::Sender, Recovery::Sack) => tcp.duplicate_acks > 0,
        // Receivers that say what is sent answer for each packet by itself.
        _ => false,
    }
}

impl Reader<'_> {
    pub(super) fn adaptive(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
        tcp: &TcpConfig,
    ) -> Option<AlbConfig> {
        if switch.balance != BalanceKind::Adaptive {
            self.layers.unused("alb", &format!("switch.balance = {}", switch.balance.show()));
            return None;
        }
        if heeds_order(transport, tcp) {
            let message = "balance = \"adaptive\" lets packets of a flow overtake each other, which these \
                           hosts take for losses: set transport.recovery = \"sack\" and \
                           tcp.duplicate_acks = 0";
            self.problem("switch", "balance", message.into());
        }
        let alb = self.section::<AlbConfig>();
        if alb.favoured.0 == 0 {
            let message = "favoured = 0B favours no port: it must be more than zero";
            self.problem("alb", "favoured", message.into());
        }
        if alb.second.0 > 0 && alb.second <= alb.favoured {
            let message = format!(
                "second = {} must be more than favoured = {}; 0B: there is one threshold",
                alb.second, alb.favoured
            );
            self.problem("alb", "second", message);
        }
        Some(alb)
    }

    /// Packet spraying, if switches do it.
    pub(super) fn spray(
        &mut self,
        switch: &SwitchConfig,
        transport: &TransportConfig,
        tcp: &TcpConfig,
    ) -> Option<SprayConfig> {
        if switch.balance != BalanceKind::Spray {
            self.layers.unused("spray", &format!("switch.balance = {}", switch.balance.show()));
            return None;
        }
        let refusals = [
            (
                switch.architecture != ArchitectureKind::OutputQueued,
                "needs architecture = \"output-queued\": others have balance = \"adaptive\"",
            ),
            (
                switch.hop == HopKind::Bfc,
                "cannot go with hop = \"bfc\": a flow's backpressure follows its packets upstream, so \
                 they need one path",
            ),
            (
                switch.hop == HopKind::Sfc,
                "cannot go with hop = \"sfc\": a pause of a flow is computed from one queue on its one \
                 path",
            ),
            (
                heeds_order(transport, tcp),
                "lets packets of a flow overtake each other, which these hosts take for losses: set \
                 transport.recovery = \"perfect\", or \"sack\" with tcp.duplicate_acks = 0",
            ),
            (
                transport.congestion == Congestion::Hpcc,
                "cannot go with HPCC, which compares what one hop wrote into successive packets: they \
                 need one path",
            ),
            (
                transport.flow_control != FlowControl::None
                    || transport.congestion == Congestion::DelayWindow,
                "cannot go with hosts that follow the delay of one path",
            ),
            (
                transport.allocator != AllocatorKind::None,
                "cannot go with an allocator of rates, which knows the one path of each flow",
            ),
        ];
        for (refused, reason) in refusals {
            if refused {
                self.problem("switch", "balance", format!("balance = \"spray\" {reason}"));
            }
        }
        Some(self.section::<SprayConfig>())
    }
}
