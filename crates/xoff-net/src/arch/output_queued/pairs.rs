//! Which schedulers each hop control stands beside: the pairs that a packet's way in and out is compiled
//! for. Each pair makes that code longer for all, so these are those that a scenario can ask for.

use crate::hop::AnyHop;
use crate::sched::AnyScheduler;

/// Applies an expression to a hop control and the scheduler of a port.
macro_rules! each_pair {
    ($hop:expr, $scheduler:expr, ($control:ident, $queues:ident) => $call:expr) => {
        $crate::arch::output_queued::pairs::match_pairs!(
            ($hop, $scheduler, ($control, $queues) => $call),
            None Fifo,
            None Drr,
            None PerFlow,
            None PerFlowSrf,
            None PFabric,
            None SfqCodel,
            None Ets,
            Carried Priorities,
            // Their queues are the traffic classes.
            Pfc Fifo,
            Sfc Fifo,
            ElidingPfc Fifo,
            // Theirs are assigned to flows.
            Bfc Drr,
            Bfc Srf,
            BfcOccupancy Drr,
            BfcOccupancy Srf,
            BfcFlows DrrFlows,
            BfcSilent Drr,
            BfcSilent Srf,
            BfcClasses DrrClasses,
            ElidingBfc Drr,
            ElidingBfc Srf,
            // A sample of the packets needs no hardware.
            Tofino Drr,
            Tofino Srf,
            Tofino TrafficManager,
        )
    };
}
pub(super) use each_pair;

macro_rules! match_pairs {
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
pub(super) use match_pairs;

/// A switch was built of parts that do not go together.
#[cold]
#[inline(never)]
pub(super) fn no_pair(hop: &AnyHop, scheduler: &AnyScheduler) -> ! {
    panic!("{hop:?} has no use for the queues of {scheduler:?}")
}
