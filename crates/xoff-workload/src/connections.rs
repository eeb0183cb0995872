//! Flows listed in a connection matrix of htsim, with triggers.

pub(crate) mod fuzz;
mod matrix;
mod triggers;

use xoff_core::files::digest_of;
use xoff_core::knobs::Effect;
use xoff_core::{HostId, Ps};

pub use self::matrix::ConnectionMatrix;

use crate::{
    After, Arrival, CLASSES, Context, Crowd, ENDLESS, Frequency, Mix, Offer, Priority, Role,
    Source, TrafficSettings,
};

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Its bytes, or [`ENDLESS`].
    pub bytes: u64,
    /// Its start, 0 if it waits.
    pub start_ps: u64,
    /// The trigger that it waits for, and the number of activations by which it starts.
    pub waits: Option<(u32, u32)>,
    /// The trigger that it activates when all bytes are acknowledged; 0: none.
    pub sent: u32,
    /// The trigger that it activates when all bytes have arrived; 0: none.
    pub received: u32,
    /// Its line.
    pub line: usize,
}

xoff_core::knobs! {
    /// Flows in a connection matrix of htsim (`.cm`): `Nodes N`, `Connections N`, then a flow in
    /// each line, `src->dst start PICOSECONDS size BYTES`. A size of 0 is a flow without end.
    /// Instead of a start a flow may have a `trigger`, which others activate when they have ended
    /// (`send_done_trigger`) or have arrived (`recv_done_trigger`): a `oneshot` starts its flows at
    /// the first activation, a `multishot` one of them at each, a `barrier` all of them after
    /// `count` of them. Flows with a trigger are all measured, whenever they begin.
    pub struct ConnectionsConfig in "connections" {
        /// The path of the file.
        file: String = String::new(),
        /// The priority of the packets.
        priority: Priority = Priority::default() => [Effect::Needs(CLASSES)],
        /// The name of these flows in the results.
        class: String = "connections".to_owned(),
    }
}

impl TrafficSettings for ConnectionsConfig {
    fn class(&self) -> &str {
        &self.class
    }

    fn offer(&self, context: &Context<'_>) -> Result<Offer, String> {
        let text = context.files.text_of("file", &self.file)?;
        let matrix =
            ConnectionMatrix::parse(&self.file, &text).map_err(|error| error.to_string())?;
        if matrix.nodes != context.hosts() {
            return Err(format!(
                "file = {:?}: Nodes is {}, but the network has {} hosts: both must be the same",
                self.file,
                matrix.nodes,
                context.hosts()
            ));
        }
        let sizes = matrix.connections.iter().map(|connection| connection.bytes);
        let sizes: Vec<u64> = sizes.filter(|&bytes| bytes != ENDLESS).collect();
        let mut mix = Mix::default();
        mix.add_flows(Frequency::InAll(sizes.len() as f64), sizes);
        let triggers = matrix.has_triggers();
        let flows = self.arrivals(&matrix, context.source);
        let source = Listed(flows.into_iter());
        Ok(Offer {
            sizes: Some(mix),
            triggers,
            derived: digest_of(&text),
            ..Offer::new(source, Crowd::of(0.0))
        })
    }
}

impl ConnectionsConfig {
    /// The flows by their start. Those with a trigger come at the start of the run, and wait.
    fn arrivals(&self, matrix: &ConnectionMatrix, source: u16) -> Vec<Arrival> {
        let flow = |connection: &Connection| {
            let Connection { src, dst, bytes, .. } = *connection;
            let waits = connection
                .waits
                .map(|(trigger, activations)| After::Trigger { trigger, activations });
            let activates = connection.sent > 0 || connection.received > 0;
            Arrival {
                priority: self.priority.number(),
                after: waits,
                role: if activates {
                    Role::Activates { sent: connection.sent, received: connection.received }
                } else {
                    Role::Alone
                },
                ..Arrival::new(Ps(connection.start_ps), HostId(src), HostId(dst), bytes, source)
            }
        };
        let mut flows: Vec<Arrival> = matrix.connections.iter().map(flow).collect();
        flows.sort_by_key(|flow| flow.start);
        flows
    }
}

/// Flows in the order of their starts.
struct Listed(std::vec::IntoIter<Arrival>);

impl Source for Listed {
    fn next(&mut self) -> Option<Arrival> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests;
