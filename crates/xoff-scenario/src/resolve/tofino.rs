//! The hardware that BFC runs on.

use xoff_host::transport::FrameConfig;
use xoff_net::hop::{Assignment, Hardware, TofinoConfig};
use xoff_net::topo::Topology;
use xoff_sim::setup::HopSetup;

use super::Reader;

impl Reader<'_> {
    /// The limits of Tofino2, where BFC runs on it.
    pub(super) fn tofino(&mut self, hop: &HopSetup, frame: &FrameConfig) -> Option<TofinoConfig> {
        let HopSetup::Bfc(bfc) = hop else {
            self.layers.unused("tofino", "switch.hop is not \"bfc\"");
            return None;
        };
        if bfc.hardware == Hardware::Ideal {
            self.layers.unused("tofino", "bfc.hardware = \"ideal\"");
            return None;
        }
        let tofino: TofinoConfig = if bfc.assignment == Assignment::Dynamic {
            self.section()
        } else {
            self.section_without(&["bitmap_period"], "no flow looks for an empty queue")
        };
        if let Err((key, message)) = tofino.check(bfc, frame.payload.0 + frame.header.0) {
            self.problem("tofino", key, message);
        }
        Some(tofino)
    }

    /// Ports are dealt out to pipelines evenly.
    pub(super) fn check_pipelines(&mut self, tofino: &TofinoConfig, topology: &Topology) {
        let pipelines = usize::from(tofino.pipelines.max(1));
        let mut switches =
            (topology.hosts..topology.nodes()).map(|node| (node, topology.ports_of(node)));
        if let Some((node, ports)) = switches.find(|(_, ports)| ports.len() % pipelines != 0) {
            let message = format!(
                "pipelines = {pipelines} does not divide the {} ports of switch {node}: each pipeline has \
                 as many of them as any other",
                ports.len()
            );
            self.problem("tofino", "pipelines", message);
        }
    }
}
