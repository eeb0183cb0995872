//! Both halves together, over a network that trims, returns, loses and reorders packets.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;
use xoff_net::packet::{Kind, Packet, flag};

use super::*;
use crate::cc::Pace;
use crate::flow::{FlowStart, Sender};
use crate::recovery::SenderHalf;

const SHAPE: Shape = Shape { payload: 1000, initial_window: 7500 };

fn sender(bytes: u64) -> (Sender, NdpSender) {
    let start = FlowStart::of_bytes(7, bytes);
    let pace = Pace { rate: 1, window: u64::MAX };
    let mut flow =
        Sender::new(start, pace, SenderHalf::Driven(Default::default()), 0, Default::default());
    let mut ndp = NdpSender::default();
    ndp.start(&SHAPE, &mut flow);
    (flow, ndp)
}

/// Probabilities of each fate of a data packet, in percent, and the loss probability of answers and
/// pulls.
#[derive(Clone, Copy, Debug)]
struct Fates {
    trimmed: u64,
    returned: u64,
    lost: u64,
    answers_lost: u64,
    /// True if timeouts occur while packets are still in flight.
    hasty: bool,
}

/// One flow from its start to its end.
struct Journey {
    flow: Sender,
    ndp: NdpSender,
    receivers: Pullers,
    /// Packets in flight, unordered.
    under_way: Vec<Packet>,
    rng: Rng,
    fates: Fates,
    sent: u64,
    trimmed: u64,
    returned: u64,
    pulled: u64,
    timeouts: u64,
    finished: bool,
}

impl Journey {
    fn new(bytes: u64, fates: Fates, seed: u64) -> Self {
        let (flow, ndp) = sender(bytes);
        let mut receivers = Pullers::new(SHAPE);
        receivers.add_host();
        Self {
            flow,
            ndp,
            receivers,
            under_way: Vec::new(),
            rng: Rng::stream(seed, Purpose::Faults, 0),
            fates,
            sent: 0,
            trimmed: 0,
            returned: 0,
            pulled: 0,
            timeouts: 0,
            finished: false,
        }
    }

    fn run(mut self) -> Self {
        while !self.finished {
            assert!(self.timeouts < 2000, "the flow does not end: {:?} {:?}", self.flow, self.ndp);
            if self.fates.hasty && self.rng.below(30) == 0 {
                self.time_out();
            }
            match self.rng.below(3) {
                0 if self.flow.may_send() => self.send(),
                1 if self.receivers.next_pull(0).is_some() => self.pull(),
                _ if !self.under_way.is_empty() => {
                    let place = self.rng.below(self.under_way.len() as u64) as usize;
                    let packet = self.under_way.swap_remove(place);
                    self.arrive(packet);
                }
                _ if !self.flow.may_send() && self.receivers.next_pull(0).is_none() => {
                    self.time_out();
                }
                _ => {}
            }
        }
        self
    }

    fn time_out(&mut self) {
        self.timeouts += 1;
        self.ndp.on_timeout(&SHAPE, &mut self.flow);
    }

    fn send(&mut self) {
        let (seq, payload, _) = self.flow.take_packet(SHAPE.payload);
        self.ndp.on_sent(payload);
        self.sent += payload;
        let mut packet = Packet::new(Kind::Data, payload as u16);
        packet.seq = seq;
        packet.flow = 7;
        packet.stamp = self.flow.start.bytes;
        packet.remaining = self.ndp.returned() as u32;
        if self.ndp.has_reply() {
            packet.flags |= flag::PROGRESSED;
        }
        let (draw, fates) = (self.rng.below(100), self.fates);
        if draw < fates.trimmed {
            packet.kind = Kind::Trimmed;
            self.trimmed += payload;
        } else if draw < fates.trimmed + fates.returned {
            packet.kind = Kind::Returned;
            self.returned += payload;
        } else if draw < fates.trimmed + fates.returned + fates.lost {
            return;
        }
        self.under_way.push(packet);
    }

    fn pull(&mut self) {
        let Some(pull) = self.receivers.pull(0) else { return };
        assert!((1..=SHAPE.payload).contains(&pull.bytes));
        self.pulled += pull.bytes;
        let mut packet = Packet::new(Kind::Pull, 60);
        (packet.seq, packet.remaining) = (pull.seq, pull.pulled);
        self.reply(packet);
    }

    fn reply(&mut self, packet: Packet) {
        if self.rng.below(100) >= self.fates.answers_lost {
            self.under_way.push(packet);
        }
    }

    fn arrive(&mut self, packet: Packet) {
        let flow = &mut self.flow;
        match packet.kind {
            Kind::Data | Kind::Trimmed => {
                let answer = self.receivers.on_packet(0, &packet, packet.kind == Kind::Trimmed);
                let kind = if answer.received { Kind::Ack } else { Kind::Nack };
                let mut reply = Packet::new(kind, 60);
                (reply.seq, reply.stamp, reply.remaining) = (answer.seq, packet.seq, answer.pulled);
                self.reply(reply);
                return;
            }
            Kind::Returned => self.ndp.on_returned(&SHAPE, flow, packet.seq),
            _ => {
                self.ndp.on_answer(&SHAPE, flow, &packet);
                if NdpSender::is_complete(flow) {
                    self.finished = true;
                    return;
                }
            }
        }
        self.ndp.if_nothing_is_expected(&mut self.flow);
    }
}

proptest! {
    /// Without silent losses, each trimmed or returned packet is sent once more and all others
    /// once. A receiver pulls no more than these and the solicited bytes. No timeout is needed.
    #[test]
    fn only_trimmed_or_returned_packets_are_retransmitted(
        bytes in 1u64..60_000, trimmed in 0u64..60, returned in 0u64..30, seed in any::<u64>(),
    ) {
        let fates = Fates { trimmed, returned, lost: 0, answers_lost: 0, hasty: false };
        let journey = Journey::new(bytes, fates, seed).run();
        prop_assert_eq!(journey.timeouts, 0);
        prop_assert_eq!(journey.sent, bytes + journey.trimmed + journey.returned);
        let unasked = SHAPE.unasked(bytes);
        prop_assert!(journey.pulled <= bytes - unasked + journey.trimmed + journey.returned);
        prop_assert!(returned > 0 || journey.pulled == bytes - unasked + journey.trimmed);
        prop_assert!(journey.receivers.is_empty());
    }

    /// Whatever is lost, timeouts bring the flow to its end.
    #[test]
    fn timeouts_complete_every_flow(
        bytes in 1u64..60_000,
        trimmed in 0u64..30,
        returned in 0u64..20,
        lost in 0u64..30,
        answers_lost in 0u64..40,
        hasty in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let fates = Fates { trimmed, returned, lost, answers_lost, hasty };
        let journey = Journey::new(bytes, fates, seed).run();
        prop_assert_eq!(journey.flow.snd_una, bytes);
        prop_assert!(journey.sent >= bytes);
    }
}

fn arriving(flow: u32, seq: u64, size: u64) -> Packet {
    let mut packet = Packet::new(Kind::Data, 1048);
    (packet.flow, packet.seq, packet.stamp) = (flow, seq, size);
    packet
}

/// Three flows, of which one has more to pull and one only 300 bytes: one turn each, and no pull
/// for more than a flow can use.
#[test]
fn flows_take_turns_and_pull_only_usable_bytes() {
    let mut receivers = Pullers::new(SHAPE);
    receivers.add_host();
    for (flow, seq, size) in [(1, 0, 50_000), (1, 1000, 50_000), (2, 0, 8300), (3, 0, 20_000)] {
        receivers.on_packet(0, &arriving(flow, seq, size), false);
    }
    receivers.on_packet(0, &arriving(2, 1000, 8300), false);
    let mut pulls = Vec::new();
    while let Some(pull) = receivers.pull(0) {
        pulls.push((pull.to.flow, pull.bytes, pull.pulled));
    }
    assert_eq!(pulls, [(1, 1000, 1000), (2, 300, 300), (3, 1000, 1000), (1, 1000, 2000)]);
}

/// A trimmed message of 300 bytes is pulled by 300 bytes. No state of it remains afterwards, and
/// none is kept of a message that arrived at once.
#[test]
fn a_short_message_is_pulled_by_its_size_and_forgotten() {
    let mut receivers = Pullers::new(SHAPE);
    receivers.add_host();
    let answer = receivers.on_packet(0, &arriving(1, 0, 300), true);
    assert_eq!((answer.seq, answer.received), (0, false));
    assert_eq!(receivers.pull(0).map(|pull| pull.bytes), Some(300));
    assert_eq!(receivers.on_packet(0, &arriving(1, 0, 300), false).seq, 300);
    assert_eq!(receivers.on_packet(0, &arriving(2, 0, 300), false).seq, 300);
    assert!(receivers.is_empty());
    assert_eq!(receivers.pull(0), None);
}

/// Pulls are totals: the next one makes up for a lost one.
#[test]
fn the_next_pull_makes_up_for_a_lost_one() {
    let (mut flow, mut ndp) = sender(50_000);
    while flow.may_send() {
        let (_, payload, _) = flow.take_packet(SHAPE.payload);
        ndp.on_sent(payload);
    }
    assert_eq!((flow.snd_nxt, flow.credit), (8000, 0));
    ndp.on_pulled(&mut flow, 2000);
    assert_eq!(flow.credit, 2000);
    ndp.on_pulled(&mut flow, 1000);
    assert_eq!(flow.credit, 2000, "an old pull changes nothing");
}

/// A sender reports the bytes returned by switches, and its receiver pulls them as well.
#[test]
fn returned_packets_are_pulled_too() {
    let (mut flow, mut ndp) = sender(8300);
    let (seq, payload, _) = flow.take_packet(SHAPE.payload);
    ndp.on_sent(payload);
    ndp.on_returned(&SHAPE, &mut flow, seq);
    assert_eq!(ndp.returned(), 1000);
    let mut receivers = Pullers::new(SHAPE);
    receivers.add_host();
    receivers.on_packet(0, &arriving(1, 1000, 8300), false);
    assert_eq!(receivers.pull(0).map(|pull| pull.bytes), Some(300));
    let mut packet = arriving(1, 2000, 8300);
    packet.remaining = ndp.returned() as u32;
    receivers.on_packet(0, &packet, false);
    assert_eq!(receivers.pull(0).map(|pull| pull.bytes), Some(1000));
}
