//! What arrives at a switch after it has asked for a pause.

use xoff_core::seam::Seam as _;
use xoff_core::{Bytes, NodeId, Ps};
use xoff_net::buffer::Profile;
use xoff_net::hop::Reaction;
use xoff_net::sched::SchedulerConfig;
use xoff_net::topo::Port;

use super::Setup;

impl Setup {
    /// The most bytes that arrive over a port's link after a class has reached its threshold: those
    /// on the wire in both directions, and packets that have just begun (DeTail §6.1).
    #[must_use]
    pub fn after_pause(&self, port: &Port) -> Bytes {
        let reaction = Reaction {
            rate: port.rate.0,
            delay: port.delay,
            mtu: self.hosts.longest_packet(),
            frame: self.switch.hop.frame_bytes().into(),
            response: Ps(0),
            generation: Ps(0),
            outstanding: 0,
        };
        Bytes(reaction.headroom() + reaction.granularity())
    }

    /// Whether pauses keep a switch from dropping packets of one class: all its neighbours obey
    /// them, and what still arrives fits into the headrooms.
    pub(crate) fn pauses_suffice(&self, node: NodeId) -> bool {
        let Setup { switch, hosts, .. } = self;
        // A frame that resumes may wait ahead of a frame that pauses, and times are rounded.
        let spare = hosts.longest_packet() + u64::from(switch.hop.frame_bytes());
        let fits = |port: &Port| {
            let headroom = switch.hop.headroom(&port.into());
            headroom.is_some_and(|headroom| headroom.0 >= self.after_pause(port).0 + spare)
        };
        let reliable = self.faults.is_empty()
            && self.receive_errors.is_empty()
            && switch.control_loss == 0.0
            && switch.elided.is_none();
        reliable
            && hosts.obey_pauses
            && hosts.acks_obey_pauses
            && matches!(switch.scheduler, SchedulerConfig::Fifo(_))
            && switch.buffer.by_class.is_empty()
            && self.topology.ports_of(node).iter().all(fits)
    }

    /// One text for each headroom of a lossless class that is too small, with the link that needs
    /// most.
    #[must_use]
    pub fn short_headrooms(&self) -> Vec<String> {
        let ports = || self.topology.switch_ids().flat_map(|node| self.topology.ports_of(node));
        let text = |of: &str, headroom: Bytes, port: &Port| {
            format!(
                "{of} a headroom of {headroom}, but up to {} arrive after a pause over a link of \
                 {} with a delay of {}: packets of a lossless class may be dropped",
                self.after_pause(port),
                port.rate,
                port.delay
            )
        };
        let (hop, by_class) = (&self.switch.hop, &self.switch.buffer.by_class);
        let mut found = Vec::new();
        // What classes without a share of their own have differs from link to link.
        let own = |port: &Port| hop.headroom(&port.into());
        let lacks = |port: &&Port| own(port).is_some_and(|bytes| bytes < self.after_pause(port));
        let all_have_own = by_class.every(|own| own.lossy || own.headroom.is_some());
        let short = ports().filter(lacks).filter(|_| !all_have_own);
        if let Some(port) = short.max_by_key(|port| self.after_pause(port)) {
            let of = format!("{}.headroom_factor gives", hop.own_section());
            found.extend(own(port).map(|headroom| text(&of, headroom, port)));
        }
        let Some(port) = ports().max_by_key(|port| self.after_pause(port)) else { return found };
        found.extend(by_class.iter().filter_map(|(class, own): (u8, Profile)| {
            let headroom = own.headroom.filter(|headroom| *headroom < self.after_pause(port))?;
            Some(text(&format!("class {class} of buffer.by_class has"), headroom, port))
        }));
        found
    }

    /// The headrooms that explain drops of switches. Where classes have shares of their own, a
    /// lossy one may have lost the packets.
    #[must_use]
    pub fn why_dropped(&self) -> Vec<String> {
        if self.switch.buffer.by_class.is_empty() { self.short_headrooms() } else { Vec::new() }
    }
}
