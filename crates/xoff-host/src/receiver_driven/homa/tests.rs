//! Both halves together: several messages to one host, over a network that reorders and loses
//! packets.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;
use xoff_net::packet::{Kind, Packet, flag};

use super::receiver::{Grant, Granters};
use super::sender::HomaSender;
use crate::cc::Pace;
use crate::flow::{FlowStart, Sender};
use crate::receiver_driven::Levels;
use crate::receiver_driven::Shape;
use crate::recovery::SenderHalf;

const SHAPE: Shape = Shape { payload: 1000, initial_window: 4500 };
/// RTTbytes in whole packets.
const RTT_BYTES: u64 = 5000;
const TIMEOUT: u64 = 1_000;

fn levels() -> Levels {
    Levels { cutoffs: vec![2_000, 9_000], scheduled: 3 }
}

fn sender(id: u64, bytes: u64) -> (Sender, HomaSender) {
    let start = FlowStart::of_bytes(id, bytes);
    let pace = Pace { rate: 1, window: u64::MAX };
    let half = SenderHalf::Driven(Default::default());
    let mut flow = Sender::new(start, pace, half, 0, Default::default());
    let mut homa = HomaSender::default();
    homa.start(&SHAPE, &levels(), &mut flow);
    (flow, homa)
}

/// A message as seen by an observer on the wire.
struct Message {
    flow: Sender,
    homa: HomaSender,
    /// The packets that have arrived.
    came: Vec<bool>,
    granted: u64,
    ended: bool,
}

impl Message {
    fn new(id: u64, bytes: u64) -> Self {
        let (flow, homa) = sender(id, bytes);
        let came = vec![false; bytes.div_ceil(SHAPE.payload) as usize];
        Self { flow, homa, came, granted: bytes.min(RTT_BYTES), ended: false }
    }

    fn size(&self) -> u64 {
        self.flow.start.bytes
    }

    fn received(&self) -> u64 {
        let came = self.came.iter().enumerate().filter(|(_, came)| **came);
        came.map(|(number, _)| SHAPE.payload_at(number as u64 * SHAPE.payload, self.size())).sum()
    }

    /// True if the receiver knows the message and it is not fully granted.
    fn is_ranked(&self) -> bool {
        self.came.iter().any(|came| *came) && self.granted < self.size()
    }
}

/// Several messages from their start to their end.
struct Journey {
    messages: Vec<Message>,
    receivers: Granters,
    overcommitment: usize,
    /// Packets in flight, unordered.
    under_way: Vec<Packet>,
    rng: Rng,
    /// Loss probabilities of data packets and of other packets, in percent.
    losses: (u64, u64),
    now: u64,
    sent: u64,
    data: u64,
    grants: u64,
}

impl Journey {
    fn new(sizes: &[u64], overcommitment: usize, losses: (u64, u64), seed: u64) -> Self {
        // Time stands still while packets are in flight.
        let linger = if losses == (0, 0) { 0 } else { TIMEOUT };
        let mut receivers = Granters::new(SHAPE, levels(), overcommitment, TIMEOUT, linger);
        receivers.add_host();
        let message = |(id, &bytes): (usize, &u64)| Message::new(id as u64, bytes);
        Self {
            messages: sizes.iter().enumerate().map(message).collect(),
            receivers,
            overcommitment,
            under_way: Vec::new(),
            rng: Rng::stream(seed, Purpose::Faults, 0),
            losses,
            now: 0,
            sent: 0,
            data: 0,
            grants: 0,
        }
    }

    fn run(mut self) -> Self {
        while self.messages.iter().any(|message| !message.ended) {
            assert!(self.now < 3_000 * TIMEOUT, "the messages do not end");
            let ready: Vec<usize> = (0..self.messages.len())
                .filter(|&id| !self.messages[id].ended && self.messages[id].flow.may_send())
                .collect();
            let sends = !ready.is_empty() && (self.under_way.is_empty() || self.rng.below(2) == 0);
            if sends {
                let id = ready[self.rng.below(ready.len() as u64) as usize];
                self.send(id);
            } else if self.under_way.is_empty() {
                assert!(self.losses != (0, 0), "no packet is in flight, and no message may send");
                self.wait();
            } else {
                let place = self.rng.below(self.under_way.len() as u64) as usize;
                let packet = self.under_way.swap_remove(place);
                self.deliver(&packet);
            }
        }
        self
    }

    fn send(&mut self, id: usize) {
        let Message { flow, homa, .. } = &mut self.messages[id];
        let (seq, payload, _) = flow.take_packet(SHAPE.payload);
        let mut packet = Packet::new(Kind::Data, payload as u16);
        packet.seq = seq;
        packet.stamp = flow.start.bytes;
        packet.flow = id as u32;
        packet.sender = id as u32;
        packet.queue = homa.level(&levels(), seq, flow.start.bytes, 0);
        let unscheduled = packet.queue < levels().unscheduled();
        assert_eq!(unscheduled, seq < RTT_BYTES, "min(size, RTTbytes) is unscheduled");
        if homa.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
        self.sent += payload;
        if self.rng.below(100) >= self.losses.0 {
            self.under_way.push(packet);
        }
    }

    fn answer(&mut self, packet: Packet) {
        if self.rng.below(100) >= self.losses.1 {
            self.under_way.push(packet);
        }
    }

    fn answer_with(&mut self, grant: &Grant) {
        let mut back = grant.to.packet(Kind::Pull, 64);
        back.seq = grant.seq;
        back.remaining = grant.granted as u32;
        back.stamp = u64::from(grant.level);
        self.answer(back);
    }

    fn deliver(&mut self, packet: &Packet) {
        if packet.kind == Kind::Data {
            self.deliver_data(packet);
            return;
        }
        let Message { flow, homa, ended, .. } = &mut self.messages[packet.sender as usize];
        let level = packet.stamp as u8;
        match packet.kind {
            _ if *ended => {}
            Kind::Ack => *ended = true,
            Kind::Pull => {
                homa.on_granted(&SHAPE, flow, (packet.remaining, level), packet.seq);
            }
            _ => homa.on_missing(&SHAPE, flow, (packet.seq, packet.remaining.into(), level)),
        }
    }

    fn deliver_data(&mut self, packet: &Packet) {
        self.data += 1;
        let id = packet.flow as usize;
        let number = SHAPE.packet_at(packet.seq) as usize;
        let new = !std::mem::replace(&mut self.messages[id].came[number], true);
        let answer = self.receivers.on_data(0, packet, self.now);
        // With losses a message may begin anew, which is not visible on the wire.
        let orderly = self.losses == (0, 0);
        if let Some(grant) = answer.grant {
            assert!(grant.bytes > 0 || !new || !orderly, "only a duplicate packet repeats a grant");
            if orderly {
                self.check(&grant);
            }
            self.answer_with(&grant);
        } else if orderly {
            assert_eq!(self.first_with_room(), None, "a grant is withheld");
        }
        let message = &self.messages[id];
        assert!(!orderly || answer.whole == (message.received() == message.size()));
        if answer.whole {
            let mut back = Packet::new(Kind::Ack, 64);
            back.sender = packet.sender;
            self.answer(back);
        }
    }

    /// A grant goes to the first grantable message with budget, up to RTTbytes more than have
    /// arrived.
    fn check(&mut self, grant: &Grant) {
        let (rank, at_once, id) = self.first_with_room().expect("a message has grant budget");
        assert_eq!((grant.to.flow as usize, grant.bytes), (id, self.room(id)));
        assert_eq!(grant.level, levels().of_rank(rank, at_once));
        let message = &mut self.messages[id];
        message.granted += grant.bytes;
        assert_eq!(grant.granted, message.granted);
        assert!(message.granted - message.received() <= RTT_BYTES);
        self.grants += 1;
    }

    /// The grant budget of a message.
    fn room(&self, id: usize) -> u64 {
        let message = &self.messages[id];
        message.size().min(message.received() + RTT_BYTES) - message.granted
    }

    /// The first message with grant budget: its rank, the number of messages granted at once, and
    /// its number.
    fn first_with_room(&self) -> Option<(usize, usize, usize)> {
        let mut ranked: Vec<(u64, usize)> = (0..self.messages.len())
            .filter(|&id| self.messages[id].is_ranked())
            .map(|id| (self.messages[id].size() - self.messages[id].received(), id))
            .collect();
        ranked.sort_unstable();
        let at_once = self.overcommitment.min(ranked.len());
        let rank = ranked[..at_once].iter().position(|&(_, id)| self.room(id) > 0)?;
        Some((rank, at_once, ranked[rank].1))
    }

    /// No packets are in flight: receivers request missing bytes, and senders without replies
    /// retry.
    fn wait(&mut self) {
        self.now += TIMEOUT;
        while let Some(missing) = self.receivers.next_missing(0, self.now) {
            assert!(missing.bytes > 0);
            let mut packet = missing.to.packet(Kind::Nack, 64);
            packet.seq = missing.seq;
            packet.remaining = missing.bytes as u32;
            packet.stamp = u64::from(missing.level);
            self.answer(packet);
        }
        while let Some(grant) = self.receivers.owed(0) {
            self.answer_with(&grant);
        }
        for message in self.messages.iter_mut().filter(|message| !message.ended) {
            if !message.flow.may_send() && message.flow.snd_una < message.flow.snd_nxt {
                message.homa.on_timeout(&SHAPE, &mut message.flow);
            }
        }
    }
}

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![1u64..6_000, 1u64..40_000], 1..12)
}

proptest! {
    /// With any order of packets of several messages, each packet is sent once and all arrive.
    #[test]
    fn grants_respect_their_limits_in_any_order(
        sizes in sizes(), overcommitment in 1usize..5, seed in any::<u64>(),
    ) {
        let mut journey = Journey::new(&sizes, overcommitment, (0, 0), seed).run();
        prop_assert_eq!(journey.sent, sizes.iter().sum::<u64>());
        prop_assert_eq!(journey.now, 0, "a timeout was needed");
        let stats = journey.receivers.stats;
        let scheduled: u64 = sizes.iter().map(|size| size.saturating_sub(RTT_BYTES)).sum();
        prop_assert_eq!((stats.grants, stats.bytes), (journey.grants, scheduled));
        prop_assert!(stats.grants <= journey.data && stats.most_at_once <= overcommitment as u64);
        prop_assert_eq!(journey.receivers.next_check(0), None, "a message is left");
    }
}

/// All messages are delivered under losses of all kinds.
#[test]
fn messages_survive_losses() {
    for seed in 0..200 {
        for losses in [(20, 0), (0, 20), (30, 30)] {
            let sizes = [300, 4_000, 5_000, 5_001, 17_300, 30_000];
            let journey = Journey::new(&sizes, 2, losses, seed).run();
            assert!(journey.sent >= sizes.iter().sum::<u64>());
        }
    }
}

/// The first grant has the priority of a single message. When a shorter message arrives, it gets
/// the priority above, and the longer one keeps the lowest.
#[test]
fn a_shorter_message_gets_the_priority_above() {
    let mut receivers = Granters::new(SHAPE, levels(), 3, TIMEOUT, 0);
    receivers.add_host();
    let mut packet = |flow: u32, number: u64, size: u64| {
        let mut packet = Packet::new(Kind::Data, 1000);
        (packet.flow, packet.seq, packet.stamp) = (flow, number * 1000, size);
        receivers.on_data(0, &packet, 0).grant.map(|grant| (grant.to.flow, grant.level))
    };
    assert_eq!(packet(1, 0, 40_000), Some((1, 5)));
    assert_eq!(packet(2, 0, 20_000), Some((2, 4)));
    assert_eq!(packet(1, 1, 40_000), Some((1, 5)));
    assert_eq!(packet(3, 3, 10_000), Some((3, 3)));
    assert_eq!(packet(2, 2, 20_000), Some((2, 4)));
    // A fourth message, shorter than the first: only three are granted at once.
    assert_eq!(packet(4, 0, 30_000), Some((4, 5)));
    assert_eq!(packet(1, 2, 40_000), None);
    assert_eq!(packet(1, 2, 40_000), Some((1, 5)), "a retransmission repeats the grant");
}

#[test]
fn priorities_follow_size_and_the_last_grant() {
    let (mut flow, mut homa) = sender(1, 20_500);
    let level = |homa: &HomaSender, seq| homa.level(&levels(), seq, 20_500, 0);
    assert_eq!((flow.credit, level(&homa, 0), level(&homa, 4_000)), (5_000, 2, 2));
    homa.on_granted(&SHAPE, &mut flow, (6_000, 3), 0);
    assert_eq!((flow.credit, level(&homa, 4_000), level(&homa, 5_000)), (6_000, 2, 3));
    // An older grant that arrives later changes nothing.
    homa.on_granted(&SHAPE, &mut flow, (5_000, 5), 1_000);
    assert_eq!((flow.credit, level(&homa, 5_000), flow.snd_una), (6_000, 3, 1_000));
    // The end of a message may count as a message of its own length.
    let boosted = [15_000, 16_000, 19_000].map(|seq| homa.level(&levels(), seq, 20_500, 5_000));
    assert_eq!(boosted, [3, 1, 0]);
}
