//! XCP: its senders and the switches that write to them belong together.

use xoff_host::transport::{Recovery, TransportConfig};
use xoff_net::xcp::XcpConfig;

use super::Reader;

impl Reader<'_> {
    /// XCP's settings, where `transport.congestion` is XCP.
    pub(super) fn xcp(&mut self, transport: &TransportConfig) -> XcpConfig {
        if transport.recovery != Recovery::Sack {
            let message = "congestion = \"xcp\" needs recovery = \"sack\": it answers losses as TCP \
                           does, and nothing else tells it of them";
            let named = self.layers.has("transport", "recovery").is_some();
            let key = if named { "recovery" } else { "congestion" };
            self.problem("transport", key, message.into());
        }
        let xcp = self.section::<XcpConfig>();
        if let Err((key, message)) = xcp.check() {
            self.problem("xcp", key, message);
        }
        xcp
    }
}
