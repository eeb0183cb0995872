//! BFC's settings.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Ps, choices, knobs};

use crate::division::{Division, Undivided};
use crate::packet::CLASSES;

choices! {
    /// How flows get their queues (BFC §6.1).
    pub enum Assignment {
        /// An empty queue if there is one, otherwise a random queue (§3.3.1).
        Dynamic = "dynamic",
        /// The queue given by a hash of the flow, the same at every switch ("BFC + stochastic").
        Stochastic = "stochastic",
        /// All flows in one queue ("BFC + single").
        Single = "single",
    }
}

choices! {
    /// Order in which empty queues are taken. The paper does not state it.
    pub enum EmptyQueueOrder {
        /// The next queue after the one assigned last, in turn. A queue that has just emptied, and
        /// may still be kept by a flow, is taken last.
        Rotating = "rotating",
        /// The empty queue with the lowest number.
        Lowest = "lowest",
    }
}

choices! {
    /// What a switch pauses when a queue grows long.
    pub enum BackpressureKind {
        /// The upstream queues of packets that exceeded the threshold, until these packets have
        /// left (§3.3.2).
        Queues = "queues",
        /// The upstream queues that feed a queue above the threshold, until it is no longer
        /// above (§3.2).
        Occupancy = "occupancy",
        /// The flows of packets that exceeded the threshold, until these packets have left: "an
        /// ideal (but impractical) variant" (§3.3.2).
        Flows = "flows",
        /// Nothing: only queue assignment, under an end-to-end control (§6.4).
        None = "none",
    }
}

choices! {
    /// The rule for the pause threshold of a queue.
    pub enum ThresholdRule {
        /// The 1-hop BDP at the queue's drain rate: the port's rate divided by its active queues
        /// (§3.3.2).
        Active = "active",
        /// The 1-hop BDP at the port's rate, for any number of active queues (§3.2).
        Fixed = "fixed",
    }
}

choices! {
    /// The hardware that runs BFC.
    pub enum Hardware {
        /// Switches without limits: every operation is immediate and uses the whole state.
        Ideal = "ideal",
        /// Tofino2, with the limits in section `tofino`.
        Tofino = "tofino",
    }
}

knobs! {
    /// Backpressure flow control, at switches and NICs.
    pub struct BfcConfig in "bfc" {
        /// Queues of a port, including the control queue (§6.2.1: 32; Tofino2 has 128 at 400 Gb/s).
        queues: u8 = 32 => [
            Effect::Unless(|bfc| because(
                bfc.assignment == Assignment::Single,
                "bfc.assignment = \"single\" has one queue",
            )),
        ],
        /// Reserve one queue for pause and resume frames: "this reduces the number of queues
        /// available for dynamic queue assignment by 1" (§3.3.2). Set it to false if classes divide
        /// all queues (App. A.3).
        reserve_control_queue: bool = true => [
            Effect::Unless(|bfc| because(
                bfc.assignment == Assignment::Single,
                "bfc.assignment = \"single\" has one queue",
            )),
        ],
        /// Traffic classes, which divide the queues equally. Classes are served by strict priority,
        /// and queues of a class by fair queueing (App. A.3: 4). A packet's class is the priority
        /// of its traffic; larger priority numbers count as the last class.
        classes: u8 = 1,
        /// How flows get their queues.
        assignment: Assignment = Assignment::Dynamic,
        /// Order in which empty queues are taken.
        empty_queue: EmptyQueueOrder = EmptyQueueOrder::Rotating => [
            Effect::Unless(|bfc| because(
                bfc.assignment != Assignment::Dynamic,
                "a flow's queue never changes",
            )),
        ],
        /// Flow-table entries of a port, for each of its queues (§3.3.1: 100).
        table_factor: u32 = 100 => [
            Effect::Unless(|bfc| because(
                !bfc.table_decides(),
                "flows of one table entry share a queue in any case",
            )),
        ],
        /// A flow keeps its queue for this many 1-hop RTTs after its last packet (§3.3.2: 2).
        sticky_hrtts: f64 = 2.0 => [
            Effect::Unless(|bfc| because(
                bfc.assignment != Assignment::Dynamic,
                "a flow's queue never changes",
            )),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// What a switch pauses when a queue grows long.
        backpressure: BackpressureKind = BackpressureKind::Queues,
        /// The rule for the pause threshold of a queue.
        threshold: ThresholdRule = ThresholdRule::Active => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.has_one_queue(), "there is only one queue")),
        ],
        /// Multiple of the threshold's 1-hop BDP (§3.3.2: 1).
        threshold_factor: f64 = 1.0 => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
        ],
        /// Part of the 1-hop RTT in addition to the propagation delay of both directions, such as a
        /// pipeline's latency (§6.2.1: none; 2 us over links of 1 us).
        hop_processing: Ps = Ps(0) => [
            Effect::Unless(|bfc| because(
                bfc.is_silent() && bfc.assignment != Assignment::Dynamic,
                "nothing depends on the 1-hop RTT",
            )),
        ],
        /// Interval of the pause bitmap while a queue is paused, and for `empty_refreshes` bitmaps
        /// after that (§3.3.2: "periodically", without a figure).
        refresh_period: Ps = Ps::from_us(10) => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// Bitmaps sent after the last queue has resumed. They replace a resume frame that was
        /// lost, and may be lost themselves. The paper does not state when bitmaps end.
        empty_refreshes: u16 = 10 => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// Reserve one queue of every port, and of every NIC, for labelled flows: "BFC +
        /// IncastLabel assigns all the incast flows at an egress port to the same queue" (App.
        /// A.7).
        incast_queue: bool = false,
        /// The hardware of switches.
        hardware: Hardware = Hardware::Ideal,
        /// Share of packets that count in their flow's size and in the pause counters, drawn for
        /// each packet (App. A.8: 0.5, if hardware cannot recirculate every packet).
        sampling: f64 = 1.0,
        /// Whether NICs obey pauses (App. A.8: they do not in "BFC - NIC").
        nics_obey: bool = true => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
        ],
    }
}

impl BfcConfig {
    /// True if nothing is paused.
    pub(super) fn is_silent(&self) -> bool {
        self.backpressure == BackpressureKind::None
    }

    /// True if flows are paused one by one.
    pub(super) fn pauses_flows(&self) -> bool {
        self.backpressure == BackpressureKind::Flows
    }

    /// True if the number of active queues does not change a threshold.
    fn has_one_queue(&self) -> bool {
        self.data_queues() == 1 && self.backpressure != BackpressureKind::Occupancy
    }

    /// The number of queues for flows.
    #[must_use]
    pub fn data_queues(&self) -> u8 {
        match self.assignment {
            Assignment::Single => 1,
            _ => self.queues.saturating_sub(u8::from(self.reserve_control_queue)),
        }
    }

    /// Whether the size of the flow table decides which flows share a queue. Hashed queues and the
    /// table use the same hash. With a whole number of entries per queue, flows of one entry
    /// therefore have the same queue anyway.
    #[must_use]
    pub fn table_decides(&self) -> bool {
        match self.assignment {
            Assignment::Dynamic => true,
            Assignment::Stochastic => {
                self.data_queues() != self.queues || self.hardware == Hardware::Tofino
            }
            Assignment::Single => false,
        }
    }

    /// The queues for all flows, if classes do not divide them. A queue for labelled flows comes
    /// first, if there is one.
    pub(super) fn undivided(&self) -> Undivided {
        let first = u8::from(self.incast_queue);
        Undivided { first, count: self.data_queues() - first }
    }

    /// The queues of each class, if classes divide them. None of settings that `check` rejects.
    #[must_use]
    pub fn division(&self) -> Option<Division> {
        let queues = self.data_queues();
        let divides = (2..=CLASSES as u8).contains(&self.classes)
            && queues > 0
            && queues.is_multiple_of(self.classes);
        divides.then(|| Division::new(queues, self.classes))
    }

    /// How many 1-hop RTTs a flow without packets keeps its queue. This is 0 if flows are paused
    /// "directly using the flow ID without sticky queue assignments" (§3.3.2).
    #[must_use]
    pub fn sticky_hrtts(&self) -> f64 {
        match self.backpressure {
            BackpressureKind::Flows => 0.0,
            _ => self.sticky_hrtts,
        }
    }

    /// Checks what the types of the fields cannot.
    ///
    /// # Errors
    /// The field and what is wrong.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !(2..=128).contains(&self.queues) {
            return Err(("queues", "a port has 2 to 128 queues".into()));
        }
        if !(1..=1_000_000).contains(&self.table_factor) {
            let message = "the flow table has 1 to 1000000 entries for each queue";
            return Err(("table_factor", message.into()));
        }
        if !self.sticky_hrtts.is_finite() || self.sticky_hrtts > 1e6 {
            return Err((
                "sticky_hrtts",
                "a flow keeps its queue for 0 to 1000000 1-hop RTTs".into(),
            ));
        }
        if self.classes != 1 {
            self.check_classes()?;
        }
        if self.incast_queue && self.assignment != Assignment::Dynamic {
            let message = "only dynamic assignment can reserve a queue for labelled flows: set \
                           assignment = \"dynamic\"";
            return Err(("incast_queue", message.into()));
        }
        if self.incast_queue && self.data_queues() < 2 {
            return Err(("queues", "incast_queue = true leaves no queue for other flows".into()));
        }
        let needs_fixed = self.backpressure == BackpressureKind::Occupancy;
        if needs_fixed && self.threshold != ThresholdRule::Fixed {
            let message = "\"occupancy\" uses one threshold for pause and resume: set threshold = \
                           \"fixed\"";
            return Err(("backpressure", message.into()));
        }
        if self.refresh_period == Ps(0) {
            return Err(("refresh_period", "the period must be longer than zero".into()));
        }
        if !(self.sampling > 0.0 && self.sampling <= 1.0) {
            let message = "sampling is a share of the packets: more than 0, up to 1";
            return Err(("sampling", message.into()));
        }
        Ok(())
    }

    /// Classes need queues of their own, and pauses of queues.
    fn check_classes(&self) -> Result<(), (&'static str, String)> {
        let (classes, queues) = (self.classes, self.data_queues());
        if !(1..=CLASSES as u8).contains(&classes) {
            let message = format!("there are 1 to {CLASSES} traffic classes, as in packet headers");
            return Err(("classes", message));
        }
        self.check_beside_classes().map_err(|(key, message)| (key, message.to_owned()))?;
        if queues.is_multiple_of(classes) {
            return Ok(());
        }
        let reserved = if self.reserve_control_queue && self.queues.is_multiple_of(classes) {
            ": one of them is reserved for control frames; set reserve_control_queue = false to \
             send these in a separate queue (App. A.3)"
        } else {
            ""
        };
        let message = format!("{classes} classes cannot divide {queues} queues equally{reserved}");
        Err(("classes", message))
    }

    /// Rejects settings that the paper does not combine with classes.
    fn check_beside_classes(&self) -> Result<(), (&'static str, &'static str)> {
        if self.assignment == Assignment::Single {
            return Err(("assignment", "\"single\" has one queue, which classes cannot divide"));
        }
        if self.backpressure != BackpressureKind::Queues {
            return Err((
                "backpressure",
                "classes require \"queues\", the only kind in the paper (App. A.3)",
            ));
        }
        if self.hardware != Hardware::Ideal {
            return Err(("hardware", "classes require \"ideal\""));
        }
        if self.sampling < 1.0 {
            return Err(("sampling", "classes count every packet: set sampling = 1"));
        }
        if self.incast_queue {
            let message = "true puts labelled flows of all classes in one queue: set classes = 1";
            return Err(("incast_queue", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
