//! Enhanced transmission selection (IEEE 802.1Qaz): some classes strictly first, in their order; the
//! others share what is left by deficit round robin, each in proportion to its weight.

use xoff_core::knobs;

use super::{QueueMask, Scheduler};
use crate::packet::{CLASSES, Packet, Pool, Queue};

/// The largest weight: one turn then allows no more than a port sends in a moment.
const WEIGHT_MAX: u32 = 1000;

knobs! {
    /// Enhanced transmission selection.
    pub struct EtsConfig in "ets" {
        /// Classes that are served strictly before all others, in this order, as "0" or "1,0"; empty:
        /// none.
        strict: String = String::new(),
        /// Weights of classes 0 to 7 among those that are not strict: a turn allows so many times
        /// `switch.quantum`.
        weights: String = "1,1,1,1,1,1,1,1".into(),
    }
}

/// Settings of enhanced transmission selection that make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsPlan {
    /// Strict classes in their order, and how many there are.
    strict: ([u8; CLASSES], u8),
    weights: [u32; CLASSES],
}

impl EtsConfig {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn plan(&self) -> Result<EtsPlan, (&'static str, String)> {
        let parts = |list: &str| -> Option<Vec<u32>> {
            let parts = list.split(',').filter(|part| !part.trim().is_empty());
            parts.map(|part| part.trim().parse().ok()).collect()
        };
        let wrong_strict = || {
            let message = format!(
                "strict = \"{}\": name classes from 0 to 7, each once, as \"1,0\"",
                self.strict
            );
            ("strict", message)
        };
        let wrong_weights = || {
            let message = format!(
                "weights = \"{}\": give eight whole numbers from 1 to {WEIGHT_MAX}, those of classes 0 \
                 to 7",
                self.weights
            );
            ("weights", message)
        };
        let mut plan = EtsPlan::default();
        for class in parts(&self.strict).ok_or_else(wrong_strict)? {
            let known = plan.strict_mask();
            if class >= CLASSES as u32 || known >> class & 1 == 1 {
                return Err(wrong_strict());
            }
            plan.strict.0[usize::from(plan.strict.1)] = class as u8;
            plan.strict.1 += 1;
        }
        let weights = parts(&self.weights).ok_or_else(wrong_weights)?;
        plan.weights = weights.try_into().map_err(|_| wrong_weights())?;
        if plan.weights.iter().any(|weight| !(1..=WEIGHT_MAX).contains(weight)) {
            return Err(wrong_weights());
        }
        Ok(plan)
    }
}

/// No class is strict, and all have the same weight.
impl Default for EtsPlan {
    fn default() -> Self {
        Self { strict: ([0; CLASSES], 0), weights: [1; CLASSES] }
    }
}

impl EtsPlan {
    fn strict_order(&self) -> &[u8] {
        &self.strict.0[..usize::from(self.strict.1)]
    }

    fn strict_mask(&self) -> u8 {
        self.strict_order().iter().fold(0, |mask, class| mask | 1 << class)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    queue: Queue,
    deficit: u32,
    /// What a turn allows (bytes).
    quantum: u32,
}

/// One queue a class; a packet's queue is its class.
#[derive(Debug)]
pub struct Ets {
    /// Apart, so that ports with other schedulers do not grow.
    turns: Box<[Turn; CLASSES]>,
    occupied: u8,
    paused: u8,
    /// The weighted class whose turn it is.
    current: u8,
    /// Strict classes, and the same in their order.
    strict: u8,
    order: [u8; CLASSES],
}

impl Ets {
    /// Empty queues; a turn of a class with weight 1 allows `quantum_bytes`.
    #[must_use]
    pub fn new(plan: EtsPlan, quantum_bytes: u32) -> Self {
        let turn =
            |weight: u32| Turn { quantum: weight.saturating_mul(quantum_bytes), ..Turn::default() };
        Self {
            turns: Box::new(plan.weights.map(turn)),
            occupied: 0,
            paused: 0,
            current: 0,
            strict: plan.strict_mask(),
            order: plan.strict.0,
        }
    }

    /// Takes the packet at the head of a class that has one.
    fn take(&mut self, pool: &Pool, class: u8) -> Option<u32> {
        let turn = &mut self.turns[class as usize];
        let id = turn.queue.pop(pool);
        if turn.queue.is_empty() {
            // An idle queue keeps no credit.
            turn.deficit = 0;
            self.occupied &= !(1 << class);
        }
        id
    }

    /// Takes the next packet of the classes of `ready`, all of which are weighted.
    fn pop_weighted(&mut self, pool: &Pool, ready: u8) -> Option<u32> {
        loop {
            let turn = &mut self.turns[self.current as usize];
            if ready >> self.current & 1 == 1 {
                let bytes = u32::from(pool[turn.queue.head()?].wire_bytes);
                if turn.deficit >= bytes {
                    turn.deficit -= bytes;
                    return self.take(pool, self.current);
                }
            }
            // The next one after it, going round.
            let later = u16::from(ready) & (u16::MAX << self.current << 1);
            let from = if later != 0 { later } else { u16::from(ready) };
            self.current = from.trailing_zeros() as u8;
            let next = &mut self.turns[self.current as usize];
            next.deficit = next.deficit.saturating_add(next.quantum);
        }
    }
}

impl Scheduler for Ets {
    #[inline]
    fn push(&mut self, pool: &mut Pool, id: u32) {
        let queue = pool[id].queue;
        self.turns[queue as usize].queue.push(pool, id);
        self.occupied |= 1 << queue;
    }

    #[inline]
    fn pop(&mut self, pool: &mut Pool) -> Option<u32> {
        let ready = self.occupied & !self.paused;
        let first = ready & self.strict;
        if first != 0 {
            // A class that is ready and strict stands in the order, before what fills it up.
            let class = *self.order.iter().find(|&class| first >> class & 1 == 1)?;
            return self.take(pool, class);
        }
        if ready == 0 {
            return None;
        }
        self.pop_weighted(pool, ready)
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.occupied & !self.paused != 0
    }

    #[inline]
    fn may_pass(&self, queue: u8) -> bool {
        !self.is_ready() && self.paused >> queue & 1 == 0
    }

    #[inline]
    fn pass(&mut self, packet: &Packet) {
        if self.strict >> packet.queue & 1 == 0 {
            self.current = packet.queue;
        }
    }

    #[inline]
    fn queue_bytes(&self, queue: u8) -> u32 {
        self.turns[queue as usize].queue.bytes()
    }

    fn occupied(&self) -> QueueMask {
        QueueMask::from(self.occupied)
    }

    fn paused(&self) -> QueueMask {
        QueueMask::from(self.paused)
    }

    fn set_paused(&mut self, mask: QueueMask) {
        self.paused = mask as u8;
    }

    fn active(&self) -> u32 {
        self.occupied.count_ones()
    }
}

#[cfg(test)]
#[path = "ets_tests.rs"]
pub(super) mod tests;
