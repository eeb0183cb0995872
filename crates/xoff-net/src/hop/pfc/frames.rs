//! Pauses for a time: switches with ingress queues request them, and their neighbours obey them
//! (DeTail §6.1).

use std::collections::VecDeque;

use xoff_core::TimerId;

use super::PauseConfig;
use super::obeyed::{Obeyed, Request};
use crate::fabric::Fabric;
use crate::hop::{Ask, FrameSender, QUANTUM_BITS, Signal, timed_pause};
use crate::sched::Egress;
use crate::switch_stats::SwitchStats;

const NEVER: u64 = u64::MAX;

/// The parts of a switch that frames use and count in.
pub(crate) struct Way<'a> {
    pub(crate) fabric: &'a mut Fabric,
    pub(crate) egress: &'a mut [Egress],
    pub(crate) stats: &'a mut SwitchStats,
}

/// The parameters of [`Frames`].
pub(crate) struct FramesSpec<'a> {
    pub(crate) pause: &'a PauseConfig,
    /// The sender of frames.
    pub(crate) link: FrameSender,
    /// Timer of port 0. The timers of the other ports follow, then the timer of delayed frames.
    pub(crate) first_timer: TimerId,
    /// Classes that egress ports distinguish, one bit each.
    pub(crate) classes: u8,
    /// Bytes of the longest packet.
    pub(crate) mtu: u16,
}

/// Frames that are not sent or not obeyed yet, and the times when pauses end or need renewal.
#[derive(Debug)]
pub(crate) struct Frames {
    link: FrameSender,
    first_timer: TimerId,
    classes: u8,
    generation_ps: u64,
    /// Frames that are not at the head of their queue yet, with the time when they will be.
    made: VecDeque<(u64, Signal)>,
    /// Interval between renewals of a pause, and the time of the next renewal, by port.
    renewal_ps: Vec<u64>,
    renewals: Vec<u64>,
    obeyed: Obeyed,
    resumes: u64,
}

impl Frames {
    /// For ports of these rates (bit/s). A pause ends after 65 535 quanta, and is renewed after
    /// half of that.
    pub(crate) fn new(spec: FramesSpec<'_>, rates: impl Iterator<Item = u64>) -> Self {
        let bits = u128::from(u16::MAX) * u128::from(QUANTUM_BITS);
        let renewal = |rate| (bits * 1_000_000_000_000 / u128::from(rate)) as u64 / 2;
        let renewal_ps: Vec<u64> = rates.map(renewal).collect();
        let pause = spec.pause;
        let outstanding = u32::try_from(pause.outstanding.0).unwrap_or(u32::MAX);
        let ports = renewal_ps.len();
        Self {
            link: spec.link,
            first_timer: spec.first_timer,
            classes: spec.classes,
            generation_ps: pause.generation_delay.0,
            made: VecDeque::new(),
            renewals: vec![NEVER; ports],
            renewal_ps,
            obeyed: Obeyed::new(pause.response.0, outstanding, spec.mtu, ports),
            resumes: 0,
        }
    }

    /// Resume frames sent.
    pub(crate) fn resumes(&self) -> u64 {
        self.resumes
    }

    /// Asks a neighbour to pause queues "with the max duration", or to resume them "with the
    /// duration set to 0" (DeTail §6.1). `held` marks the queues that are paused afterwards.
    #[cold]
    pub(crate) fn ask(&mut self, way: &mut Way<'_>, signal: Signal, held: u8) {
        let at = signal.port as usize;
        let pauses = signal.ask == Ask::Pause;
        self.say(way, signal, if pauses { u16::MAX } else { 0 });
        if held == 0 {
            self.renewals[at] = NEVER;
        } else if pauses && self.renewals[at] == NEVER {
            self.renewals[at] = way.fabric.now + self.renewal_ps[at];
            self.await_port(way.fabric, signal.port);
        }
    }

    fn say(&mut self, way: &mut Way<'_>, signal: Signal, quanta: u16) {
        let signal = Signal { ask: Ask::PauseFor, quanta, ..signal };
        if self.generation_ps == 0 {
            self.send(way, signal);
        } else {
            self.made.push_back((way.fabric.now + self.generation_ps, signal));
            self.await_frames(way.fabric);
        }
    }

    fn send(&mut self, way: &mut Way<'_>, signal: Signal) {
        if self.link.loses() {
            way.stats.control_lost += 1;
            return;
        }
        way.stats.pauses += u64::from(signal.quanta > 0);
        self.resumes += u64::from(signal.quanta == 0);
        self.link.send(way.fabric, way.egress, signal);
    }

    /// A frame of the neighbour has arrived.
    #[cold]
    pub(crate) fn on_frame(&mut self, fabric: &mut Fabric, port: u16, id: u32) {
        let rate = fabric.rate(self.link.port(port));
        let asked = timed_pause(&fabric.packets[id], rate);
        fabric.packets.remove(id);
        let (queues, pause_ps) = asked.expect("neighbours pause for a time");
        let classes = queues as u8 & self.classes;
        self.obeyed.hear(fabric.now, Request { port, classes, pause_ps });
        self.await_frames(fabric);
    }

    /// Sends or obeys the frames with a delay that ends now.
    pub(crate) fn on_frame_timer(&mut self, way: &mut Way<'_>) {
        while let Some(request) = self.obeyed.take(way.fabric.now) {
            // An idle port's hardware holds at most the packet on the wire.
            let idle = !way.egress[request.port as usize].is_ready();
            let paused = self.obeyed.obey(way.fabric.now, request, idle);
            self.set_paused(way, request.port, paused);
            self.await_port(way.fabric, request.port);
        }
        while let Some(&(due, signal)) = self.made.front()
            && due <= way.fabric.now
        {
            self.made.pop_front();
            self.send(way, signal);
        }
        self.await_frames(way.fabric);
    }

    /// Pauses of a port end, or pauses of its neighbour's queues `held` need renewal.
    pub(crate) fn on_port_timer(&mut self, way: &mut Way<'_>, port: u16, held: u8) {
        let paused = self.obeyed.expire(way.fabric.now, port);
        self.set_paused(way, port, paused);
        let at = port as usize;
        if self.renewals[at] <= way.fabric.now {
            self.renewals[at] = way.fabric.now + self.renewal_ps[at];
            self.say(way, Signal::new(port, Ask::Pause, u128::from(held)), u16::MAX);
        }
        self.await_port(way.fabric, port);
    }

    /// A port sends a packet of `bytes`. `idle`: no packet follows.
    #[inline]
    pub(crate) fn on_sent(&mut self, way: &mut Way<'_>, port: u16, bytes: u16, idle: bool) {
        if let Some(paused) = self.obeyed.on_sent(port, bytes, idle) {
            self.set_paused(way, port, paused);
        }
    }

    /// From now on exactly these classes of a port are paused.
    fn set_paused(&self, way: &mut Way<'_>, port: u16, classes: u8) {
        way.egress[port as usize].set_paused(way.fabric.now, u128::from(classes));
        self.link.wake(way.fabric, way.egress, port);
    }

    fn await_frames(&self, fabric: &mut Fabric) {
        let made = self.made.front().map_or(NEVER, |&(due, _)| due);
        let due = made.min(self.obeyed.next().unwrap_or(NEVER));
        fabric.wheel.arm(self.first_timer + self.renewals.len() as u32, due);
    }

    fn await_port(&self, fabric: &mut Fabric, port: u16) {
        let due = self.obeyed.next_end(port).min(self.renewals[port as usize]);
        fabric.wheel.arm(self.first_timer + u32::from(port), due);
    }
}
