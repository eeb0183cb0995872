//! Frames between a switch and its neighbours: pauses asked for and obeyed.

use std::collections::VecDeque;

use xoff_core::{Rng, TimerId};

use super::Crossbar;
use super::obeyed::Request;
use crate::fabric::Fabric;
use crate::hop::{QUANTUM_BITS, Signal, timed_pause};

const NEVER: u64 = u64::MAX;

/// Frames that are being made, and when pauses have to be asked for again.
#[derive(Debug)]
pub(super) struct Signals {
    frame_bytes: u16,
    loss: Option<(f64, Rng)>,
    generation_ps: u64,
    /// Timer of port 0; the others follow, and then the one of frames that take their time.
    first_timer: TimerId,
    /// Frames that are not at the head of their queue yet, and when they will be.
    made: VecDeque<(u64, Signal)>,
    /// By port, after how long a pause is asked for again, and when the next time is.
    renewal_ps: Vec<u64>,
    renewals: Vec<u64>,
}

impl Signals {
    /// For ports of these rates (bit/s). A pause ends after 65 535 quanta: half of that is time enough to
    /// ask for it again.
    pub(super) fn new(
        frame_bytes: u16,
        loss: Option<(f64, Rng)>,
        generation_ps: u64,
        first_timer: TimerId,
        rates: impl Iterator<Item = u64>,
    ) -> Self {
        let bits = u128::from(u16::MAX) * u128::from(QUANTUM_BITS);
        let renewal = |rate| (bits * 1_000_000_000_000 / u128::from(rate)) as u64 / 2;
        let renewal_ps: Vec<u64> = rates.map(renewal).collect();
        let renewals = vec![NEVER; renewal_ps.len()];
        let made = VecDeque::new();
        Self { frame_bytes, loss, generation_ps, first_timer, made, renewal_ps, renewals }
    }

    /// Whether the next frame is lost on purpose.
    fn loses(&mut self) -> bool {
        self.loss.as_mut().is_some_and(|(share, rng)| rng.unit() < *share)
    }
}

impl Crossbar {
    /// Asks the neighbour of a port to pause classes "with the max duration" (DeTail §6.1).
    #[cold]
    pub(super) fn pause(&mut self, fabric: &mut Fabric, port: u16, classes: u8) {
        self.say(fabric, port, classes, u16::MAX);
        let at = port as usize;
        if self.signals.renewals[at] == NEVER {
            self.signals.renewals[at] = fabric.now + self.signals.renewal_ps[at];
            self.await_port(fabric, port);
        }
    }

    /// Asks it to resume classes, by a pause of duration 0.
    #[cold]
    pub(super) fn resume(&mut self, fabric: &mut Fabric, port: u16, classes: u8) {
        self.say(fabric, port, classes, 0);
        if self.pauses.paused(port) == 0 {
            self.signals.renewals[port as usize] = NEVER;
        }
    }

    fn say(&mut self, fabric: &mut Fabric, port: u16, classes: u8, quanta: u16) {
        let signal = self.pauses.signal(port, classes, quanta);
        if self.signals.generation_ps == 0 {
            self.send(fabric, signal);
        } else {
            self.signals.made.push_back((fabric.now + self.signals.generation_ps, signal));
            self.await_frames(fabric);
        }
    }

    /// "It is enqueued for transmission at the head of the queue" (DeTail §6.1).
    fn send(&mut self, fabric: &mut Fabric, signal: Signal) {
        if self.signals.loses() {
            self.stats.control_lost += 1;
            return;
        }
        self.stats.pauses += u64::from(signal.quanta > 0);
        let id = fabric.packets.insert(signal.frame(self.signals.frame_bytes));
        self.egress[signal.port as usize].push_control(&mut fabric.packets, id);
        fabric.kick(self.first_port + u32::from(signal.port));
    }

    /// A frame of the neighbour has arrived.
    #[cold]
    pub(super) fn on_frame(&mut self, fabric: &mut Fabric, port: u16, id: u32) {
        let rate = fabric.rate(self.first_port + u32::from(port));
        let asked = timed_pause(&fabric.packets[id], rate);
        fabric.packets.remove(id);
        let (queues, pause_ps) = asked.expect("neighbours pause for a time");
        let classes = queues as u8 & u8::MAX >> (7 - self.last_class);
        self.obeyed.hear(fabric.now, Request { port, classes, pause_ps });
        self.await_frames(fabric);
    }

    /// Frames that took their time are sent or obeyed.
    pub(super) fn on_frame_timer(&mut self, fabric: &mut Fabric) {
        while let Some(request) = self.obeyed.take(fabric.now) {
            let own = self.first_port + u32::from(request.port);
            let idle = fabric.busy_until(own) <= fabric.now
                && !self.egress[request.port as usize].is_ready();
            let paused = self.obeyed.obey(fabric.now, request, idle);
            self.set_paused(fabric, request.port, paused);
            self.await_port(fabric, request.port);
        }
        while let Some(&(due, signal)) = self.signals.made.front()
            && due <= fabric.now
        {
            self.signals.made.pop_front();
            self.send(fabric, signal);
        }
        self.await_frames(fabric);
    }

    /// Pauses of a port end, or have to be asked for again.
    pub(super) fn on_port_timer(&mut self, fabric: &mut Fabric, port: u16) {
        let paused = self.obeyed.expire(fabric.now, port);
        self.set_paused(fabric, port, paused);
        let at = port as usize;
        if self.signals.renewals[at] <= fabric.now {
            let paused = self.pauses.paused(port);
            self.signals.renewals[at] = fabric.now + self.signals.renewal_ps[at];
            self.say(fabric, port, paused, u16::MAX);
        }
        self.await_port(fabric, port);
    }

    /// Exactly these classes of a port are paused from now on.
    pub(super) fn set_paused(&mut self, fabric: &mut Fabric, port: u16, classes: u8) {
        let egress = &mut self.egress[port as usize];
        egress.set_paused(fabric.now, u128::from(classes));
        if egress.is_ready() {
            fabric.kick(self.first_port + u32::from(port));
        }
    }

    fn await_frames(&self, fabric: &mut Fabric) {
        let made = self.signals.made.front().map_or(NEVER, |&(due, _)| due);
        let due = made.min(self.obeyed.next().unwrap_or(NEVER));
        fabric.wheel.arm(self.signals.first_timer + u32::from(self.ports), due);
    }

    fn await_port(&self, fabric: &mut Fabric, port: u16) {
        let due = self.obeyed.next_end(port).min(self.signals.renewals[port as usize]);
        fabric.wheel.arm(self.signals.first_timer + u32::from(port), due);
    }
}
