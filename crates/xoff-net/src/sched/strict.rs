//! Strict priorities in packets: the lowest number goes first.

use xoff_core::knobs;
use xoff_core::seam::{Need, need};

use super::fixed_queues::{Discipline, FixedQueues, Line, Mask};
use super::{AnyScheduler, SchedulerSettings, SchedulerSite};
use crate::packet::Pool;

knobs! {
    /// Strict priorities in packets.
    pub struct StrictConfig;
}

impl SchedulerSettings for StrictConfig {
    fn needs(&self) -> Vec<Need> {
        let reason = "its priorities are the queues of an egress port";
        vec![need(("switch", "architecture"), &["output-queued"], reason)]
    }

    fn serves_carried_priorities(&self) -> bool {
        true
    }

    fn build(&self, site: &SchedulerSite) -> AnyScheduler {
        AnyScheduler::Priorities(Priorities::new(site.priorities))
    }
}

/// The first queue that may send goes next.
#[derive(Debug, Default)]
pub struct Strict;

/// One queue per priority. Packets can have more priorities than classes.
pub type Priorities = FixedQueues<Strict>;

/// The most priorities.
pub const PRIORITIES_MAX: u8 = u32::BITS as u8;

impl Priorities {
    /// For `priorities` priorities, up to [`PRIORITIES_MAX`].
    #[must_use]
    pub fn new(priorities: u8) -> Self {
        Self::of(Strict, vec![Line::default(); usize::from(priorities)].into_boxed_slice())
    }
}

impl Discipline for Strict {
    type Mask = u32;
    type State = ();
    const COUNTS_FLOWS: bool = true;

    #[inline]
    fn pick(&mut self, ready: u32, _lines: &mut [Line<()>], _pool: &Pool) -> Option<u8> {
        (ready != 0).then(|| ready.first())
    }
}
