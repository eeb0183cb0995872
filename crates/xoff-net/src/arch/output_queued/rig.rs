//! For tests: a switch with ports 0 and 1, and its fabric. The other ends of their links are 2 and
//! 3.

use xoff_core::rng::Purpose;
use xoff_core::{Ps, Rng, Wheel};

use super::{Destination, Forwarding, InBand, Parts};
use crate::balance::Ecmp;
use crate::buffer::{Buffer, BufferConfig};
use crate::fabric::{Fabric, FabricTags, Instants, Peer, PortSpec, Rounding};
use crate::hop::{AnyHop, Uncontrolled};
use crate::mark::{Draws, MarkAt};
use crate::sched::{AnyScheduler, Egress};
use crate::topo::Route;

/// Host 0 is behind port 0, host 1 behind port 1.
pub(super) const DESTINATIONS: [Destination; 2] =
    [Destination { group: 0, access_port: 0 }, Destination { group: 0, access_port: 1 }];

/// Links of `rate` bits per second and 1 us.
pub(super) fn fabric(rate: u64) -> Fabric {
    let tags = FabricTags { arrival: 0, wake: 10, sent: 98, next_arrival: 99, checked: 97 };
    let (rounding, instants) = (Rounding::PicosecondUp, Instants::Phases);
    let mut fabric = Fabric::new(rounding, instants, 1, Wheel::new(), tags);
    for id in 0..4 {
        let (peer_id, delay) = ((id + 2) % 4, Ps::from_us(1));
        fabric.add_port(&PortSpec { id, peer_id, rate, delay, peer: Peer::Local(peer_id) });
    }
    fabric
}

/// A switch that only forwards, with this scheduler and buffer.
pub(super) fn parts(scheduler: impl Fn() -> AnyScheduler, buffer: &BufferConfig) -> Parts {
    let rng = |purpose| Rng::stream(1, purpose, 0);
    Parts {
        first_port: 0,
        egress: [0; 2].map(|_| Egress::new(scheduler())).into(),
        buffer: Buffer::new(buffer),
        hop: AnyHop::None(Uncontrolled),
        ecn: (Vec::new(), MarkAt::Dequeue),
        trim: None,
        keeps: false,
        credits: Vec::new(),
        in_band: InBand::None,
        control_acks: false,
        forwarding: Forwarding::new(vec![Route { first: 0, count: 0 }], Vec::new(), Ecmp::new(0)),
        balancer: None,
        marking: Draws::Own(rng(Purpose::Marking)),
        assignment: rng(Purpose::QueueAssignment),
        control_frame: 64,
        control_loss: None,
        first_timer: 0,
    }
}
