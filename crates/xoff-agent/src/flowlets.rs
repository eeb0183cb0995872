//! The agent's flowlets: flowlets of the data plane, joined where the buffer was empty for a short
//! time only.

use std::collections::HashMap;

use xoff_control::Detector;

use crate::plane::{Connection, Event};

/// What a reported flowlet is called. It is the number that the data plane gave its first part.
pub(crate) type Number = u64;

/// A change that the allocator must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Started {
        number: Number,
        connection: Connection,
    },
    Ended {
        number: Number,
    },
    /// A flowlet goes on after a short pause: the data plane has given it another number, and must
    /// learn its rate, if it has one.
    Resumed {
        part: u64,
        rate: Option<u64>,
    },
}

#[derive(Debug)]
struct Flowlet {
    connection: Connection,
    /// Its number in the data plane, and whether it has ended there.
    part: u64,
    is_idle: bool,
    started_ns: u64,
    rate: Option<u64>,
}

/// Flowlets that the allocator knows.
#[derive(Debug)]
pub(crate) struct Flowlets {
    idle_ns: u64,
    flowlets: HashMap<Number, Flowlet>,
    of_part: HashMap<u64, Number>,
    detector: Detector<Connection, Number>,
}

impl Flowlets {
    /// A flowlet ends after its buffer was empty for this time.
    pub(crate) fn new(idle_ns: u64) -> Self {
        Self {
            idle_ns,
            flowlets: HashMap::new(),
            of_part: HashMap::new(),
            detector: Detector::default(),
        }
    }

    pub(crate) fn on_event(&mut self, event: &Event) -> Option<Change> {
        match *event {
            Event::Start { flowlet: part, connection, time_ns } => {
                Some(self.on_start(part, connection, time_ns))
            }
            Event::End { flowlet: part, time_ns, is_closed } => {
                let number = self.of_part.remove(&part)?;
                let flowlet = self.flowlets.get_mut(&number)?;
                flowlet.is_idle = true;
                let connection = flowlet.connection;
                if is_closed {
                    let closed = self.detector.close(connection);
                    return closed.map(|number| self.ended(number));
                }
                self.detector.on_empty(connection, time_ns.saturating_add(self.idle_ns));
                None
            }
        }
    }

    fn on_start(&mut self, part: u64, connection: Connection, time_ns: u64) -> Change {
        let number = self.detector.on_data(connection, part);
        self.of_part.insert(part, number);
        if let Some(flowlet) = self.flowlets.get_mut(&number) {
            // If the end of the part before was lost, this is how it is noticed.
            self.of_part.remove(&flowlet.part);
            flowlet.part = part;
            flowlet.is_idle = false;
            return Change::Resumed { part, rate: flowlet.rate };
        }
        let (is_idle, rate) = (false, None);
        let flowlet = Flowlet { connection, part, is_idle, started_ns: time_ns, rate };
        self.flowlets.insert(number, flowlet);
        Change::Started { number, connection }
    }

    /// The next flowlet whose buffer has been empty for long enough.
    pub(crate) fn next_end(&mut self, now_ns: u64) -> Option<Change> {
        self.detector.next_end(now_ns).map(|number| self.ended(number))
    }

    fn ended(&mut self, number: Number) -> Change {
        self.flowlets.remove(&number);
        Change::Ended { number }
    }

    /// When the next flowlet may end.
    pub(crate) fn deadline_ns(&self) -> Option<u64> {
        self.detector.deadline()
    }

    /// A flowlet has a new rate. Returns its number in the data plane if its buffer has data, and
    /// when it started if this is its first rate.
    pub(crate) fn on_rate(
        &mut self,
        number: Number,
        rate: Option<u64>,
    ) -> Option<(u64, Option<u64>)> {
        let flowlet = self.flowlets.get_mut(&number)?;
        let is_first = flowlet.rate.is_none();
        flowlet.rate = rate;
        (!flowlet.is_idle).then_some((flowlet.part, is_first.then_some(flowlet.started_ns)))
    }

    /// Number of flowlets with a rate, and the sum of their rates.
    pub(crate) fn paced(&self) -> (u64, u64) {
        let rates = self.flowlets.values().filter_map(|flowlet| flowlet.rate);
        rates.fold((0, 0), |(number, sum), rate| (number + 1, sum.saturating_add(rate)))
    }

    /// Numbers in the data plane of the flowlets whose buffers are not empty, in their order.
    pub(crate) fn parts(&self) -> Vec<u64> {
        let mut parts: Vec<u64> = self.of_part.keys().copied().collect();
        parts.sort_unstable();
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(port: u16) -> Connection {
        Connection { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 2], 80).into() }
    }

    fn start(flowlet: u64, port: u16, time_ns: u64) -> Event {
        Event::Start { flowlet, connection: connection(port), time_ns }
    }

    fn end(flowlet: u64, time_ns: u64) -> Event {
        Event::End { flowlet, time_ns, is_closed: false }
    }

    #[test]
    fn a_closed_connection_ends_at_once() {
        let mut flowlets = Flowlets::new(100);
        flowlets.on_event(&start(1, 5, 10));
        let closed = Event::End { flowlet: 1, time_ns: 20, is_closed: true };
        assert_eq!(flowlets.on_event(&closed), Some(Change::Ended { number: 1 }));
        assert_eq!((flowlets.on_event(&closed), flowlets.deadline_ns()), (None, None));
    }

    #[test]
    fn a_flowlet_ends_after_a_pause() {
        let mut flowlets = Flowlets::new(100);
        let started = Change::Started { number: 1, connection: connection(5) };
        assert_eq!(flowlets.on_event(&start(1, 5, 10)), Some(started));
        assert_eq!(flowlets.on_rate(1, Some(7)), Some((1, Some(10))));
        assert_eq!(flowlets.on_event(&end(1, 20)), None);
        assert_eq!((flowlets.on_rate(1, Some(8)), flowlets.deadline_ns()), (None, Some(120)));
        assert_eq!(flowlets.next_end(119), None);
        assert_eq!(flowlets.next_end(120), Some(Change::Ended { number: 1 }));
        assert_eq!((flowlets.next_end(u64::MAX), flowlets.deadline_ns()), (None, None));
        assert!(flowlets.flowlets.is_empty() && flowlets.detector.is_empty());
    }

    #[test]
    fn a_short_pause_is_no_end() {
        let mut flowlets = Flowlets::new(100);
        flowlets.on_event(&start(1, 5, 10));
        flowlets.on_rate(1, Some(7));
        flowlets.on_event(&end(1, 20));
        let resumed = Some(Change::Resumed { part: 2, rate: Some(7) });
        assert_eq!(flowlets.on_event(&start(2, 5, 50)), resumed);
        assert_eq!(flowlets.on_rate(1, Some(8)), Some((2, None)));
        assert_eq!(flowlets.next_end(1000), None);
        flowlets.on_event(&end(2, 2000));
        assert_eq!(flowlets.next_end(2100), Some(Change::Ended { number: 1 }));
    }

    #[test]
    fn connections_have_flowlets_of_their_own() {
        let mut flowlets = Flowlets::new(0);
        flowlets.on_event(&start(1, 5, 10));
        flowlets.on_event(&start(2, 6, 10));
        assert_eq!(flowlets.parts(), [1, 2]);
        flowlets.on_event(&end(1, 20));
        assert_eq!(flowlets.next_end(20), Some(Change::Ended { number: 1 }));
        assert_eq!(flowlets.on_rate(1, Some(7)), None);
        assert_eq!(flowlets.parts(), [2]);
    }

    #[test]
    fn an_end_that_was_lost_does_no_harm() {
        let mut flowlets = Flowlets::new(100);
        flowlets.on_event(&start(1, 5, 10));
        let resumed = Some(Change::Resumed { part: 2, rate: None });
        assert_eq!(flowlets.on_event(&start(2, 5, 50)), resumed);
        assert_eq!(flowlets.on_event(&end(1, 60)), None);
        assert_eq!(flowlets.paced(), (0, 0));
        assert_eq!(flowlets.on_rate(1, Some(8)), Some((2, Some(10))));
        assert_eq!(flowlets.paced(), (1, 8));
        assert_eq!(flowlets.parts(), [2]);
    }
}
