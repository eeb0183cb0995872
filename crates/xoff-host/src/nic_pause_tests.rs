//! Timed pauses, as requested by a switch's frames (IEEE 802.1Qbb).

use xoff_core::rng::Purpose;
use xoff_core::{HostId, Ps, Rng, TimerId, Wheel};
use xoff_net::fabric::{FabricTags, Instants, Peer, PortSpec, Rounding};
use xoff_net::hop::{Signal, timed_pause};

use super::*;

/// At this rate a quantum, 512 bit times, takes 20.48 ns.
const RATE: u64 = 25_000_000_000;
const QUANTUM_PS: u64 = 20_480;

/// A NIC behind a link, with only its pause timer.
struct Link {
    nic: Nic,
    fabric: Fabric,
}

impl Link {
    fn new() -> Self {
        let tags = FabricTags { arrival: 10, wake: 1, sent: 98, next_arrival: 99, checked: 97 };
        let mut wheel = Wheel::new();
        let pause: TimerId = wheel.add_timer(0, 2);
        let mut fabric = Fabric::new(Rounding::PicosecondUp, Instants::Phases, 1, wheel, tags);
        let delay = Ps::from_us(1);
        fabric.add_port(&PortSpec { id: 0, peer_id: 1, rate: RATE, delay, peer: Peer::Local(0) });
        let timers = NicTimers { pause, ..NicTimers::default() };
        let rng = Rng::stream(1, Purpose::Transport, 0);
        Self { nic: Nic::new(HostId(0), 0, NicQueues::Classes(8), rng, timers), fabric }
    }

    /// At `now` (ps) a frame requests a pause of these classes.
    fn frame(&mut self, now: u64, classes: u128, quanta: u16) {
        self.advance(now);
        let signal = Signal { queues: classes, ..Signal::pause_for(0, 0, quanta) };
        let (queues, pause_ps) = timed_pause(&signal.frame(64), self.fabric.rate(0)).unwrap();
        self.nic.pause_for(&mut self.fabric, queues, pause_ps);
    }

    /// Runs until `now`, inclusive. Returns each time (ps) at which the paused classes changed,
    /// with the new mask.
    fn advance(&mut self, now: u64) -> Vec<(u64, u128)> {
        let mut changes = Vec::new();
        while let Some(event) = self.fabric.wheel.pop_before(now + 1) {
            self.fabric.now = event.time;
            let before = self.nic.paused();
            let paused = self.nic.end_pauses(&mut self.fabric);
            self.nic.set_paused(event.time, paused);
            if paused != before {
                changes.push((event.time, paused));
            }
        }
        self.fabric.now = now;
        changes
    }
}

const LONG: u64 = 1_000_000_000;

#[test]
fn a_pause_ends_exactly_after_its_quanta() {
    for quanta in [1, 1000, u16::MAX] {
        let mut link = Link::new();
        link.frame(777, 1 << 3, quanta);
        assert_eq!(link.nic.paused(), 1 << 3);
        let end = 777 + u64::from(quanta) * QUANTUM_PS;
        assert!(link.advance(end - 1).is_empty(), "{quanta} quanta");
        assert_eq!(link.advance(LONG * 10), [(end, 0)], "{quanta} quanta");
        assert_eq!(link.nic.paused_time().total(LONG * 10), u64::from(quanta) * QUANTUM_PS);
    }
}

/// The latest frame counts, whether its pause is longer or shorter.
#[test]
fn another_pause_of_a_class_replaces_the_first() {
    let second_at = 10 * QUANTUM_PS;
    for quanta in [500, 20] {
        let mut link = Link::new();
        link.frame(0, 1 << 3, 100);
        link.frame(second_at, 1 << 3, quanta);
        let end = second_at + u64::from(quanta) * QUANTUM_PS;
        assert_eq!(link.advance(LONG), [(end, 0)], "{quanta} quanta");
    }
}

#[test]
fn zero_quanta_resume_a_class_at_once() {
    let mut link = Link::new();
    link.frame(0, 1 << 3, 100);
    link.frame(4321, 1 << 3, 0);
    assert_eq!(link.advance(LONG), [(4321, 0)]);
    // The first pause leaves no end that could cut the next one short.
    let mut link = Link::new();
    link.frame(0, 1 << 3, 100);
    link.frame(4321, 1 << 3, 0);
    link.frame(5000, 1 << 3, 1000);
    assert_eq!(link.nic.paused(), 1 << 3);
    assert_eq!(link.advance(LONG), [(5000 + 1000 * QUANTUM_PS, 0)]);
}

/// Each class has its own end, in any order of requests. A frame that resumes one class or pauses
/// it longer leaves the others unchanged.
#[test]
fn each_class_has_its_own_end() {
    let mut link = Link::new();
    link.frame(0, 1 << 3, 300);
    link.frame(1000, 1 << 5, 100);
    link.frame(2000, 1 << 0 | 1 << 6, 200);
    assert_eq!(link.nic.paused(), 0b110_1001);
    link.frame(3000, 1 << 6, 0);
    let ends = [
        (3000, 0b10_1001),
        (1000 + 100 * QUANTUM_PS, 0b1001),
        (2000 + 200 * QUANTUM_PS, 0b1000),
        (300 * QUANTUM_PS, 0),
    ];
    assert_eq!(link.advance(LONG), ends);
}

/// A pause has the end of its own frame, not of a later one.
#[test]
fn a_later_pause_without_end_outlasts_an_earlier_end() {
    let mut link = Link::new();
    link.frame(0, 0b11, 100);
    link.nic.forget_pause_ends(0b01);
    link.nic.set_paused(0, 0b11);
    assert_eq!(link.advance(LONG), [(100 * QUANTUM_PS, 0b01)]);
}

/// Acknowledgements of other classes overtake those of a paused class, which keep their order.
#[test]
fn acknowledgements_wait_only_for_a_pause_of_their_own_class() {
    let mut link = Link::new();
    for (number, class) in [5u8, 2, 5, 2, 0].into_iter().enumerate() {
        let mut ack = Packet::new(xoff_net::Kind::Ack, 64);
        (ack.flow, ack.flags) = (number as u32, class << xoff_net::packet::flag::CLASS_SHIFT);
        let id = link.fabric.packets.insert(ack);
        link.nic.acks.push(&mut link.fabric.packets, id);
    }
    let pop = |link: &mut Link| link.nic.pop_control(&mut link.fabric.packets, true);
    link.nic.set_paused(0, 1 << 5 | 1 << 2);
    assert_eq!([pop(&mut link), pop(&mut link)], [Some(4), None]);
    assert_eq!((link.nic.has_control(), link.nic.control_bytes()), (false, 4 * 64));
    link.nic.set_paused(0, 1 << 2);
    assert!(link.nic.has_control());
    assert_eq!([0; 3].map(|_| pop(&mut link)), [Some(0), Some(2), None]);
    link.nic.set_paused(0, 0);
    assert_eq!([0; 3].map(|_| pop(&mut link)), [Some(1), Some(3), None]);
}

/// The switch takes a pause for a time to be in force until its end, also when the link goes down
/// meanwhile. Other pauses end with the link, and frames that wait are lost.
#[test]
fn pauses_without_an_end_are_over_when_the_link_goes_down() {
    let mut link = Link::new();
    link.frame(0, 1 << 3, 100);
    let Link { nic, fabric } = &mut link;
    nic.set_paused(0, nic.paused() | 1 << 5);
    for ask in [Ask::Pause, Ask::PauseFor] {
        let frame = Signal::new(0, ask, 1).frame(64);
        nic.delay_frame(fabric, LONG, frame);
        let id = fabric.packets.insert(frame);
        nic.frames.push(&mut fabric.packets, id);
    }
    assert_eq!(nic.on_link_down(&mut fabric.packets), 1 << 3);
    assert!(nic.frames.is_empty());
    let ask = |frame: Option<Packet>| frame.map(|frame| frame.as_link_control().ask());
    assert_eq!(ask(nic.take_due_frame(LONG)), Some(Ask::PauseFor));
    assert_eq!(ask(nic.take_due_frame(LONG)), None);
}
