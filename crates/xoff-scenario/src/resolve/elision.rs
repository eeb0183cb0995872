//! Hop-by-hop flow control left out so that pauses cannot go round in circles.

use std::sync::Arc;

use xoff_net::hop::{BackpressureKind, Hardware};
use xoff_net::topo::Backpressure;
use xoff_sim::Setup;
use xoff_sim::deadlock::{Elision, elided};
use xoff_sim::setup::HopSetup;

use super::Reader;
use crate::sections::{ElideKind, SwitchConfig};
use crate::size::Need;

impl Reader<'_> {
    /// Finds the pairs of ports for which it is left out, once the network and its faults are known.
    pub(super) fn elide(&mut self, switch: &SwitchConfig, setup: &mut Setup) {
        let elision = match switch.elide {
            ElideKind::None => return,
            ElideKind::Cycles => Elision::Cycles,
            ElideKind::Bounces => Elision::Bounces,
        };
        if let HopSetup::Bfc(bfc) = &setup.switch.hop
            && bfc.backpressure != BackpressureKind::Queues
        {
            let message = "elide leaves out pauses by counters: set bfc.backpressure = \"queues\"";
            self.problem("switch", "elide", message.into());
            return;
        }
        if let HopSetup::Bfc(bfc) = &setup.switch.hop
            && (bfc.sampling < 1.0 || bfc.hardware == Hardware::Tofino)
        {
            let message = "elide leaves out counters of every packet, changed at once: set bfc.hardware = \
                           \"ideal\" and bfc.sampling = 1";
            self.problem("switch", "elide", message.into());
            return;
        }
        if matches!(&setup.switch.hop, HopSetup::Bfc(bfc) if bfc.classes > 1) {
            let message = "elide leaves out counters of one class: set bfc.classes = 1";
            self.problem("switch", "elide", message.into());
            return;
        }
        let graph = Need {
            what: "the graph of its backpressure".into(),
            bytes: Backpressure::bytes(&setup.topology),
            place: self.layers.has("switch", "elide"),
            help: "set switch.elide = \"none\", or make the network smaller".into(),
        };
        if self.need(graph).is_none() {
            return;
        }
        let found = elided(setup, elision).map_err(|why| match elision {
            Elision::Cycles => why,
            Elision::Bounces => format!(
                "[switch] elide = \"bounces\" goes by layers, but {why}: set elide = \"cycles\""
            ),
        });
        match found {
            Ok(pairs) => {
                self.effective.derive("elided_pairs", pairs.len());
                setup.switch.elided = Some(Arc::new(pairs));
            }
            Err(message) => {
                let place = self.layers.has("switch", "elide");
                self.layers.problem(place, message, None);
            }
        }
    }
}
