//! Messages that go one after another, as those of a queue pair of RDMA or of a TCP connection.
//!
//! If messages to one host shared a link instead, all that wait behind a jam would end at its very
//! end, and would make the next host jam its link in turn.

use std::collections::{BTreeMap, VecDeque};

use xoff_core::HostId;
use xoff_core::program::Act;

/// A connection: a lane of a host to another host.
type Connection = (u32, HostId);

/// The connections of a host that have a message which has not left.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    /// The messages that wait behind the leaving one, with their bytes.
    connections: BTreeMap<Connection, VecDeque<(u64, u64)>>,
    /// The connection of each message that is leaving.
    leaving: BTreeMap<u64, Connection>,
}

impl InOrder {
    /// Sends a message when those before it on its connection have left.
    pub(crate) fn send(
        &mut self,
        connection: Connection,
        message: u64,
        bytes: u64,
        acts: &mut Vec<Act>,
    ) {
        if let Some(behind) = self.connections.get_mut(&connection) {
            behind.push_back((message, bytes));
            return;
        }
        self.connections.insert(connection, VecDeque::new());
        self.leaving.insert(message, connection);
        acts.push(Act::Send { message, to: connection.1, bytes });
    }

    /// A message has left, or is acknowledged; it may be reported again.
    pub(crate) fn left(&mut self, message: u64, acts: &mut Vec<Act>) {
        let Some(connection) = self.leaving.remove(&message) else { return };
        let Some(mut behind) = self.connections.remove(&connection) else { return };
        if let Some((next, bytes)) = behind.pop_front() {
            self.connections.insert(connection, behind);
            self.leaving.insert(next, connection);
            acts.push(Act::Send { message: next, to: connection.1, bytes });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_connection_follow_one_another() {
        let (mut connections, mut acts) = (InOrder::default(), Vec::new());
        let to = |lane, host| (lane, HostId(host));
        for (message, connection) in [(1, to(0, 7)), (2, to(0, 7)), (3, to(1, 7)), (4, to(0, 8))] {
            connections.send(connection, message, 10 * message, &mut acts);
        }
        let numbers = |acts: &mut Vec<Act>| -> Vec<u64> {
            let number = |act| if let Act::Send { message, .. } = act { message } else { 0 };
            acts.drain(..).map(number).collect()
        };
        assert_eq!(numbers(&mut acts), [1, 3, 4]);
        connections.left(3, &mut acts);
        assert!(numbers(&mut acts).is_empty());
        connections.left(1, &mut acts);
        connections.left(1, &mut acts);
        assert_eq!(acts, [Act::Send { message: 2, to: HostId(7), bytes: 20 }]);
        acts.clear();
        connections.left(2, &mut acts);
        connections.send(to(0, 7), 5, 1, &mut acts);
        assert_eq!(numbers(&mut acts), [5]);
    }
}
