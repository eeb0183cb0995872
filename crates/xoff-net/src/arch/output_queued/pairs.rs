//! The choice of the packet path by hop control and scheduler, among the pairs of `sched/mod.rs`.

use crate::hop::AnyHop;
use crate::sched::AnyScheduler;

/// Applies an expression to a hop control and the scheduler of a port.
macro_rules! match_pair {
    ($hop:expr, $scheduler:expr, ($control:ident, $queues:ident) => $call:expr) => {
        $crate::sched::each_pair!(
            [$crate::arch::output_queued::pairs::match_one_of]
            ($hop, $scheduler, ($control, $queues) => $call)
        )
    };
}
pub(super) use match_pair;

macro_rules! match_one_of {
    (
        ($hop:expr, $scheduler:expr, ($control:ident, $queues:ident) => $call:expr),
        $($of_hop:ident $of_scheduler:ident),* $(,)?
    ) => {
        match ($hop, $scheduler) {
            $((
                $crate::hop::AnyHop::$of_hop($control),
                $crate::sched::AnyScheduler::$of_scheduler($queues),
            ) => $call,)*
            (hop, scheduler) => $crate::arch::output_queued::pairs::no_pair(hop, scheduler),
        }
    };
}
pub(super) use match_one_of;

/// A switch has parts that cannot be combined.
#[cold]
#[inline(never)]
pub(super) fn no_pair(hop: &AnyHop, scheduler: &AnyScheduler) -> ! {
    panic!("{hop:?} cannot be combined with the queues of {scheduler:?}")
}
