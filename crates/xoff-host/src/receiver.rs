//! The receiver's half of a flow.
//!
//! A flow of one packet needs none: its acknowledgement is made from the packet alone. The half of a
//! longer flow exists from its first packet to its last; what comes later is answered from its own
//! fields. Where packets may come again after that, it lingers, as TCP's TIME-WAIT does: a packet sent
//! again before the sender had heard anything looks like the first of its flow.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::Packet;
use xoff_net::packet::flag;

use crate::recovery::{Arrival, ReceiverHalf, ReceiverSetup, Reply};

/// How long a half lingers (ps): longer than a packet stays in any switch's buffer (32 MB at 100 Gb/s
/// are 2.6 ms).
pub(crate) const LINGER: u64 = 10_000_000_000;

/// What has come of a flow (bytes of payload).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Got {
    /// All that is kept, in any order; the last packet of a flow may be counted as a full one.
    pub received: u64,
    /// What comes before the first byte that is missing. With perfect recovery, which knows no order:
    /// all.
    pub delivered: u64,
}

#[derive(Debug)]
struct Half {
    recovery: ReceiverHalf,
    /// Until when no notification is sent (ps).
    unnotified_until: u64,
    /// Until when it lingers, having all bytes (ps); without end while it has not.
    until: u64,
}

/// All receivers of a partition, by flow.
#[derive(Debug)]
pub struct Receivers {
    halves: FxHashMap<u32, Half>,
    /// Those that linger, by when they are forgotten (ps).
    lingering: VecDeque<(u64, u32)>,
    setup: ReceiverSetup,
    notification_interval: Option<u64>,
    /// Data packets that came again, of flows that are remembered, where packets are kept out of order.
    pub repeated: u64,
}

impl Receivers {
    /// No receivers yet.
    #[must_use]
    pub fn new(setup: ReceiverSetup, notification_interval: Option<u64>) -> Self {
        Self {
            halves: FxHashMap::default(),
            lingering: VecDeque::new(),
            setup,
            notification_interval,
            repeated: 0,
        }
    }

    /// How many flows are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.halves.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// What has come of a flow, while its half exists. One that has lingered long enough is forgotten when
    /// the next packet comes to any of these hosts: until then it must not be seen.
    #[must_use]
    pub fn got(&self, now: u64, flow: u32) -> Option<Got> {
        let half = self.halves.get(&flow).filter(|half| half.until > now);
        half.map(|half| half.recovery.got(&self.setup))
    }

    /// A data packet of `payload` bytes arrived: the reply, and whether to notify its sender of
    /// congestion.
    #[inline(always)]
    pub fn on_data(&mut self, now: u64, packet: &Packet, payload: u64) -> (Reply, bool) {
        let data = packet.as_data();
        let end = data.offset() + payload + u64::from(data.remaining());
        if data.offset() == 0 && data.remaining() == 0 {
            return (Reply::Ack(payload), false);
        }
        if self.lingering.front().is_some_and(|&(until, _)| until <= now) {
            self.forget(now);
        }
        let half = match self.halves.entry(packet.flow) {
            Entry::Occupied(half) => half.into_mut(),
            // The sender has heard of this half, so it existed; it is gone, so it had all.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) => return (Reply::Ack(end), false),
            // A probe, and nothing before it: a flow of one packet never needs a half.
            Entry::Vacant(_) if payload == 0 => return (Reply::Ack(data.offset()), false),
            Entry::Vacant(place) => place.insert(Half {
                recovery: ReceiverHalf::new(self.setup.recovery),
                unnotified_until: 0,
                until: u64::MAX,
            }),
        };
        let notify = match self.notification_interval {
            Some(interval) if packet.has(flag::MARKED) && half.unnotified_until <= now => {
                half.unnotified_until = now + interval;
                true
            }
            _ => false,
        };
        let arrival = Arrival { now, seq: data.offset(), bytes: payload, end };
        let reply = half.recovery.on_data(&self.setup, &arrival);
        self.repeated += u64::from(half.recovery.repeated());
        if reply == Reply::Ack(end) && half.until == u64::MAX {
            if half.recovery.may_repeat() {
                half.until = now + LINGER;
                self.lingering.push_back((half.until, packet.flow));
            } else {
                self.halves.remove(&packet.flow);
            }
        }
        (reply, notify)
    }

    /// All bytes of a flow have come, though no packet said so: its sender stopped.
    pub fn end(&mut self, now: u64, flow: u32) {
        if let Some(half) = self.halves.get_mut(&flow)
            && half.until == u64::MAX
        {
            half.until = now + LINGER;
            self.lingering.push_back((half.until, flow));
        }
    }

    /// Forgets those that have lingered long enough.
    #[cold]
    fn forget(&mut self, now: u64) {
        while let Some(&(until, flow)) = self.lingering.front()
            && until <= now
        {
            self.halves.remove(&flow);
            self.lingering.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use xoff_net::Kind;

    use super::*;
    use crate::transport::Recovery;

    fn receivers(recovery: Recovery, nack_interval: u64, interval: Option<u64>) -> Receivers {
        Receivers::new(ReceiverSetup { recovery, nack_interval, payload: 1000 }, interval)
    }

    fn packet(seq: u64, remaining: u32) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.seq = seq;
        packet.remaining = remaining;
        packet.flow = 7;
        packet
    }

    #[test]
    fn go_back_n_asks_once_for_each_gap_and_forgets_a_finished_flow() {
        let mut receivers = receivers(Recovery::GoBackN, 500, None);
        let mut reply =
            |now, seq, remaining| receivers.on_data(now, &packet(seq, remaining), 1000).0;
        assert_eq!(reply(0, 0, 3000), Reply::Ack(1000));
        assert_eq!(reply(1, 2000, 1000), Reply::Nack { expected: 1000, kept: 0 });
        assert_eq!(reply(2, 3000, 0), Reply::Nothing);
        assert_eq!(reply(501, 3000, 0), Reply::Nack { expected: 1000, kept: 0 });
        assert_eq!(reply(600, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(601, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(602, 2000, 1000), Reply::Ack(3000));
        assert_eq!(reply(603, 3000, 0), Reply::Ack(4000));
        // Sent again before the sender had heard anything.
        assert_eq!(reply(604, 0, 3000), Reply::Ack(4000));
        assert_eq!(receivers.len(), 1);
        let mut late = packet(3000, 0);
        late.flags |= flag::PROGRESSED;
        assert_eq!(receivers.on_data(603 + LINGER, &late, 1000).0, Reply::Ack(4000));
        assert!(receivers.is_empty());
    }

    #[test]
    fn a_flow_without_a_gap_is_forgotten_at_once_unless_timeouts_are_short() {
        for (recovery, left) in [(Recovery::GoBackN, 0), (Recovery::SelectiveRepeat, 1)] {
            let mut receivers = receivers(recovery, 0, None);
            receivers.on_data(0, &packet(0, 1000), 1000);
            receivers.on_data(1, &packet(1000, 0), 1000);
            assert_eq!(receivers.len(), left);
        }
    }

    /// Whether another packet has come since, of any flow, must not be seen: that depends on the cut.
    #[test]
    fn a_half_that_has_lingered_says_nothing_before_it_is_forgotten() {
        let mut receivers = receivers(Recovery::SelectiveRepeat, 0, None);
        receivers.on_data(0, &packet(0, 1000), 1000);
        receivers.on_data(5, &packet(1000, 0), 1000);
        let all = Got { received: 2000, delivered: 2000 };
        assert_eq!(receivers.got(4 + LINGER, 7), Some(all));
        assert_eq!(receivers.got(5 + LINGER, 7), None);
        assert_eq!(receivers.len(), 1);
    }

    /// In order, ahead of its turn, after its turn, once all has come: each copy counts, no probe does.
    #[test]
    fn data_that_comes_again_is_counted() {
        for recovery in [Recovery::Sack, Recovery::SelectiveRepeat] {
            let mut receivers = receivers(recovery, 0, None);
            let mut repeated = |seq, payload: u64| {
                let remaining = (4000 - seq - payload) as u32;
                receivers.on_data(0, &packet(seq, remaining), payload);
                receivers.repeated
            };
            assert_eq!([(0, 1000), (2000, 1000)].map(|(seq, bytes)| repeated(seq, bytes)), [0, 0]);
            assert_eq!([(2000, 1000), (0, 1000)].map(|(seq, bytes)| repeated(seq, bytes)), [1, 2]);
            assert_eq!([(0, 0), (1000, 1000)].map(|(seq, bytes)| repeated(seq, bytes)), [2, 2]);
            assert_eq!(
                [(3000, 1000), (3000, 1000)].map(|(seq, bytes)| repeated(seq, bytes)),
                [2, 3]
            );
        }
    }

    #[test]
    fn perfect_recovery_counts_bytes_in_any_order() {
        let mut receivers = receivers(Recovery::Perfect, 0, None);
        let mut reply = |seq, remaining| receivers.on_data(0, &packet(seq, remaining), 1000).0;
        assert_eq!(reply(2000, 0), Reply::Ack(1000));
        assert_eq!(reply(0, 2000), Reply::Ack(2000));
        assert_eq!(reply(1000, 1000), Reply::Ack(3000));
        assert!(receivers.is_empty());
    }

    #[test]
    fn notifications_keep_their_distance() {
        let mut receivers = receivers(Recovery::GoBackN, 0, Some(50));
        let mut marked = packet(0, 5000);
        marked.flags |= flag::MARKED;
        let mut notified = |now| receivers.on_data(now, &marked, 1000).1;
        assert_eq!([0, 10, 49, 50, 51].map(&mut notified), [true, false, false, true, false]);
    }
}
