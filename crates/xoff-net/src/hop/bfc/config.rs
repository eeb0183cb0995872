//! BFC's settings.

use xoff_core::knobs::{Effect, because};
use xoff_core::{Ps, choices, knobs};

use crate::division::{Division, Undivided};
use crate::packet::CLASSES;

choices! {
    /// How flows get their queues (BFC §6.1).
    pub enum Assignment {
        /// An empty queue if there is one, otherwise a random one (§3.3.1).
        Dynamic = "dynamic",
        /// The queue that a hash of the flow names, at every switch ("BFC + stochastic").
        Stochastic = "stochastic",
        /// All flows in one queue ("BFC + single").
        Single = "single",
    }
}

choices! {
    /// Which of several empty queues is taken. The paper does not say.
    pub enum EmptyQueueOrder {
        /// The next one after the queue assigned last, going round: a queue that has just emptied,
        /// to which a flow may still stick, is taken last.
        Rotating = "rotating",
        /// The one with the lowest number.
        Lowest = "lowest",
    }
}

choices! {
    /// What is paused when a queue grows long.
    pub enum BackpressureKind {
        /// The upstream queues of packets that exceeded the threshold, until these have left (§3.3.2).
        Queues = "queues",
        /// The upstream queues of a queue above the threshold, while it is (§3.2).
        Occupancy = "occupancy",
        /// The flows of packets that exceeded the threshold, until these have left: "an ideal (but
        /// impractical) variant" (§3.3.2).
        Flows = "flows",
        /// Nothing: the assignment alone, under an end-to-end control (§6.4).
        None = "none",
    }
}

choices! {
    /// How long a queue may grow.
    pub enum ThresholdRule {
        /// The 1-hop BDP at the queue's drain rate: the port's, shared by its active queues (§3.3.2).
        Active = "active",
        /// The 1-hop BDP at the port's rate, however many queues are active (§3.2).
        Fixed = "fixed",
    }
}

choices! {
    /// What BFC runs on.
    pub enum Hardware {
        /// Switches that know and do everything at once.
        Ideal = "ideal",
        /// Tofino2, section `tofino`.
        Tofino = "tofino",
    }
}

knobs! {
    /// Backpressure flow control, at switches and NICs.
    pub struct BfcConfig in "bfc" {
        /// Queues of a port, with the control queue (§6.2.1: 32; Tofino2 has 128 at 400 Gb/s).
        queues: u8 = 32 => [
            Effect::Unless(|bfc| because(bfc.assignment == Assignment::Single, "bfc.assignment = \"single\" has one queue")),
        ],
        /// Take one of them for pause and resume frames: "this reduces the number of queues available
        /// for dynamic queue assignment by 1" (§3.3.2). Off where classes divide all queues (App. A.3).
        reserve_control_queue: bool = true => [
            Effect::Unless(|bfc| because(bfc.assignment == Assignment::Single, "bfc.assignment = \"single\" has one queue")),
        ],
        /// Traffic classes, among which the queues are divided: as many for each, strict priority
        /// between them, fair queueing within (App. A.3: 4). A packet's class is its traffic's priority;
        /// the last one takes in those after it.
        classes: u8 = 1,
        /// How flows get their queues.
        assignment: Assignment = Assignment::Dynamic,
        /// Which of several empty queues is taken.
        empty_queue: EmptyQueueOrder = EmptyQueueOrder::Rotating => [
            Effect::Unless(|bfc| because(bfc.assignment != Assignment::Dynamic, "a flow's queue never changes")),
        ],
        /// Flow-table entries of a port for each of its queues (§3.3.1: 100).
        table_factor: u32 = 100 => [
            Effect::Unless(|bfc| because(!bfc.table_decides(), "flows of one table entry have one queue in any case")),
        ],
        /// A flow keeps its queue for this many 1-hop RTTs after its last packet (§3.3.2: 2).
        sticky_hrtts: f64 = 2.0 => [
            Effect::Unless(|bfc| because(bfc.assignment != Assignment::Dynamic, "a flow's queue never changes")),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// What is paused when a queue grows long.
        backpressure: BackpressureKind = BackpressureKind::Queues,
        /// How long a queue may grow.
        threshold: ThresholdRule = ThresholdRule::Active => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.has_one_queue(), "there is one queue, active or not")),
        ],
        /// Pause threshold as a multiple of that (§3.3.2: 1).
        threshold_factor: f64 = 1.0 => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
        ],
        /// Part of the 1-hop RTT beside the propagation delay both ways, such as a pipeline's latency
        /// (§6.2.1 counts none: 2 us over links of 1 us).
        hop_processing: Ps = Ps(0) => [
            Effect::Unless(|bfc| because(bfc.is_silent() && bfc.assignment != Assignment::Dynamic, "nothing depends on the 1-hop RTT")),
        ],
        /// The pause bitmap is sent this often while some queue is paused, and for a while after
        /// (§3.3.2, "periodically"; the period is not stated).
        refresh_period: Ps = Ps::from_us(10) => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// How many bitmaps follow once no queue is paused any longer: each of them may be lost, as
        /// the resume frame may. The paper says nothing of an end.
        empty_refreshes: u16 = 10 => [
            Effect::Unless(|bfc| because(bfc.is_silent(), "bfc.backpressure = \"none\"")),
            Effect::Unless(|bfc| because(bfc.pauses_flows(), "bfc.backpressure = \"flows\"")),
        ],
        /// Keep a queue of every port, and of every NIC, for labelled flows: "BFC + IncastLabel assigns all
        /// the incast flows at an egress port to the same queue" (App. A.7).
        incast_queue: bool = false,
        /// What switches are made of.
        hardware: Hardware = Hardware::Ideal,
        /// Share of the packets that count in their flow's size and in the pause counters, drawn for each
        /// packet (App. A.8: 0.5, where hardware cannot recirculate all).
        sampling: f64 = 1.0,
        /// Whether NICs obey pauses (App. A.8, "BFC - NIC", where they do not).
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

    /// True if single flows are paused.
    pub(super) fn pauses_flows(&self) -> bool {
        self.backpressure == BackpressureKind::Flows
    }

    /// True if the number of active queues changes no threshold.
    fn has_one_queue(&self) -> bool {
        self.data_queues() == 1 && self.backpressure != BackpressureKind::Occupancy
    }

    /// Queues that flows are assigned to.
    #[must_use]
    pub fn data_queues(&self) -> u8 {
        match self.assignment {
            Assignment::Single => 1,
            _ => self.queues.saturating_sub(u8::from(self.reserve_control_queue)),
        }
    }

    /// Whether the size of the flow table decides which flows share a queue. Hashed queues and the table
    /// go by one hash, so where the table has a whole number of entries for each queue, flows of one
    /// entry have one queue anyway.
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

    /// The queues that are for all flows, where no classes divide them; there is one before them if
    /// labelled flows have theirs.
    pub(super) fn undivided(&self) -> Undivided {
        let first = u8::from(self.incast_queue);
        Undivided { first, count: self.data_queues() - first }
    }

    /// The queues of each class, where classes divide them.
    #[must_use]
    pub fn division(&self) -> Option<Division> {
        let queues = self.data_queues();
        let divides =
            (2..=CLASSES as u8).contains(&self.classes) && queues.is_multiple_of(self.classes);
        divides.then(|| Division::new(queues, self.classes))
    }

    /// For how many 1-hop RTTs a flow without packets keeps its queue: not at all where flows are paused
    /// "directly using the flow ID without sticky queue assignments" (§3.3.2).
    #[must_use]
    pub fn sticky_hrtts(&self) -> f64 {
        match self.backpressure {
            BackpressureKind::Flows => 0.0,
            _ => self.sticky_hrtts,
        }
    }

    /// Checks what the fields' types cannot.
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
            let message = "a queue for labelled flows is taken from those of dynamic assignment: set \
                           assignment = \"dynamic\"";
            return Err(("incast_queue", message.into()));
        }
        if self.incast_queue && self.data_queues() < 2 {
            return Err(("queues", "incast_queue = true leaves no queue for other flows".into()));
        }
        let needs_fixed = self.backpressure == BackpressureKind::Occupancy;
        if needs_fixed && self.threshold != ThresholdRule::Fixed {
            let message = "\"occupancy\" compares a queue with the same length when it grows and when it \
                           shrinks: set threshold = \"fixed\"";
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
            let message = format!("there are 1 to {CLASSES} traffic classes, as packets tell");
            return Err(("classes", message));
        }
        self.check_beside_classes().map_err(|(key, message)| (key, message.to_owned()))?;
        if queues.is_multiple_of(classes) {
            return Ok(());
        }
        let reserved = if self.reserve_control_queue && self.queues.is_multiple_of(classes) {
            ": one of them is reserved for control frames; set reserve_control_queue = false to send \
             these in a queue besides (App. A.3)"
        } else {
            ""
        };
        let message =
            format!("{classes} classes cannot have as many each of {queues} queues{reserved}");
        Err(("classes", message))
    }

    /// What the paper does not combine with classes.
    fn check_beside_classes(&self) -> Result<(), (&'static str, &'static str)> {
        if self.assignment == Assignment::Single {
            return Err(("assignment", "\"single\" has one queue, which classes cannot divide"));
        }
        if self.backpressure != BackpressureKind::Queues {
            return Err((
                "backpressure",
                "classes go with \"queues\", the paper's only (App. A.3)",
            ));
        }
        if self.hardware != Hardware::Ideal {
            return Err(("hardware", "classes go with \"ideal\": one limit at a time"));
        }
        if self.sampling < 1.0 {
            return Err(("sampling", "classes count every packet: set sampling = 1"));
        }
        if self.incast_queue {
            let message = "true has one queue for labelled flows of any class: set classes = 1";
            return Err(("incast_queue", message));
        }
        Ok(())
    }
}
