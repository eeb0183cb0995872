//! Stochastic fair queueing with CoDel: flows are hashed into bins, bins share the link by deficit
//! round robin, and each bin has its own CoDel.
//!
//! This is FQ-CoDel as published (RFC 8290): a bin that becomes non-empty has its first turn before
//! bins that continue, so that a flow of few packets never waits for a long one. The related
//! sfqCoDel of the ns-2 simulator has the same order, and counts turns in packets unless it has a
//! quantum. As in both, a bin's CoDel uses the backlog of the whole port to decide whether a drop
//! would idle the link; as in ns-2's, it never drops a bin's last packet. RFC 8290's hash is seeded
//! by the run, so that different flows collide in each. Marking instead of dropping is not
//! modelled.

mod bins;
mod codel;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use xoff_core::tournament::Tournament;
use xoff_core::{Ps, knobs};

use self::bins::{BIN_BYTES, Bin, List, NO_BIN};
use self::codel::{Codel, Law};
use super::{AnyScheduler, QueueMask, Scheduler, SchedulerSettings, SchedulerSite};
use crate::balance::{address, murmur3};
use crate::packet::{Packet, Pool, Queue};

knobs! {
    /// Stochastic fair queueing with CoDel, where `switch.scheduler` is "sfqcodel". A turn is
    /// `switch.quantum`.
    pub struct SfqCodelConfig in "sfqcodel" {
        /// Bins of a port ("up to 1024 bins": sfqCoDel of ns-2; RFC 8290 §5.2: 1024 queues).
        bins: u16 = 1024,
        /// How long packets may wait for longer than `target` before one is dropped. About the
        /// longest RTT, so that senders can react (RFC 8289 §4.3: 100 ms on the Internet). 0: four
        /// base RTTs, because packets wait in several queues on their path.
        interval: Ps = Ps(0),
        /// The wait of packets that is acceptable without limit: 5 to 10 % of the interval (RFC
        /// 8289 §4.4). 0: 5 %, the ratio of its own 5 ms and 100 ms.
        target: Ps = Ps(0),
    }
}

impl SfqCodelConfig {
    /// Derives times from the base RTT unless they are configured.
    #[must_use]
    pub fn derived(mut self, base_rtt: Ps) -> Self {
        if self.interval.0 == 0 {
            self.interval = Ps(4 * base_rtt.0);
        }
        if self.target.0 == 0 {
            self.target = Ps(self.interval.0 / 20);
        }
        self
    }

    /// Checks what the types of the fields cannot, once times are derived.
    ///
    /// # Errors
    /// The field and what is wrong.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.bins == 0 || self.bins == NO_BIN {
            return Err(("bins", format!("a port has 1 to {} bins", NO_BIN - 1)));
        }
        if self.target >= self.interval {
            let message = format!(
                "target ({}) must be less than interval ({}): 5 to 10 % of it",
                self.target, self.interval
            );
            return Err(("target", message));
        }
        Ok(())
    }
}

impl SchedulerSettings for SfqCodelConfig {
    fn takes_turns(&self) -> bool {
        true
    }

    fn derives_from_base_rtt(&self) -> bool {
        self.interval.0 == 0
    }

    fn derive(&mut self, base_rtt: Ps) -> Result<Vec<(&'static str, Ps)>, (&'static str, String)> {
        *self = self.clone().derived(base_rtt);
        SfqCodelConfig::check(self)?;
        Ok(vec![("sfqcodel_interval", self.interval), ("sfqcodel_target", self.target)])
    }

    fn port_bytes(&self) -> u128 {
        u128::from(self.bins) * BIN_BYTES
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::SfqCodel(SfqCodel::new(self, site.quantum, site.bin_seed))
    }
}

/// A bin's place in the order by bytes, the fullest first; among equals, the bin with the least
/// number.
type Fatness = (Reverse<u32>, u16);

/// An empty bin's place.
const EMPTY: Fatness = (Reverse(0), u16::MAX);

/// The bins of a port.
#[derive(Debug)]
pub struct SfqCodel {
    /// Empty until the first packet arrives: most ports of a large network are never congested.
    bins: Vec<Bin>,
    count: u16,
    seed: u32,
    law: Law,
    quantum_bytes: u32,
    /// Bins that became non-empty since their last turn, and bins that continue.
    new: List,
    old: List,
    packets: u32,
    bytes: u32,
    /// Number of bins with packets.
    busy: u32,
    /// The bins by their bytes, from the first eviction on: only a full port needs this order.
    fattest: Option<Tournament<Fatness>>,
    /// The longest packet so far (bytes).
    longest: u32,
    paused: bool,
}

impl SfqCodel {
    /// Without packets. `config` is derived and checked; `seed` is the seed of the hash.
    #[must_use]
    pub fn new(config: &SfqCodelConfig, quantum_bytes: u32, seed: u32) -> Self {
        Self {
            bins: Vec::new(),
            count: config.bins,
            seed,
            law: Law { target_ps: config.target.0, interval_ps: config.interval.0 },
            quantum_bytes,
            new: List::EMPTY,
            old: List::EMPTY,
            packets: 0,
            bytes: 0,
            busy: 0,
            fattest: None,
            longest: 0,
            paused: false,
        }
    }

    /// The bin of a packet: a hash of its 5-tuple.
    #[must_use]
    pub fn bin_of(&self, packet: &Packet) -> u16 {
        let words = [address(packet.src), address(packet.dst), packet.label];
        (murmur3(words, self.seed) % u32::from(self.count)) as u16
    }

    /// A packet arrives at its bin: "if the queue is not currently active, it is added to the end
    /// of the list of new queues, and its credit is initiated to the configured quantum" (RFC 8290
    /// §4.1).
    fn admit(&mut self, packet: &Packet) -> u16 {
        if self.bins.is_empty() {
            self.make_bins();
        }
        let number = self.bin_of(packet);
        let bin = &mut self.bins[number as usize];
        if !bin.listed {
            bin.listed = true;
            bin.deficit = self.quantum_bytes as i32;
            self.new.append(&mut self.bins, number);
        }
        self.longest = self.longest.max(u32::from(packet.wire_bytes));
        number
    }

    #[cold]
    fn make_bins(&mut self) {
        let (queue, codel) = (Queue::default(), Codel::default());
        let bin = Bin { queue, codel, deficit: 0, next: NO_BIN, listed: false };
        self.bins = vec![bin; self.count as usize];
    }

    /// The bin with the current turn, with credit and a packet. `passing` counts as a bin with a
    /// packet. There must be such a bin. (RFC 8290 §4.2.)
    fn turn(&mut self, passing: Option<u16>) -> u16 {
        loop {
            let is_new = self.new.head != NO_BIN;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = list.head;
            let bin = &mut self.bins[number as usize];
            let spent = bin.deficit <= 0;
            if !spent && (!bin.queue.is_empty() || passing == Some(number)) {
                return number;
            }
            list.remove_head(&self.bins);
            let bin = &mut self.bins[number as usize];
            if spent {
                // "It is given an additional amount of credit, the queue is put onto the end of the
                // list of old queues".
                bin.deficit += self.quantum_bytes as i32;
                self.old.append(&mut self.bins, number);
            } else if is_new {
                // An empty bin passes through the old list, so that it cannot become new again by
                // sending one packet at a time.
                self.old.append(&mut self.bins, number);
            } else {
                bin.listed = false;
            }
        }
    }

    /// Takes the packet at the head of a bin.
    fn take(&mut self, pool: &Pool, bin: u16) -> Option<u32> {
        let queue = &mut self.bins[bin as usize].queue;
        let id = queue.pop(pool)?;
        self.busy -= u32::from(queue.is_empty());
        self.packets -= 1;
        self.bytes -= u32::from(pool[id].wire_bytes);
        self.weigh(bin, 0);
        Some(id)
    }

    /// Updates a bin's place in the order by bytes, as if it had `more` bytes.
    #[inline]
    fn weigh(&mut self, bin: u16, more: u32) {
        if let Some(order) = &mut self.fattest {
            let bytes = self.bins[bin as usize].queue.bytes() + more;
            order.set(bin as usize, fatness(bin, bytes));
        }
    }

    /// Weighs all bins.
    #[cold]
    fn weigh_all(&mut self) {
        let mut order = Tournament::new(self.count as usize, EMPTY);
        for (number, bin) in (0..).zip(&self.bins) {
            order.set(usize::from(number), fatness(number, bin.queue.bytes()));
        }
        self.fattest = Some(order);
    }
}

fn fatness(bin: u16, bytes: u32) -> Fatness {
    if bytes == 0 { EMPTY } else { (Reverse(bytes), bin) }
}

impl Scheduler for SfqCodel {
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let bin = self.admit(&pool[id]);
        self.packets += 1;
        self.bytes += u32::from(pool[id].wire_bytes);
        let queue = &mut self.bins[bin as usize].queue;
        self.busy += u32::from(queue.is_empty());
        queue.push(pool, id);
        self.weigh(bin, 0);
    }

    /// The bin with the current turn drops the packets that its CoDel rejects.
    fn shed(&mut self, pool: &mut Pool, now: u64, shed: &mut Queue) {
        if !self.is_ready() {
            return;
        }
        let bin = self.turn(None);
        loop {
            let Bin { queue, codel, .. } = &mut self.bins[bin as usize];
            let Some(head) = queue.head() else { break };
            let packet = &pool[head];
            let behind = self.bytes - u32::from(packet.wire_bytes);
            let is_short = behind <= self.longest || queue.count() == 1;
            if !codel.drops(&self.law, now, now - packet.time, is_short) {
                break;
            }
            if let Some(id) = self.take(pool, bin) {
                shed.push(pool, id);
            }
        }
    }

    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        if !self.is_ready() {
            return None;
        }
        let bin = self.turn(None);
        let id = self.take(pool, bin)?;
        self.bins[bin as usize].deficit -= i32::from(pool[id].wire_bytes);
        Some(id)
    }

    /// "It finds the queue with the largest current byte count and drops a packet from the head of
    /// that queue" (RFC 8290 §4.1), the arriving packet included.
    fn evict(&mut self, pool: &mut Pool, arriving: u32) -> Option<u32> {
        let bytes = u32::from(pool[arriving].wire_bytes);
        let own = self.bin_of(&pool[arriving]);
        if self.bins.is_empty() {
            return None;
        }
        if self.fattest.is_none() {
            self.weigh_all();
        }
        self.weigh(own, bytes);
        let (Reverse(most), fattest) = self.fattest.as_ref()?.least();
        self.weigh(own, 0);
        // A packet alone in its bin is the one to drop if no bin has more bytes.
        self.take(pool, if most > bytes { fattest } else { own })
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.packets > 0 && !self.paused
    }

    #[inline]
    fn may_pass(&self, _queue: u8) -> bool {
        self.packets == 0 && !self.paused
    }

    fn pass(&mut self, packet: &Packet) {
        let bin = self.admit(packet);
        self.turn(Some(bin));
        let bin = &mut self.bins[bin as usize];
        bin.codel.on_short_wait();
        bin.deficit -= i32::from(packet.wire_bytes);
    }

    /// Bytes of the port: its memory is not divided.
    fn queue_bytes(&self, _queue: u8) -> u32 {
        self.bytes
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(self.packets > 0)
    }

    fn paused(&self) -> QueueMask {
        QueueMask::from(self.paused)
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask != 0;
    }

    fn each_packet(&self, pool: &Pool, visit: &mut dyn FnMut(u32, Option<u8>)) {
        for bin in &self.bins {
            bin.queue.packets(pool).for_each(|id| visit(id, None));
        }
    }

    fn active(&self) -> u32 {
        self.busy
    }
}
