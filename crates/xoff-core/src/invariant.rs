//! Invariants: statements about the state of a simulation that hold at all times, and violations of
//! them. What is counted step by step is counted again from the packets and flows themselves.

use std::fmt;

use crate::{FlowId, NodeId};

/// Declares the checkers: each with its name and the statement that it checks.
macro_rules! checkers {
    ($($(#[doc = $statement:literal])+ $checker:ident = $name:literal,)*) => {
        /// A checker of one kind of invariant. Its documentation is the statement that it checks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Checker {
            $($(#[doc = $statement])+ $checker,)*
        }

        impl Checker {
            /// All checkers.
            pub const ALL: &[Self] = &[$(Self::$checker),*];

            /// Its name in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$checker => $name,)*
                }
            }

            /// The statement that it checks.
            #[must_use]
            pub fn statement(self) -> &'static str {
                match self {
                    $(Self::$checker => concat!($($statement,)+).trim_ascii(),)*
                }
            }
        }
    };
}

checkers! {
    /// Every packet is in exactly one place: a queue, a link, a service or a stage of a switch.
    Packets = "packets",
    /// The payload that hosts have sent has arrived, is on its way, or was lost.
    Bytes = "bytes",
    /// A switch uses as much memory as its packets take, and counts them at their ingress.
    Buffers = "buffers",
    /// The bytes and packets that a queue counts are those of the packets in it.
    Queues = "queues",
    /// A port with a packet that may be sent is busy, and wakes when it is idle again.
    Work = "work",
    /// A pause has a reason at the switch that asked for it, and both ends of a link agree on it.
    Pauses = "pauses",
    /// Nothing leaves a queue while the queue is paused.
    Paused = "paused",
    /// A switch whose memory cannot fill up drops no packet.
    Losses = "losses",
    /// Packets leave a queue in the order in which they joined it, and do not overlap on a link.
    Order = "order",
    /// A sender stays within its data, its window, its credit and its pace.
    Limits = "limits",
    /// Every slot of a flow is in use or free, and a NIC's lists are those of its flows.
    Slots = "slots",
    /// No timer of a flow that has ended is armed.
    Timers = "timers",
}

/// The part of a network that a violation concerns, as far as it is known: a flow, or a node, one
/// of its ports, a queue of that port. Whoever audits a larger part adds what a smaller one cannot
/// know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// A host or a switch.
    pub node: Option<NodeId>,
    /// The number of a port at its node.
    pub port: Option<u16>,
    /// The number of a queue of the port, or of the port at the other end of its link.
    pub queue: Option<u8>,
    /// A flow.
    pub flow: Option<FlowId>,
}

impl Part {
    /// A host or a switch.
    #[must_use]
    pub fn node(node: NodeId) -> Self {
        Self { node: Some(node), ..Self::default() }
    }

    /// The port of this number.
    #[must_use]
    pub fn port(number: u16) -> Self {
        Self { port: Some(number), ..Self::default() }
    }

    /// The queue of this number.
    #[must_use]
    pub fn queue(number: u8) -> Self {
        Self { queue: Some(number), ..Self::default() }
    }

    /// A flow.
    #[must_use]
    pub fn flow(flow: FlowId) -> Self {
        Self { flow: Some(flow), ..Self::default() }
    }

    /// The same part of a larger one.
    #[must_use]
    pub fn of(self, larger: Self) -> Self {
        Self {
            node: self.node.or(larger.node),
            port: self.port.or(larger.port),
            queue: self.queue.or(larger.queue),
            flow: self.flow.or(larger.flow),
        }
    }
}

/// The recent events of a part, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    /// The part; empty if no part has events.
    pub of: String,
    /// A line for each event, with its time, in their order.
    pub events: Vec<String>,
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The checker that found it.
    pub checker: Checker,
    /// When it was found (ps), or when it happened if that is known.
    pub time_ps: u64,
    /// Where: the part concerned, in words. Callers put the part that contains it in front.
    pub place: String,
    /// The part concerned.
    pub part: Part,
    /// What should hold.
    pub expected: String,
    /// What holds instead.
    pub found: String,
    /// The state of the part.
    pub state: String,
    /// What happened there last.
    pub recent: Recent,
}

impl Violation {
    /// A violation found now.
    pub fn new(
        checker: Checker,
        place: impl Into<String>,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self {
            checker,
            time_ps: 0,
            place: place.into(),
            part: Part::default(),
            expected: expected.to_string(),
            found: found.to_string(),
            state: String::new(),
            recent: Recent::default(),
        }
    }

    /// The same, within a larger part.
    #[must_use]
    pub fn within(mut self, part: &str) -> Self {
        let inner = std::mem::take(&mut self.place);
        self.place = if inner.is_empty() { part.to_owned() } else { format!("{part}, {inner}") };
        self
    }

    /// The same, of a part, or of a part of it that is already known.
    #[must_use]
    pub fn of(mut self, part: Part) -> Self {
        self.part = self.part.of(part);
        self
    }

    /// The same, at a time.
    #[must_use]
    pub fn at(mut self, time_ps: u64) -> Self {
        self.time_ps = time_ps;
        self
    }

    /// The same, with the state of the part.
    #[must_use]
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.state = state.into();
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { checker, time_ps, place, part: _, expected, found, state, recent } = self;
        write!(
            f,
            "invariant \"{}\" does not hold at {}: {place}\n  {}\n  expected: {expected}\n  found: \
             {found}",
            checker.name(),
            crate::Ps(*time_ps),
            checker.statement(),
        )?;
        if !state.is_empty() {
            write!(f, "\n  state: {state}")?;
        }
        if !recent.of.is_empty() {
            let none = if recent.events.is_empty() { " none" } else { "" };
            write!(f, "\n  recent events of {}:{none}", recent.of)?;
            recent.events.iter().try_for_each(|event| write!(f, "\n    {event}"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}

/// Fails unless a count is what it should be.
///
/// # Errors
/// The violation.
pub fn equal<T: PartialEq + fmt::Display>(
    checker: Checker,
    expected: T,
    found: T,
    place: impl FnOnce() -> String,
) -> Result<(), Box<Violation>> {
    if expected == found {
        return Ok(());
    }
    Err(Box::new(Violation::new(checker, place(), expected, found)))
}

/// Fails unless a condition holds.
///
/// # Errors
/// The violation that the function describes.
pub fn holds(condition: bool, violation: impl FnOnce() -> Violation) -> Result<(), Box<Violation>> {
    if condition { Ok(()) } else { Err(Box::new(violation())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_checker_place_and_values() {
        let place = || "queue 3".to_owned();
        assert_eq!(equal(Checker::Queues, 1, 1, place), Ok(()));
        let violation = equal(Checker::Queues, 2000, 1000, place).unwrap_err();
        let violation = violation.within("port 1").at(5_000_000).with_state("idle");
        assert_eq!(
            violation.to_string(),
            "invariant \"queues\" does not hold at 5us: port 1, queue 3\n  The bytes and packets \
             that a queue counts are those of the packets in it.\n  expected: 2000\n  found: \
             1000\n  state: idle"
        );
    }

    #[test]
    fn a_violation_lists_recent_events_of_its_part() {
        let mut violation = Violation::new(Checker::Queues, "queue 3", 2, 1);
        let shown = violation.to_string();
        let events = vec!["1.5us  sent".to_owned(), "1.6us  dropped".to_owned()];
        violation.recent = Recent { of: "queue 3".to_owned(), events };
        let listed = "\n  recent events of queue 3:\n    1.5us  sent\n    1.6us  dropped";
        assert_eq!(violation.to_string(), shown.clone() + listed);
        violation.recent.events.clear();
        assert_eq!(violation.to_string(), shown + "\n  recent events of queue 3: none");
    }

    #[test]
    fn the_smallest_part_is_kept() {
        let violation = Violation::new(Checker::Queues, "queue 3", 2, 1).of(Part::queue(3));
        let violation = violation.of(Part::port(2)).of(Part::port(9).of(Part::node(NodeId(5))));
        let (node, port, queue) = (Some(NodeId(5)), Some(2), Some(3));
        assert_eq!(violation.part, Part { node, port, queue, flow: None });
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = Checker::ALL.iter().map(|checker| checker.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Checker::ALL.len());
    }
}
