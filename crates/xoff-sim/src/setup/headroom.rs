//! What arrives at a switch after it has asked for a pause.

use xoff_core::{Bytes, NodeId, Ps};
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
            mtu: self.hosts.frame.payload.0 + u64::from(self.hosts.overhead()),
            frame: self.switch.hop.frame_bytes().into(),
            response: Ps(0),
            generation: Ps(0),
            outstanding: 0,
        };
        Bytes(reaction.headroom() + reaction.granularity())
    }

    /// Whether pauses keep a switch from dropping packets: all its neighbours obey them, all
    /// packets are of one class, and what still arrives fits into the headrooms.
    pub(crate) fn pauses_suffice(&self, node: NodeId) -> bool {
        let Setup { switch, hosts, .. } = self;
        let fits = |port: &Port| {
            let headroom = switch.hop.headroom(&port.into());
            headroom.is_some_and(|headroom| headroom >= self.after_pause(port))
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
}
