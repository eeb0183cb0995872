//! An endpoint's flowlets: what the allocator knows of them, and their rates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::EndpointId;
use crate::queues::Queues;
use crate::rate::RateCode;
use crate::window::Ack;
use crate::wire::Start;

/// How fast a flowlet may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// At this rate (bytes per second). 0: its path is down, so it waits.
    Paced(u64),
    /// Under its own congestion control, which continues from the last rate if there was one.
    FallBack,
}

/// A flowlet's new rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// The flowlet.
    pub flowlet: u64,
    /// Its rate.
    pub rate: Rate,
}

/// Starts to report, ends to report, what has been reported but not acknowledged, and flowlets that
/// wait for a slot that the allocator accepts.
const STARTS: u32 = 0;
const ENDS: u32 = 1;
const FLIGHT: u32 = 2;
const SURPLUS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Free,
    Live,
    /// Ended, but the allocator may not know.
    Ending,
}

/// A flowlet's number on the wire. It is reused when the allocator has acknowledged the end: so a
/// rate for it is always for the flowlet that has it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    phase: Phase,
    flowlet: u64,
    destination: EndpointId,
    path: u32,
    /// True if it has been reported in this connection.
    is_reported: bool,
    /// True if it has been counted: it found the limit of the allocator reached.
    is_counted: bool,
    /// Sequence number of the last report with it.
    sent_in: u64,
    rate: Option<RateCode>,
    /// True if the rate is of this connection; false if of an earlier one.
    is_current: bool,
    /// What the data plane has got.
    in_force: Rate,
}

/// The flowlets of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Flowlets {
    slots: Vec<Slot>,
    /// The lowest is used first: an allocator accepts only low ones.
    free: BinaryHeap<Reverse<u16>>,
    /// Slots below this may be reported; 0 before the first report of a connection.
    limit: u32,
    of_flowlet: FxHashMap<u64, u16>,
    queues: Queues,
    /// Slots whose rate has changed.
    changed: Queues,
    /// Flowlets with a rate of an earlier connection, and of this one.
    rated: [usize; 2],
    /// True while rates of this connection have expired.
    is_suspended: bool,
}

impl Flowlets {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: BinaryHeap::new(),
            limit: 0,
            of_flowlet: FxHashMap::default(),
            queues: Queues::new(4),
            changed: Queues::new(1),
            rated: [0; 2],
            is_suspended: false,
        }
    }

    /// Number of flowlets that have not ended.
    pub(super) fn live(&self) -> usize {
        self.of_flowlet.len()
    }

    /// True if a flowlet has a rate of this connection, or of an earlier one.
    pub(super) fn is_rated(&self, is_current: bool) -> bool {
        self.rated[usize::from(is_current)] > 0
    }

    /// False if there is no room for it.
    pub(super) fn start(
        &mut self,
        flowlet: u64,
        (destination, path): (EndpointId, u32),
        most: u16,
        unreported: &mut u64,
    ) -> bool {
        if self.of_flowlet.contains_key(&flowlet) {
            return true;
        }
        let slot = match self.free.pop() {
            Some(Reverse(slot)) => slot,
            None if self.slots.len() < usize::from(most) => self.slots.len() as u16,
            None => return false,
        };
        let started = Slot {
            phase: Phase::Live,
            flowlet,
            destination,
            path,
            is_reported: false,
            is_counted: false,
            sent_in: 0,
            rate: None,
            is_current: false,
            in_force: Rate::FallBack,
        };
        match self.slots.get_mut(usize::from(slot)) {
            Some(free) => *free = started,
            None => {
                self.slots.push(started);
                self.queues.grow(self.slots.len());
                self.changed.grow(self.slots.len());
            }
        }
        self.of_flowlet.insert(flowlet, slot);
        if self.limit > 0 && u32::from(slot) >= self.limit {
            self.let_wait(slot.into(), unreported);
        } else {
            self.queues.push(STARTS, slot.into());
        }
        true
    }

    /// False if there is none of this number.
    pub(super) fn end(&mut self, flowlet: u64) -> bool {
        let Some(number) = self.of_flowlet.remove(&flowlet) else { return false };
        self.set_rate(number.into(), None);
        self.changed.remove(number.into());
        let slot = &mut self.slots[usize::from(number)];
        slot.phase = Phase::Ending;
        if slot.is_reported {
            self.queues.push(ENDS, number.into());
        } else {
            self.release(number.into());
        }
        true
    }

    fn release(&mut self, number: u32) {
        self.queues.remove(number);
        self.slots[number as usize].phase = Phase::Free;
        self.free.push(Reverse(number as u16));
        self.move_surplus();
    }

    /// A flowlet with a slot above the limit waits for a lower one, and is counted.
    fn let_wait(&mut self, number: u32, unreported: &mut u64) {
        self.queues.push(SURPLUS, number);
        self.move_surplus();
        let slot = &mut self.slots[number as usize];
        let waits = self.queues.queue_of(number) == Some(SURPLUS);
        *unreported += u64::from(waits && !slot.is_counted);
        slot.is_counted |= waits;
    }

    /// Flowlets that wait for a lower slot get the free ones.
    fn move_surplus(&mut self) {
        while let Some(&Reverse(low)) = self.free.peek()
            && u32::from(low) < self.limit
            && let Some(high) = self.queues.pop(SURPLUS)
        {
            self.free.pop();
            let surplus = self.slots[high as usize];
            self.slots[usize::from(low)] = surplus;
            self.of_flowlet.insert(surplus.flowlet, low);
            self.queues.push(STARTS, low.into());
            if self.changed.queue_of(high).is_some() {
                self.changed.remove(high);
                self.changed.push(0, low.into());
            }
            // Its rate is counted once, in the lower slot.
            self.slots[high as usize] = Slot { phase: Phase::Free, rate: None, ..surplus };
            self.free.push(Reverse(high as u16));
        }
    }

    /// True if there is something to report.
    pub(super) fn has_news(&self) -> bool {
        self.queues.front(STARTS).is_some() || self.queues.front(ENDS).is_some()
    }

    /// The next end to report; it is in flight from now on.
    pub(super) fn next_end(&mut self, sequence: u64) -> Option<u16> {
        let number = self.queues.front(ENDS)?;
        self.depart(number, sequence);
        Some(number as u16)
    }

    /// The next start to report, with a slot below a limit; it is in flight from now on. Flowlets
    /// above it wait for a lower slot, and are counted.
    pub(super) fn next_start(
        &mut self,
        sequence: u64,
        limit: u32,
        unreported: &mut u64,
    ) -> Option<Start> {
        self.limit = limit;
        while let Some(number) = self.queues.front(STARTS) {
            if number >= limit {
                self.let_wait(number, unreported);
                continue;
            }
            self.depart(number, sequence);
            let Slot { destination, path, .. } = self.slots[number as usize];
            return Some(Start { slot: number as u16, destination, path });
        }
        None
    }

    fn depart(&mut self, number: u32, sequence: u64) {
        self.queues.push(FLIGHT, number);
        let slot = &mut self.slots[number as usize];
        slot.sent_in = sequence;
        slot.is_reported = true;
    }

    /// Sequence number of the oldest report with something unacknowledged.
    pub(super) fn oldest_in_flight(&self) -> Option<u64> {
        self.queues.front(FLIGHT).map(|number| self.slots[number as usize].sent_in)
    }

    /// Applies an acknowledgement; what is lost is reported again.
    pub(super) fn settle(&mut self, ack: &Ack) {
        while let Some(number) = self.queues.front(FLIGHT) {
            let Slot { sent_in, phase, .. } = self.slots[number as usize];
            if sent_in > ack.newest {
                break;
            } else if !ack.has(sent_in) {
                self.report_again(number);
            } else if phase == Phase::Ending {
                self.release(number);
            } else {
                self.queues.remove(number);
            }
        }
    }

    /// What was sent first counts as lost.
    pub(super) fn lose_oldest(&mut self) {
        if let Some(number) = self.queues.front(FLIGHT) {
            self.report_again(number);
        }
    }

    fn report_again(&mut self, number: u32) {
        let is_live = self.slots[number as usize].phase == Phase::Live;
        self.queues.push(if is_live { STARTS } else { ENDS }, number);
    }

    /// Another connection begins, or this one ends: an allocator has no flowlets at its start, and
    /// rates of the old connection are of an earlier one.
    pub(super) fn reconnect(&mut self) {
        self.limit = 0;
        for number in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[number as usize];
            slot.is_reported = false;
            match slot.phase {
                Phase::Free => continue,
                Phase::Ending => self.release(number),
                Phase::Live => self.queues.push(STARTS, number),
            }
            self.slots[number as usize].is_current = false;
        }
        self.rated = [self.rated[0] + self.rated[1], 0];
    }

    /// A rate of this connection has arrived.
    pub(super) fn on_rate(&mut self, slot: u16, rate: RateCode) {
        let known = self.slots.get(usize::from(slot));
        if known.is_some_and(|slot| slot.phase == Phase::Live && slot.is_reported) {
            self.set_rate(slot.into(), Some(rate));
        }
    }

    /// Rates of this connection have expired, or are valid again.
    pub(super) fn suspend(&mut self, is_suspended: bool) {
        if std::mem::replace(&mut self.is_suspended, is_suspended) != is_suspended {
            for number in 0..self.slots.len() as u32 {
                let slot = &self.slots[number as usize];
                if slot.rate.is_some() && slot.is_current {
                    self.changed.push(0, number);
                }
            }
        }
    }

    /// Rates of earlier connections have expired.
    pub(super) fn expire_earlier(&mut self) {
        for number in 0..self.slots.len() as u32 {
            let slot = &self.slots[number as usize];
            if slot.rate.is_some() && !slot.is_current {
                self.set_rate(number, None);
            }
        }
    }

    fn set_rate(&mut self, number: u32, rate: Option<RateCode>) {
        let slot = &mut self.slots[number as usize];
        if slot.rate.is_some() {
            self.rated[usize::from(slot.is_current)] -= 1;
        }
        slot.rate = rate;
        slot.is_current = rate.is_some();
        self.rated[1] += usize::from(rate.is_some());
        self.changed.push(0, number);
    }

    /// The next change for the data plane.
    pub(super) fn next_rate(&mut self) -> Option<RateChange> {
        while let Some(number) = self.changed.pop(0) {
            let slot = &mut self.slots[number as usize];
            let rate = slot.rate.filter(|_| !(slot.is_current && self.is_suspended));
            let rate = rate.map_or(Rate::FallBack, |rate| Rate::Paced(rate.bytes_per_second()));
            if slot.in_force != rate {
                slot.in_force = rate;
                return Some(RateChange { flowlet: slot.flowlet, rate });
            }
        }
        None
    }
}
