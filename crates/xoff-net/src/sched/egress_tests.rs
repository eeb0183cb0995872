//! Tests of ports: what their pauses hold, and what is left when their links are gone.

use xoff_core::{Ps, Wheel};

use super::ets::tests::ets;
use super::*;
use crate::fabric::{FabricTags, Instants, Peer, PortSpec, Rounding};
use crate::hop::Signal;
use crate::packet::Kind;

/// A port is paused from the first pause of a flow to the last resume.
#[test]
fn pauses_of_flows_that_overlap_are_one() {
    let mut port = Egress::new(AnyScheduler::DrrFlows(DrrFlows::new(4, 1000)));
    let of = |flow| Packet { flow, sender: 0, ..Packet::new(Kind::Data, 1000) };
    for (now, signal) in [
        (10, Signal::pause_flow(&of(5))),
        (20, Signal::pause_flow(&of(6))),
        (30, Signal::resume_flow(&of(5))),
        (40, Signal::resume_flow(&of(6))),
    ] {
        port.obey(now, &signal.frame(64));
    }
    assert_eq!((port.paused_time().total(100), port.paused_time().pauses()), (30, 1));
}

/// A port that has lost its link for good keeps neither packets nor pauses.
#[test]
fn a_lost_port_holds_nothing() {
    let tags = FabricTags { arrival: 0, wake: 10, sent: 98, next_arrival: 99, checked: 97 };
    let (rounding, instants) = (Rounding::PicosecondUp, Instants::Phases);
    let mut fabric = Fabric::new(rounding, instants, 1, Wheel::new(), tags);
    let peer = Peer::Local(1);
    let rate = 100_000_000_000;
    fabric.add_port(&PortSpec { id: 0, peer_id: 1, rate, delay: Ps::from_us(1), peer });
    let mut port = Egress::new(AnyScheduler::Fifo(Fifo::default()));
    for _ in 0..3 {
        let id = fabric.packets.insert(Packet::new(Kind::Data, 1000));
        each_scheduler!(&mut port.scheduler, queues => queues.push(&mut fabric.packets, id));
        port.common.data_bytes += 1000;
    }
    let control = fabric.packets.insert(Packet::new(Kind::Ack, 60));
    port.push_control(&mut fabric.packets, control);
    port.set_paused(0, 1);
    assert!(port.is_ready() && port.held_bytes() == 3000);
    port.lose_all(&mut fabric, 0);
    assert!(!port.is_ready() && fabric.packets.is_empty());
    assert_eq!((port.paused(), port.data_bytes(), port.total_bytes()), (0, 0, 0));
}

/// A search for the packets held by pauses finds them, with every scheduler.
#[test]
fn what_waits_in_paused_queues_is_held() {
    for scheduler in [
        AnyScheduler::Drr(Drr::new(4, 1000)),
        AnyScheduler::DrrFlows(DrrFlows::new(4, 1000)),
        AnyScheduler::TrafficManager(TrafficManager::new(4, 1000, 176, 0)),
        AnyScheduler::Srf(Srf::new(4)),
        AnyScheduler::Fifo(Fifo::default()),
        AnyScheduler::Priorities(Priorities::new(4)),
        AnyScheduler::Ets(ets("2,0", "1,3,1,1,2,1,1,1")),
    ] {
        let (mut pool, mut port) = (Pool::default(), Egress::new(scheduler));
        for (queue, flow) in [(1, 5), (2, 6), (1, 7)] {
            let mut packet = Packet::new(Kind::Data, 1000);
            (packet.queue, packet.flow) = (queue, flow);
            let id = pool.insert(packet);
            each_scheduler!(&mut port.scheduler, queues => queues.push(&mut pool, id));
        }
        port.set_paused(0, 1 << 1);
        let held = port.held(&pool).into_iter().map(|packet| packet.flow);
        assert_eq!(held.collect::<Vec<_>>(), [5, 7], "{:?}", port.scheduler);
        assert_eq!(port.held_bytes(), 2000, "{:?}", port.scheduler);
        port.set_paused(10, 0);
        assert!(port.held(&pool).is_empty() && port.held_bytes() == 0 && port.paused() == 0);
    }
}
