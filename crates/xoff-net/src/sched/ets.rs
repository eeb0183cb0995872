//! Enhanced transmission selection (IEEE 802.1Qaz): some classes are strict, in a given order. The
//! others share the rest by deficit round robin, in proportion to their weights.

use xoff_core::knobs;
use xoff_core::knobs::Checked;

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use super::{AnyScheduler, HopQueues, SchedulerSettings, SchedulerSite};
use crate::packet::{CLASSES, Pool};

/// The largest weight. It limits the bytes of one turn.
const WEIGHT_MAX: u32 = 1000;

knobs! {
    /// Enhanced transmission selection.
    pub struct EtsConfig in "ets" {
        /// Classes that are served before all others, in this order, as "0" or "1,0"; empty: none.
        strict: String = String::new(),
        /// Weights of classes 0 to 7 among those that are not strict. A turn allows the weight
        /// times `switch.quantum`.
        weights: String = "1,1,1,1,1,1,1,1".into(),
    }
}

/// Checked settings of enhanced transmission selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EtsPlan {
    /// Strict classes in order, and their number.
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
                "weights = \"{}\": give eight whole numbers from 1 to {WEIGHT_MAX}, those of \
                 classes 0 to 7",
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

    fn serves(&self, queues: &HopQueues) -> Result<(), String> {
        match queues {
            HopQueues::Any | HopQueues::Classes => Ok(()),
            HopQueues::Assigned(_) => Err("serves queues of classes, not of flows".into()),
        }
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Ets(Ets::new(self.plan().unwrap_or_default(), site.quantum))
    }
}

/// No strict classes, and equal weights.
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
    /// The bytes left in its turn.
    deficit: u32,
    /// The bytes of a turn.
    quantum: u32,
}

/// Strict classes in order, then weighted ones in turn.
#[derive(Debug)]
pub struct StrictThenWeighted {
    /// The weighted class with the current turn.
    current: u8,
    /// Strict classes as a set, and in order.
    strict: u32,
    order: [u8; CLASSES],
}

/// One queue per class: a packet's queue is its class. The queues are allocated separately, so that
/// ports with other schedulers do not grow.
pub type Ets = FixedQueues<StrictThenWeighted>;

impl Ets {
    /// Empty queues. A turn of a class with weight 1 allows `quantum_bytes`.
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
    /// The next of the classes of `ready`, which are all weighted.
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
    const TAKES_TURNS: bool = true;

    #[inline]
    fn pick(&mut self, ready: u32, lines: &mut [Line<Turn>], pool: &Pool) -> Option<u8> {
        let first = ready & self.strict;
        if first != 0 {
            // A ready strict class is in the ordered part, before the padding.
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

    /// A paused class keeps none either, or several pauses would add up to a long turn.
    fn on_pause(&mut self, lines: &mut [Line<Turn>], changed: u32, paused: u32) {
        for (class, line) in (0..).zip(lines) {
            if (changed & paused).has(class) {
                line.state.deficit = 0;
            }
        }
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
