//! The receiver's half of a flow.
//!
//! A flow of one packet needs none: its acknowledgement is made from the packet alone. The half of a
//! longer flow exists from its first packet to its last; what comes later is answered from its own
//! fields.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::Packet;
use xoff_net::packet::flag;

use crate::transport::Recovery;

/// What to send back for a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Everything before this byte has come.
    Ack(u64),
    /// The packet at this byte is missing.
    Nack(u64),
    /// Nothing: this gap was reported a moment ago, or the packet came twice.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Half {
    /// Next byte expected; with perfect recovery, bytes received in any order.
    expected: u64,
    /// The gap reported last, and until when it is not reported again (ps).
    reported: u64,
    quiet_until: u64,
    /// Until when no notification is sent (ps).
    unnotified_until: u64,
}

/// All receivers of a partition, by flow.
#[derive(Debug)]
pub struct Receivers {
    halves: FxHashMap<u32, Half>,
    recovery: Recovery,
    nack_interval: u64,
    notification_interval: Option<u64>,
}

impl Receivers {
    /// No receivers yet.
    #[must_use]
    pub fn new(recovery: Recovery, nack_interval: u64, notification_interval: Option<u64>) -> Self {
        Self { halves: FxHashMap::default(), recovery, nack_interval, notification_interval }
    }

    /// How many flows are being received.
    #[must_use]
    pub fn len(&self) -> usize {
        self.halves.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// A data packet of `payload` bytes arrived: the reply, and whether to notify its sender of
    /// congestion.
    #[inline]
    pub fn on_data(&mut self, now: u64, packet: &Packet, payload: u64) -> (Reply, bool) {
        let end = packet.seq + payload + u64::from(packet.remaining);
        if packet.seq == 0 && packet.remaining == 0 {
            return (Reply::Ack(payload), false);
        }
        let half = match self.halves.entry(packet.flow) {
            Entry::Occupied(half) => half.into_mut(),
            // Something was acknowledged, so this half existed; it is gone, so it had all.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) => return (Reply::Ack(end), false),
            Entry::Vacant(place) => place.insert(Half::default()),
        };
        let notify = match self.notification_interval {
            Some(interval) if packet.has(flag::MARKED) && half.unnotified_until <= now => {
                half.unnotified_until = now + interval;
                true
            }
            _ => false,
        };
        let reply = match self.recovery {
            Recovery::Perfect => {
                half.expected += payload;
                Reply::Ack(half.expected)
            }
            Recovery::GoBackN => half.go_back_n(now, packet.seq, payload, self.nack_interval),
        };
        if reply == Reply::Ack(end) {
            self.halves.remove(&packet.flow);
        }
        (reply, notify)
    }
}

impl Default for Half {
    fn default() -> Self {
        Self { expected: 0, reported: u64::MAX, quiet_until: 0, unnotified_until: 0 }
    }
}

impl Half {
    fn go_back_n(&mut self, now: u64, seq: u64, payload: u64, interval: u64) -> Reply {
        match seq.cmp(&self.expected) {
            std::cmp::Ordering::Equal => {
                self.expected += payload;
                Reply::Ack(self.expected)
            }
            std::cmp::Ordering::Greater => {
                if self.reported == self.expected && now < self.quiet_until {
                    return Reply::Nothing;
                }
                self.reported = self.expected;
                self.quiet_until = now + interval;
                Reply::Nack(self.expected)
            }
            // Sent twice: the acknowledgement tells the sender how far it is.
            std::cmp::Ordering::Less => Reply::Ack(self.expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::Kind;

    use super::*;

    fn packet(seq: u64, remaining: u32) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.seq = seq;
        packet.remaining = remaining;
        packet.flow = 7;
        packet
    }

    #[test]
    fn go_back_n_asks_once_for_each_gap_and_forgets_a_finished_flow() {
        let mut receivers = Receivers::new(Recovery::GoBackN, 500, None);
        let mut reply =
            |now, seq, remaining| receivers.on_data(now, &packet(seq, remaining), 1000).0;
        assert_eq!(reply(0, 0, 3000), Reply::Ack(1000));
        assert_eq!(reply(1, 2000, 1000), Reply::Nack(1000));
        assert_eq!(reply(2, 3000, 0), Reply::Nothing);
        assert_eq!(reply(501, 3000, 0), Reply::Nack(1000));
        assert_eq!(reply(600, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(601, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(602, 2000, 1000), Reply::Ack(3000));
        assert_eq!(reply(603, 3000, 0), Reply::Ack(4000));
        assert!(receivers.is_empty());
        let mut late = packet(3000, 0);
        late.flags |= flag::PROGRESSED;
        assert_eq!(receivers.on_data(700, &late, 1000).0, Reply::Ack(4000));
        assert!(receivers.is_empty());
    }

    #[test]
    fn perfect_recovery_counts_bytes_in_any_order() {
        let mut receivers = Receivers::new(Recovery::Perfect, 0, None);
        let mut reply = |seq, remaining| receivers.on_data(0, &packet(seq, remaining), 1000).0;
        assert_eq!(reply(2000, 0), Reply::Ack(1000));
        assert_eq!(reply(0, 2000), Reply::Ack(2000));
        assert_eq!(reply(1000, 1000), Reply::Ack(3000));
        assert!(receivers.is_empty());
    }

    #[test]
    fn notifications_keep_their_distance() {
        let mut receivers = Receivers::new(Recovery::GoBackN, 0, Some(50));
        let mut marked = packet(0, 5000);
        marked.flags |= flag::MARKED;
        let mut notified = |now| receivers.on_data(now, &marked, 1000).1;
        assert_eq!([0, 10, 49, 50, 51].map(&mut notified), [true, false, false, true, false]);
    }
}
