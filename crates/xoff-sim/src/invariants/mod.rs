//! Checks of a simulation's invariants, between steps of the grid.
//!
//! An audit looks at the whole state: it finds the place of every packet ([`census`]), makes the
//! counts of switches again ([`switches`]), and asks hosts to check their flows. It compares both
//! ends of each link ([`pauses`]), and what left with what arrived ([`bytes`]). The packet path has
//! no instruction for it. Only senders check each packet ([`Hosts::check_sends`]), by a branch
//! that they have in any case.
//!
//! Audits are as frequent as their cost allows: their work grows with the state, and that of the
//! simulation with the packet-hops.
//!
//! [`Hosts::check_sends`]: xoff_host::Hosts::check_sends

mod bytes;
mod census;
mod pauses;
mod recent;
mod switches;

use xoff_core::invariant::Part;
use xoff_core::{NodeId, PortId, Ps};
use xoff_net::fabric::Heard;
use xoff_net::recount::Checked;
use xoff_net::{Kind, Packet};

use self::pauses::PausedSince;
pub(crate) use self::recent::of as recent_events;
use crate::partition::{Partition, Place};
use crate::setup::Setup;

/// Packet-hops between two audits: for each port, and for each flow and packet. They take some
/// eighty times as long as the audit: most of the cost of checks is that of each packet.
const HOPS_PER_PORT: u64 = 200;
const HOPS_PER_FLOW: u64 = 30;
/// The first audits are more frequent, by this factor, so that a small scenario has some, too.
const EARLY_AUDITS: u32 = 20;
const EARLY: u64 = 5;

/// The state of a simulation between two steps.
#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) now: Ps,
    pub(crate) partitions: &'a [Partition],
    /// The place of each port of the topology.
    pub(crate) place: &'a [Place],
    /// Whether all flows so far are of one traffic class.
    pub(crate) one_class: bool,
}

impl State<'_> {
    fn partition_of(&self, port: PortId) -> (&Partition, u32) {
        let Place { partition, port } = self.place[port.index()];
        (&self.partitions[partition as usize], port)
    }

    /// Whether nothing can take a packet, a frame or a pause from a link.
    fn has_sound_links(&self) -> bool {
        self.setup.faults.is_empty() && self.setup.receive_errors.is_empty()
    }

    /// A port, in reports.
    fn port_label(&self, port: PortId) -> String {
        let topology = &self.setup.topology;
        let Some(&port) = topology.ports().get(port.index()) else { return String::new() };
        let peer = topology.name(topology.neighbour(&port));
        format!("{}, port {} to {peer}", self.node_label(port.node), port.number)
    }

    /// A node, in reports.
    fn node_label(&self, node: NodeId) -> String {
        let topology = &self.setup.topology;
        let kind = if topology.is_host(node) { "host" } else { "switch" };
        format!("{kind} {}", topology.name(node))
    }

    /// A port, as a part of the network.
    fn port_part(&self, port: PortId) -> Part {
        let port = self.setup.topology.ports().get(port.index());
        port.map_or(Part::default(), |port| Part::port(port.number).of(Part::node(port.node)))
    }

    /// A packet, in reports.
    fn packet_label(&self, packet: &Packet) -> String {
        if packet.kind == Kind::LinkControl {
            return recent::describe_frame(packet);
        }
        let host = |number: u32| self.setup.topology.name(NodeId(number));
        format!(
            "{:?} packet of flow {} from host {} to host {}, byte {}, {} bytes, queue {}",
            packet.kind,
            packet.flow,
            host(packet.src),
            host(packet.dst),
            packet.seq,
            packet.wire_bytes,
            packet.queue,
        )
    }

    /// How many packet-hops an audit takes as long as. It does not depend on the partitions.
    fn work(&self) -> u64 {
        let stats = self.partitions.iter().map(|part| &part.hosts().stats);
        let flows: u64 = stats.map(|stats| stats.started - stats.finished).sum();
        let packets = self.partitions.iter().map(|part| part.fabric().packets.len() as u64);
        let small = flows + packets.sum::<u64>();
        self.place.len() as u64 * HOPS_PER_PORT + small * HOPS_PER_FLOW
    }
}

/// The checks of one simulation.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    /// Audits so far, and packet-hops until the last one.
    audits: u32,
    audited_hops: u64,
    /// Since when queues are paused; `None` if the frames are recorded for other uses.
    paused: Option<PausedSince>,
}

impl Invariants {
    /// Turns checks on.
    pub(crate) fn new(partitions: &mut [Partition]) -> Self {
        for partition in partitions {
            partition.hosts_mut().check_sends();
            partition.fabric_mut().heard = Some(Vec::new());
        }
        Self { paused: Some(PausedSince::default()), ..Self::default() }
    }

    /// The frames that pause queues are recorded for other uses.
    pub(crate) fn leave_frames(&mut self) {
        self.paused = None;
    }

    /// Takes the frames that have arrived, if it uses them.
    pub(crate) fn hear(&mut self, partitions: &mut [Partition]) {
        let Some(paused) = &mut self.paused else { return };
        for partition in partitions {
            let heard: &mut Vec<Heard> = partition.fabric_mut().heard.get_or_insert_default();
            heard.drain(..).for_each(|frame| paused.hear(&frame));
        }
    }

    /// Checks the state if it is time for it, or at the end in any case.
    ///
    /// # Errors
    /// The first violation.
    pub(crate) fn check(&mut self, state: &State<'_>, is_over: bool) -> Checked {
        let hops: u64 = state.partitions.iter().map(Partition::packet_hops).sum();
        let is_broken = state.partitions.iter().any(|part| part.hosts().is_broken());
        let work = if self.audits < EARLY_AUDITS { state.work() / EARLY } else { state.work() };
        if !is_over && !is_broken && hops - self.audited_hops < work {
            return Ok(());
        }
        self.audits = self.audits.saturating_add(1);
        self.audited_hops = hops;
        self.audit(state).map_err(|violation| {
            let at = if violation.time_ps == 0 { state.now.0 } else { violation.time_ps };
            let mut violation = violation.at(at);
            violation.recent = recent_events(state, violation.part, at);
            Box::new(violation)
        })
    }

    fn audit(&self, state: &State<'_>) -> Checked {
        let mut on_the_way = 0;
        let mut links = pauses::Links::new(state.place.len());
        for partition in state.partitions {
            let mut census = census::Census::of(state, partition, &mut links)?;
            for index in 0..partition.switches().len() {
                switches::audit(state, partition, index, &mut census, &mut links)?;
            }
            on_the_way += census.finish(state, partition)?;
            partition.hosts().audit(partition.fabric())?;
            switches::audit_nics(state, partition)?;
        }
        links.audit(state, self.paused.as_ref())?;
        bytes::audit(state, on_the_way)
    }
}
