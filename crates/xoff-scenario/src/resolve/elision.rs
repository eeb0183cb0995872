//! Pairs of ports without hop-by-hop flow control, so that pauses cannot form a cycle.

use std::sync::Arc;

use xoff_net::topo::Backpressure;
use xoff_sim::Setup;
use xoff_sim::deadlock::{Elision, elided};

use super::Resolver;
use crate::sections::ElideKind;
use crate::size::Need;

impl Resolver<'_> {
    /// Finds these pairs, once the network and its faults are known.
    pub(super) fn elide(&mut self, elide: ElideKind, setup: &mut Setup) {
        let elision = match elide {
            ElideKind::None => return,
            ElideKind::Cycles => Elision::Cycles,
            ElideKind::Bounces => Elision::Bounces,
        };
        if self.reader.is_dead("switch", "elide") {
            return;
        }
        if let Err(message) = setup.switch.hop.can_elide() {
            self.reader.problem("switch", "elide", message);
            return;
        }
        let graph = Need {
            what: "the graph of its backpressure".into(),
            bytes: Backpressure::bytes(&setup.topology),
            place: self.reader.layers.has("switch", "elide"),
            help: "set switch.elide = \"none\", or make the network smaller".into(),
        };
        if self.need(graph).is_none() {
            return;
        }
        let found = elided(setup, elision).map_err(|why| match elision {
            Elision::Cycles => why,
            Elision::Bounces => format!(
                "[switch] elide = \"bounces\" needs layers, but {why}: set elide = \"cycles\""
            ),
        });
        match found {
            Ok(pairs) => {
                self.reader.effective.derive("elided_pairs", pairs.len());
                setup.switch.elided = Some(Arc::new(pairs));
            }
            Err(message) => {
                let place = self.reader.layers.has("switch", "elide");
                self.reader.layers.problem(place, message, None);
            }
        }
    }
}
