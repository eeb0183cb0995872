//! The receiver's half of a flow.
//!
//! A flow of one packet needs no half: the packet alone determines its acknowledgement. The half of
//! a longer flow exists from its first packet to its last; later packets are answered from their
//! own fields. If packets may arrive again afterwards, the half lingers, like TCP's TIME-WAIT. A
//! packet retransmitted before the sender got any acknowledgement looks like the first of its flow.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use xoff_net::Packet;
use xoff_net::packet::flag;

use crate::recovery::{Arrival, ReceiverHalf, ReceiverSetup, Reply, RxProgress};

/// How long a half lingers (ps): longer than a packet stays in any switch's buffer (32 MB at 100
/// Gb/s take 2.6 ms).
pub(crate) const LINGER: u64 = 10_000_000_000;

#[derive(Debug)]
struct Half {
    recovery: ReceiverHalf,
    /// Time before which no notification is sent (ps).
    unnotified_until: u64,
    /// End of its linger time, once it has all bytes (ps); `u64::MAX` before that.
    until: u64,
    /// The largest end of the flow that a packet has given, if beyond 4.29 GB.
    end: u64,
}

impl Half {
    /// The end of a flow of more than 4.29 GB. A packet tells how much comes behind it in 32 bits
    /// only, so the end may be known from a packet that has overtaken it.
    #[cold]
    fn far_end(&mut self, given: u64) -> u64 {
        self.end = self.end.max(given);
        self.end
    }
}

/// What the receiver made of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The reply.
    pub reply: Reply,
    /// Whether to send the sender a congestion notification.
    pub notify: bool,
    /// End of the flow. It may be too small beyond 4.29 GB, until all bytes have arrived or after
    /// the half is gone.
    pub end: u64,
}

/// All receivers of a partition, by flow.
#[derive(Debug)]
pub struct Receivers {
    halves: FxHashMap<u32, Half>,
    /// Lingering halves, by the time they are removed (ps).
    lingering: VecDeque<(u64, u32)>,
    setup: ReceiverSetup,
    notification_interval: Option<u64>,
    /// Duplicate data packets of flows with a half, for recoveries that keep out-of-order packets.
    pub repeated: u64,
}

impl Receivers {
    /// Creates it without receivers.
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

    /// Number of halves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.halves.len()
    }

    /// True if there are no halves.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// Receive progress of a flow, while its half exists. A half past its linger time is removed at
    /// the next packet to any of these hosts; until then this function must ignore it.
    #[must_use]
    pub fn rx_progress(&self, now: u64, flow: u32) -> Option<RxProgress> {
        let half = self.halves.get(&flow).filter(|half| half.until > now);
        half.map(|half| half.recovery.rx_progress(&self.setup))
    }

    /// Blocks of out-of-order packets of a flow that a selective acknowledgement can report.
    #[must_use]
    pub fn blocks(&self, flow: u32) -> u16 {
        let blocks = self.halves.get(&flow).map_or(0, |half| half.recovery.blocks());
        u16::try_from(blocks).unwrap_or(u16::MAX)
    }

    /// Processes a data packet of `payload` bytes.
    #[inline(always)]
    pub fn on_data(&mut self, now: u64, packet: &Packet, payload: u64) -> Received {
        let data = packet.as_data();
        let end = data.offset() + payload + u64::from(data.remaining());
        if data.offset() == 0 && data.remaining() == 0 {
            let acknowledged = self.setup.chunks.acknowledges(payload);
            let reply = if acknowledged { Reply::Ack(payload) } else { Reply::Nothing };
            return Received { reply, notify: false, end };
        }
        if self.lingering.front().is_some_and(|&(until, _)| until <= now) {
            self.forget(now);
        }
        let half = match self.halves.entry(packet.flow) {
            Entry::Occupied(half) => half.into_mut(),
            // The sender has had a reply from this half, so it existed. It is gone, so it had all
            // bytes.
            Entry::Vacant(_) if packet.has(flag::PROGRESSED) && !self.setup.literal => {
                return Received { reply: Reply::Ack(end), notify: false, end };
            }
            // A probe without earlier data: a flow of one packet never has a half.
            Entry::Vacant(_) if payload == 0 => {
                return Received { reply: Reply::Ack(data.offset()), notify: false, end };
            }
            Entry::Vacant(place) => place.insert(Half {
                recovery: ReceiverHalf::new(self.setup.recovery),
                unnotified_until: 0,
                until: u64::MAX,
                end: 0,
            }),
        };
        let end = if end > u64::from(u32::MAX) { half.far_end(end) } else { end };
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
            if self.setup.literal && half.recovery.may_repeat() {
                // It lives until the flow ends.
            } else if half.recovery.may_repeat() {
                half.until = now + LINGER;
                self.lingering.push_back((half.until, packet.flow));
            } else {
                self.halves.remove(&packet.flow);
            }
        }
        Received { reply, notify, end }
    }

    /// All bytes of a flow have arrived, though no packet said so: its sender stopped.
    pub fn end(&mut self, now: u64, flow: u32) {
        if let Some(half) = self.halves.get_mut(&flow)
            && half.until == u64::MAX
        {
            half.until = now + LINGER;
            self.lingering.push_back((half.until, flow));
        }
    }

    /// Removes the half of a flow. If one of its packets still arrives, it is the first of a new
    /// half.
    pub fn forget_flow(&mut self, flow: u32) {
        self.halves.remove(&flow);
    }

    /// Removes halves past their linger time.
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
    use crate::recovery::Chunks;
    use crate::transport::Recovery;

    fn receivers(recovery: Recovery, nack_interval: u64, interval: Option<u64>) -> Receivers {
        let (payload, chunks) = (1000, Chunks::default());
        let setup = ReceiverSetup { recovery, nack_interval, payload, chunks, literal: false };
        Receivers::new(setup, interval)
    }

    fn packet(seq: u64, remaining: u32) -> Packet {
        let mut packet = Packet::new(Kind::Data, 1048);
        packet.seq = seq;
        packet.remaining = remaining;
        packet.flow = 7;
        packet
    }

    #[test]
    fn go_back_n_requests_each_gap_once_and_forgets_a_finished_flow() {
        let mut receivers = receivers(Recovery::GoBackN, 500, None);
        let mut reply =
            |now, seq, remaining| receivers.on_data(now, &packet(seq, remaining), 1000).reply;
        assert_eq!(reply(0, 0, 3000), Reply::Ack(1000));
        assert_eq!(reply(1, 2000, 1000), Reply::Nack { expected: 1000, kept: 0 });
        assert_eq!(reply(2, 3000, 0), Reply::Nothing);
        assert_eq!(reply(501, 3000, 0), Reply::Nack { expected: 1000, kept: 0 });
        assert_eq!(reply(600, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(601, 1000, 2000), Reply::Ack(2000));
        assert_eq!(reply(602, 2000, 1000), Reply::Ack(3000));
        assert_eq!(reply(603, 3000, 0), Reply::Ack(4000));
        // Retransmitted before the sender got any acknowledgement.
        assert_eq!(reply(604, 0, 3000), Reply::Ack(4000));
        assert_eq!(receivers.len(), 1);
        let mut late = packet(3000, 0);
        late.flags |= flag::PROGRESSED;
        assert_eq!(receivers.on_data(603 + LINGER, &late, 1000).reply, Reply::Ack(4000));
        assert!(receivers.is_empty());
    }

    /// In the HPCC simulator duplicates get no reply. A receiver that has forgotten a flow takes a
    /// late packet for one of a new flow.
    #[test]
    fn literal_go_back_n_keeps_silent_about_duplicates() {
        let mut receivers = receivers(Recovery::GoBackN, 500, None);
        receivers.setup.literal = true;
        let mut late = packet(2000, 0);
        late.flags |= flag::PROGRESSED;
        let mut reply = |now, packet| receivers.on_data(now, &packet, 1000).reply;
        assert_eq!(reply(0, packet(0, 2000)), Reply::Ack(1000));
        assert_eq!(reply(1, packet(2000, 0)), Reply::Nack { expected: 1000, kept: 0 });
        assert_eq!(reply(2, packet(1000, 1000)), Reply::Ack(2000));
        assert_eq!(reply(3, packet(1000, 1000)), Reply::Nothing);
        assert_eq!(reply(4, packet(2000, 0)), Reply::Ack(3000));
        receivers.forget_flow(7);
        let mut reply = |now| receivers.on_data(now, &late, 1000).reply;
        let replies = [5, 504, 505].map(&mut reply);
        let nack = Reply::Nack { expected: 0, kept: 0 };
        assert_eq!(replies, [nack, Reply::Nothing, nack]);
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

    /// The result must not depend on packets of other flows, since those depend on the
    /// partitioning.
    #[test]
    fn a_half_past_its_linger_time_is_not_reported() {
        let mut receivers = receivers(Recovery::SelectiveRepeat, 0, None);
        receivers.on_data(0, &packet(0, 1000), 1000);
        receivers.on_data(5, &packet(1000, 0), 1000);
        let all = RxProgress { received: 2000, delivered: 2000 };
        assert_eq!(receivers.rx_progress(4 + LINGER, 7), Some(all));
        assert_eq!(receivers.rx_progress(5 + LINGER, 7), None);
        assert_eq!(receivers.len(), 1);
    }

    /// In order, out of order, late, and after all have arrived: each duplicate counts, no probe
    /// does.
    #[test]
    fn duplicate_data_is_counted() {
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
        let mut reply = |seq, remaining| receivers.on_data(0, &packet(seq, remaining), 1000).reply;
        assert_eq!(reply(2000, 0), Reply::Ack(1000));
        assert_eq!(reply(0, 2000), Reply::Ack(2000));
        assert_eq!(reply(1000, 1000), Reply::Ack(3000));
        assert!(receivers.is_empty());
    }

    /// A packet says in 32 bits how many bytes of the flow come behind it.
    #[test]
    fn a_hole_more_than_4_29_gb_before_the_end_is_closed() {
        const SIZE: u64 = 6_000_000_500;
        for recovery in [Recovery::SelectiveRepeat, Recovery::Perfect] {
            let mut receivers = receivers(recovery, 0, None);
            let mut receive = |number: u64| {
                let offset = number * 1000;
                let payload = 1000.min(SIZE - offset);
                let behind = u32::try_from(SIZE - offset - payload).unwrap_or(u32::MAX);
                receivers.on_data(0, &packet(offset, behind), payload)
            };
            for number in 1..=SIZE / 1000 {
                receive(number);
            }
            let last = receive(0);
            assert_eq!((last.reply, last.end), (Reply::Ack(SIZE), SIZE), "{recovery:?}");
            // That of selective repeat lingers.
            receivers.on_data(2 * LINGER, &packet(1000, 0), 1000);
        }
    }

    #[test]
    fn notifications_respect_the_minimum_interval() {
        let mut receivers = receivers(Recovery::GoBackN, 0, Some(50));
        let mut marked = packet(0, 5000);
        marked.flags |= flag::MARKED;
        let mut notified = |now| receivers.on_data(now, &marked, 1000).notify;
        assert_eq!([0, 10, 49, 50, 51].map(&mut notified), [true, false, false, true, false]);
    }
}
