//! Congestion-aware priority flow control (CaPFC). An ingress pauses a class of its neighbour while
//! its own queue of that class is congested, as in plain priority flow control ([`Pfc`]), or while
//! the egress queue of another port blames it ([`blame`]).

mod blame;
mod config;

use xoff_core::invariant::{Checker, Part, equal};

use super::pfc::{Accounting, Pfc, Recountable};
use super::{Ask, HopControl, IngressControl, Signal};
use crate::packet::{CLASSES, Packet};
use crate::ports::{PortMask, each};
use crate::recount::{Checked, equal_by_class, of_part};
use crate::sched::{QueueMask, Scheduler};
use blame::Blame;

pub use config::{CapfcConfig, Policy};

/// Counts of CaPFC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapfcStats {
    /// Inputs blamed by egress queues.
    pub(crate) blames: u64,
    /// Ingress queues that became congested.
    pub(crate) congestions: u64,
}

/// One input of a switch.
#[derive(Clone, Copy, Debug, Default)]
struct Input {
    /// E: the ports with an egress queue that blames it, by class.
    blamers: [PortMask; CLASSES],
    /// D: classes that the neighbour is asked to pause.
    paused: u8,
}

/// Signals of one class to send.
#[derive(Clone, Copy, Debug)]
struct Due {
    ports: PortMask,
    ask: Ask,
    class: u8,
}

/// The pauses of one switch, with the paper's names: I is the state of `own`.
#[derive(Debug)]
pub(crate) struct Capfc<A: Accounting> {
    own: Pfc<A>,
    blame: Blame,
    /// Bytes of egress queues, by port and class, if they may blame inputs.
    queued: Vec<[u32; CLASSES]>,
    inputs: Vec<Input>,
    due: Due,
    stats: CapfcStats,
}

impl<A: Accounting> Capfc<A> {
    /// For a switch of `ports` ports, with the ingresses' own priority flow control.
    pub(crate) fn new(config: &CapfcConfig, ports: usize, own: Pfc<A>) -> Self {
        Self {
            own,
            blame: Blame::new(config, ports),
            queued: vec![[0; CLASSES]; ports],
            inputs: vec![Input::default(); ports],
            due: Due { ports: 0, ask: Ask::Resume, class: 0 },
            stats: CapfcStats::default(),
        }
    }

    /// The occupancy of ingresses.
    #[inline]
    pub(crate) fn accounting(&self) -> &A {
        self.own.accounting()
    }

    /// The same, mutable.
    #[inline]
    pub(crate) fn accounting_mut(&mut self) -> &mut A {
        self.own.accounting_mut()
    }

    /// Classes of an ingress whose own queues are congested.
    pub(crate) fn congested(&self, ingress: u16) -> u8 {
        self.own.paused(ingress)
    }

    /// The ports with an egress queue that blames an ingress for a class.
    pub(crate) fn blamers(&self, ingress: u16, class: u8) -> PortMask {
        self.inputs[usize::from(ingress)].blamers[usize::from(class)]
    }

    /// Counts so far.
    pub(crate) fn stats(&self) -> CapfcStats {
        self.stats
    }

    /// Bytes of its counters.
    pub(crate) fn counter_bytes(&self) -> usize {
        self.blame.counter_bytes()
    }

    /// Compares the counts of its queues with the bytes of packets, and the pauses of inputs with
    /// their reasons: D = I or any E.
    ///
    /// # Errors
    /// A count that differs, or a pause without a reason.
    pub(crate) fn recount(
        &self,
        at_ingress: &[[u32; CLASSES]],
        at_egress: &[[u32; CLASSES]],
    ) -> Checked
    where
        A: Recountable,
    {
        self.own.recount(at_ingress)?;
        if self.blame.is_on() {
            equal_by_class("egress", at_egress, |port, class| {
                self.queued[usize::from(port)][usize::from(class)]
            })?;
        }
        for (number, input) in (0..).zip(&self.inputs) {
            let place = || format!("classes that ingress {number} pauses, as a mask");
            let compared = equal(Checker::Pauses, self.asked(number), input.paused, place);
            compared.map_err(of_part(Part::port(number)))?;
        }
        Ok(())
    }

    /// D = I or any E.
    fn asked(&self, ingress: u16) -> u8 {
        let input = &self.inputs[usize::from(ingress)];
        let blamed =
            (0..CLASSES).fold(0, |all, class| all | u8::from(input.blamers[class] != 0) << class);
        self.own.paused(ingress) | blamed
    }

    /// Determines D. Returns the classes with a changed D.
    fn recalculate(&mut self, ingress: u16) -> u8 {
        let asked = self.asked(ingress);
        let input = &mut self.inputs[usize::from(ingress)];
        let changed = asked ^ input.paused;
        input.paused = asked;
        changed
    }

    /// An ingress's own queues become congested, or cease to be.
    fn signal(&mut self, ingress: u16, ask: Ask) -> Option<Signal> {
        let changed = self.recalculate(ingress);
        (changed != 0).then(|| Signal::new(ingress, ask, QueueMask::from(changed)))
    }

    /// An egress queue starts or stops to blame inputs. A port does not blame itself: D is over "o
    /// != i".
    #[cold]
    fn set_blamed(&mut self, egress: u16, class: u8, inputs: PortMask, ask: Ask) {
        let mut ports = 0;
        for input in each(inputs & !(1 << egress)) {
            let blamers = &mut self.inputs[usize::from(input)].blamers[usize::from(class)];
            *blamers = *blamers & !(1 << egress) | PortMask::from(ask == Ask::Pause) << egress;
            ports |= PortMask::from(self.recalculate(input.into()) != 0) << input;
        }
        self.due = Due { ports, ask, class };
    }
}

impl<A: Accounting> IngressControl for Capfc<A> {
    #[inline]
    fn on_arrival(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal> {
        let congested = self.own.add(ingress, class, bytes);
        if congested == 0 {
            return None;
        }
        self.stats.congestions += u64::from(congested.count_ones());
        self.signal(ingress, Ask::Pause)
    }

    #[inline]
    fn on_departure(&mut self, ingress: u16, class: u8, bytes: u16) -> Option<Signal> {
        if self.own.remove(ingress, class, bytes) == 0 {
            return None;
        }
        self.signal(ingress, Ask::Resume)
    }

    fn paused_queues(&self, ingress: u16) -> u8 {
        self.inputs[usize::from(ingress)].paused
    }
}

/// The egress queues, which blame inputs.
impl<A: Accounting> HopControl for Capfc<A> {
    #[inline]
    fn on_enqueue<S: Scheduler>(
        &mut self,
        _now: u64,
        egress: u16,
        packet: &mut Packet,
        _queues: &S,
    ) -> Option<Signal> {
        if !self.blame.is_on() {
            return None;
        }
        let queued = &mut self.queued[usize::from(egress)][usize::from(packet.queue)];
        *queued += u32::from(packet.wire_bytes);
        let culprits = self.blame.on_enqueue(egress, packet.queue, packet.ingress, *queued);
        if culprits == 0 {
            return None;
        }
        self.stats.blames += u64::from(culprits.count_ones());
        self.set_blamed(egress, packet.queue, culprits, Ask::Pause);
        self.next_signal()
    }

    #[inline]
    fn on_dequeue(&mut self, _now: u64, egress: u16, packet: &mut Packet) -> Option<Signal> {
        if !self.blame.is_on() {
            return None;
        }
        let queued = &mut self.queued[usize::from(egress)][usize::from(packet.queue)];
        *queued -= u32::from(packet.wire_bytes);
        let absolved = self.blame.on_dequeue(egress, packet.queue, *queued);
        if absolved == 0 {
            return None;
        }
        self.set_blamed(egress, packet.queue, absolved, Ask::Resume);
        self.next_signal()
    }

    fn next_signal(&mut self) -> Option<Signal> {
        let Due { ports, ask, class } = self.due;
        if ports == 0 {
            return None;
        }
        self.due.ports &= ports - 1;
        Some(Signal::new(ports.trailing_zeros() as u16, ask, 1 << class))
    }

    fn holds_paused(&self, ingress: u16) -> QueueMask {
        QueueMask::from(self.paused_queues(ingress))
    }
}

#[cfg(test)]
mod tests;
