//! Enhanced transmission selection (IEEE 802.1Qaz): some classes strictly first, in their order; the
//! others share what is left by deficit round robin, each in proportion to its weight.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use super::{AnyScheduler, SchedulerSettings, SchedulerSite};
use crate::packet::{CLASSES, Pool};

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

impl SchedulerSettings for EtsConfig {
    fn check(&self) -> Checked {
        self.plan().map(|_| ())
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Ets(Ets::new(self.plan().unwrap_or_default(), site.quantum))
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

/// The turns of a weighted class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// What it may still send in its turn (bytes).
    deficit: u32,
    /// What a turn allows (bytes).
    quantum: u32,
}

/// Strict classes in their order, then weighted ones in turns.
#[derive(Debug)]
pub struct StrictThenWeighted {
    /// The weighted class whose turn it is.
    current: u8,
    /// Strict classes, and the same in their order.
    strict: u32,
    order: [u8; CLASSES],
}

/// One queue a class; a packet's queue is its class. The queues stand apart, so that ports with other
/// schedulers do not grow.
pub type Ets = FixedQueues<StrictThenWeighted>;

impl Ets {
    /// Empty queues; a turn of a class with weight 1 allows `quantum_bytes`.
    #[must_use]
    pub fn new(plan: EtsPlan, quantum_bytes: u32) -> Self {
        let line = |weight: u32| {
            let quantum = weight.saturating_mul(quantum_bytes);
            Line { state: Turn { deficit: 0, quantum }, ..Line::default() }
        };
        let strict = u32::from(plan.strict_mask());
        let discipline = StrictThenWeighted { current: 0, strict, order: plan.strict.0 };
        Self::of(discipline, Box::new(plan.weights.map(line)))
    }
}

impl StrictThenWeighted {
    /// The next one of the classes of `ready`, all of which are weighted.
    fn pick_weighted(&mut self, ready: u32, lines: &mut [Line<Turn>], pool: &Pool) -> Option<u8> {
        loop {
            let Line { queue, state } = &mut lines[self.current as usize];
            if ready.has(self.current) {
                let bytes = u32::from(pool[queue.head()?].wire_bytes);
                if state.deficit >= bytes {
                    state.deficit -= bytes;
                    return Some(self.current);
                }
            }
            self.current = ready.next_after(self.current);
            let next = &mut lines[self.current as usize].state;
            next.deficit = next.deficit.saturating_add(next.quantum);
        }
    }
}

impl Discipline for StrictThenWeighted {
    type Mask = u32;
    type State = Turn;

    #[inline]
    fn pick(&mut self, ready: u32, lines: &mut [Line<Turn>], pool: &Pool) -> Option<u8> {
        let first = ready & self.strict;
        if first != 0 {
            // A class that is ready and strict stands in the order, before what fills it up.
            return self.order.iter().copied().find(|&class| first.has(class));
        }
        if ready == 0 {
            return None;
        }
        self.pick_weighted(ready, lines, pool)
    }

    /// An idle queue keeps no credit.
    #[inline]
    fn on_empty(&mut self, turn: &mut Turn, _class: u8) {
        turn.deficit = 0;
    }

    #[inline]
    fn on_pass(&mut self, class: u8) {
        if !self.strict.has(class) {
            self.current = class;
        }
    }
}

#[cfg(test)]
#[path = "ets_tests.rs"]
pub(super) mod tests;
