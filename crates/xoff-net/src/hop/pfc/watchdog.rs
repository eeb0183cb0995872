//! The watchdog of priority flow control, as switches have it (SONiC's `pfcwd`): a queue that holds
//! packets and has been paused for the detection time is stuck. It ignores pauses from then on, and
//! its packets are dropped or sent. When its neighbour has not paused it for the restoration time,
//! it obeys pauses again.
//!
//! With the action `drop`, packets of the same class that enter at the port are dropped, too, as by
//! the rules that SONiC's `PfcWdAclHandler` sets at the ingress and the egress of a port (its
//! `PfcWdZeroBufferHandler` has dropped at the egress only since 2022). So the port stops pausing
//! its neighbour as well. Packets that are already in other queues are sent.
//!
//! SONiC polls counters, and this watchdog has a timer for each port, so it detects a stuck queue
//! at once.

use xoff_core::Rng;

use super::{ClassPfc, PfcConfig, Watchdog};
use crate::hop::{HopControl, Signal};
use crate::packet::{CLASSES, Packet};
use crate::recount::{Checked, WaitingPacket};
use crate::sched::{QueueMask, Scheduler};

/// A queue that a watchdog has found stuck and released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuckQueue {
    /// The egress port.
    pub port: u16,
    /// Its class.
    pub class: u8,
    /// Begin of the pause (ps).
    pub paused_ps: u64,
    /// Time of its release (ps).
    pub released_ps: u64,
    /// Time from which it obeyed pauses again (ps), if it did.
    pub restored_ps: Option<u64>,
    /// Packets dropped.
    pub dropped: u64,
}

/// The pauses of one egress port.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// Classes that the neighbour asks to pause.
    asked: u8,
    /// Classes that ignore pauses.
    released: u8,
    /// The time at which a class is looked at (ps): a paused class may be stuck then, a released
    /// class that is not paused may be restored.
    due: [u64; CLASSES],
    /// The begin of the pause of each paused class (ps).
    since: [u64; CLASSES],
    /// The place of each released class in the list of stuck queues.
    place: [usize; CLASSES],
}

impl Port {
    /// Classes whose time counts.
    fn timed(&self) -> u8 {
        self.asked ^ self.released
    }
}

#[derive(Debug)]
struct Watch {
    drops: bool,
    detection_ps: u64,
    restoration_ps: u64,
    ports: Vec<Port>,
    /// All stuck queues so far.
    stuck: Vec<StuckQueue>,
}

/// Priority flow control with a watchdog.
#[derive(Debug)]
pub struct Watched {
    inner: ClassPfc,
    watch: Box<Watch>,
}

impl Watched {
    /// For a switch with this many ports.
    pub(crate) fn new(inner: ClassPfc, config: &PfcConfig, ports: usize) -> Self {
        let watch = Watch {
            drops: config.watchdog == Watchdog::Drop,
            detection_ps: config.watchdog_detection.0,
            restoration_ps: config.watchdog_restoration.0,
            ports: vec![Port::default(); ports],
            stuck: Vec::new(),
        };
        Self { inner, watch: Box::new(watch) }
    }

    /// The inner control.
    pub(crate) fn inner(&self) -> &ClassPfc {
        &self.inner
    }

    /// The stuck queues so far, in the order of their releases.
    #[must_use]
    pub fn stuck(&self) -> &[StuckQueue] {
        &self.watch.stuck
    }

    /// The queues that the neighbour of a port asks to pause.
    pub(crate) fn asked(&self, egress: u16) -> QueueMask {
        self.watch.ports[egress as usize].asked.into()
    }

    /// The queues that are paused.
    pub(crate) fn obeyed(&self, egress: u16) -> QueueMask {
        let port = &self.watch.ports[egress as usize];
        (port.asked & !port.released).into()
    }

    /// The next time at which a port is looked at (ps); the end of time if there is none.
    pub(crate) fn next_look(&self, egress: u16) -> u64 {
        let port = &self.watch.ports[egress as usize];
        let due = (0..CLASSES).filter(|&class| port.timed() >> class & 1 == 1);
        due.map(|class| port.due[class]).min().unwrap_or(u64::MAX)
    }

    /// The neighbour of a port asks for the pauses of exactly these queues, or of none after its
    /// link has gone down.
    pub(crate) fn on_asked(&mut self, now: u64, egress: u16, queues: QueueMask) {
        let Watch { ports, detection_ps, restoration_ps, .. } = &mut *self.watch;
        let port = &mut ports[egress as usize];
        let changed = port.asked ^ queues as u8;
        port.asked = queues as u8;
        for class in (0..CLASSES).filter(|&class| changed >> class & 1 == 1) {
            port.since[class] = now;
            let is_released = port.released >> class & 1 == 1;
            let time = if is_released { *restoration_ps } else { *detection_ps };
            port.due[class] = now.saturating_add(time);
        }
    }

    /// Looks at a port whose `occupied` queues hold packets. Returns the queues that are released
    /// now and lose their packets.
    pub(crate) fn look(&mut self, now: u64, egress: u16, occupied: QueueMask) -> QueueMask {
        let Watch { ports, detection_ps, stuck, drops, .. } = &mut *self.watch;
        let port = &mut ports[egress as usize];
        let due = (0..CLASSES).filter(|&class| port.timed() >> class & 1 == 1);
        let due: Vec<usize> = due.filter(|&class| port.due[class] <= now).collect();
        let mut released = 0;
        for class in due {
            let bit = 1 << class;
            if port.released & bit != 0 {
                port.released &= !bit;
                stuck[port.place[class]].restored_ps = Some(now);
            } else if occupied >> class & 1 == 1 {
                port.released |= bit;
                released |= QueueMask::from(bit);
                port.place[class] = stuck.len();
                stuck.push(StuckQueue {
                    port: egress,
                    class: class as u8,
                    paused_ps: port.since[class],
                    released_ps: now,
                    restored_ps: None,
                    dropped: 0,
                });
            } else {
                port.due[class] = now.saturating_add(*detection_ps);
            }
        }
        if *drops { released } else { 0 }
    }

    /// A packet that waits in a queue is dropped with its release.
    pub(crate) fn count_drop(&mut self, egress: u16, packet: &Packet) {
        let place = self.watch.ports[egress as usize].place[packet.class() as usize];
        self.watch.stuck[place].dropped += 1;
    }

    /// The place of the stuck queue for which an arriving packet is dropped, if it is: the packet
    /// joins this queue, or enters at its port with its class.
    fn dropped_for(&self, egress: u16, packet: &Packet) -> Option<usize> {
        if !self.watch.drops {
            return None;
        }
        let class = packet.class() as usize;
        let ports = [egress, packet.ingress].map(|port| &self.watch.ports[port as usize]);
        let stuck = ports.into_iter().find(|port| port.released >> class & 1 == 1);
        stuck.map(|port| port.place[class])
    }
}

// Rarely used: out of line, so that other controls' packet path stays short.
impl HopControl for Watched {
    fn is_apart<S: Scheduler>() -> bool {
        true
    }

    fn admits(&self, egress: u16, packet: &Packet) -> bool {
        self.dropped_for(egress, packet).is_none() && self.inner.admits(egress, packet)
    }

    /// Each arriving packet asks for its queue once.
    #[inline(never)]
    fn queue_of<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &Packet,
        queues: &S,
        rng: &mut Rng,
    ) -> u8 {
        if let Some(place) = self.dropped_for(egress, packet) {
            self.watch.stuck[place].dropped += 1;
        }
        self.inner.queue_of(now, egress, packet, queues, rng)
    }

    #[inline(never)]
    fn pass(&mut self, now: u64, egress: u16, packet: &Packet) -> bool {
        self.dropped_for(egress, packet).is_none() && self.inner.pass(now, egress, packet)
    }

    #[inline(never)]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        now: u64,
        egress: u16,
        packet: &mut Packet,
        queues: &S,
    ) -> Option<Signal> {
        self.inner.on_enqueue(now, egress, packet, queues)
    }

    #[inline(never)]
    fn on_dequeue(&mut self, now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        self.inner.on_dequeue(now, egress, packet)
    }

    fn on_refused(&mut self, egress: u16, packet: &Packet) {
        if self.dropped_for(egress, packet).is_none() {
            self.inner.on_refused(egress, packet);
        }
    }

    fn prefetch(&self, ingress: u16) {
        self.inner.prefetch(ingress);
    }

    fn on_link_down(&mut self, ingress: u16) {
        self.inner.on_link_down(ingress);
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        self.inner.holds_paused(ingress)
    }

    fn recount(&self, waiting: &[WaitingPacket<'_>], copies: &[&Packet]) -> Checked {
        self.inner.recount(waiting, copies)
    }
}

#[cfg(test)]
mod tests {
    use xoff_core::{Bytes, Ps};

    use super::super::MemoryPlan;
    use super::*;
    use crate::buffer::BufferConfig;
    use crate::hop::PfcPort;
    use crate::packet::Kind;

    const US: u64 = 1_000_000;

    fn watched(watchdog: Watchdog) -> Watched {
        let (watchdog_detection, watchdog_restoration) = (Ps::from_us(200), Ps::from_us(300));
        let config =
            PfcConfig { watchdog, watchdog_detection, watchdog_restoration, ..Default::default() };
        let port = PfcPort { rate: 100_000_000_000, delay_ps: 1_000_000 };
        let buffer = BufferConfig { size: Bytes(1_000_000), ..BufferConfig::default() };
        let plan = MemoryPlan { pfc: Some(&config), buffer: &buffer };
        let pfc = ClassPfc::by_class(plan, &[port; 2], port.rate).unwrap();
        Watched::new(pfc, &config, 2)
    }

    fn packet(class: u8) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.flags = class << crate::packet::flag::CLASS_SHIFT;
        packet
    }

    #[test]
    fn a_paused_queue_with_packets_is_released_after_the_detection_time() {
        let mut pfc = watched(Watchdog::Drop);
        pfc.on_asked(100 * US, 1, 0b101);
        assert_eq!((pfc.next_look(1), pfc.next_look(0)), (300 * US, u64::MAX));
        pfc.on_asked(150 * US, 1, 0b1101);
        assert_eq!(pfc.look(299 * US, 1, 0b1101), 0, "too early");
        // Class 2 holds no packets, and class 3 was paused later.
        assert_eq!(pfc.look(300 * US, 1, 0b1001), 0b1);
        assert_eq!((pfc.asked(1), pfc.obeyed(1)), (0b1101, 0b1100));
        assert_eq!(pfc.next_look(1), 350 * US);
        let admits = |class| pfc.admits(1, &packet(class));
        assert_eq!([0, 1, 2, 3].map(admits), [false, true, true, true]);
        assert!(pfc.admits(0, &packet(0)), "another port");
        let entering = |class| pfc.admits(0, &Packet { ingress: 1, ..packet(class) });
        assert_eq!([0, 1, 2, 3].map(entering), [false, true, true, true]);
        pfc.count_drop(1, &packet(0));
        let (paused_ps, released_ps) = (100 * US, 300 * US);
        let (port, class, restored_ps, dropped) = (1, 0, None, 1);
        let stuck = StuckQueue { port, class, paused_ps, released_ps, restored_ps, dropped };
        assert_eq!(pfc.stuck(), [stuck]);
        assert_eq!((pfc.look(350 * US, 1, 0b1000), pfc.obeyed(1)), (0b1000, 0b0100));
        assert_eq!(pfc.stuck()[1], StuckQueue { class: 3, paused_ps: 150 * US, ..pfc.stuck()[1] });
    }

    #[test]
    fn a_resume_in_time_ends_the_detection() {
        let mut pfc = watched(Watchdog::Drop);
        pfc.on_asked(0, 0, 1);
        pfc.on_asked(199 * US, 0, 0);
        assert_eq!(pfc.next_look(0), u64::MAX);
        pfc.on_asked(199 * US, 0, 1);
        assert_eq!((pfc.look(200 * US, 0, 1), pfc.next_look(0)), (0, 399 * US));
    }

    #[test]
    fn a_queue_obeys_again_after_the_restoration_time_without_pauses() {
        let mut pfc = watched(Watchdog::Forward);
        pfc.on_asked(0, 0, 1);
        assert_eq!(pfc.look(200 * US, 0, 1), 0, "its packets are sent");
        assert!(pfc.admits(0, &packet(0)));
        assert_eq!((pfc.obeyed(0), pfc.next_look(0)), (0, u64::MAX));
        pfc.on_asked(250 * US, 0, 0);
        // Another pause: the time begins again with its end.
        pfc.on_asked(400 * US, 0, 1);
        assert_eq!((pfc.look(550 * US, 0, 1), pfc.obeyed(0)), (0, 0));
        pfc.on_asked(600 * US, 0, 0);
        assert_eq!(pfc.next_look(0), 900 * US);
        assert_eq!(pfc.look(900 * US, 0, 1), 0);
        assert_eq!(pfc.stuck()[0].restored_ps, Some(900 * US));
        pfc.on_asked(950 * US, 0, 1);
        assert_eq!(pfc.obeyed(0), 1);
    }
}
