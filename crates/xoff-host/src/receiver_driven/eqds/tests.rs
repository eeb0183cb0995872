//! Both halves together, over a network that trims, loses and reorders packets.

use proptest::prelude::*;
use xoff_core::Rng;
use xoff_core::rng::Purpose;
use xoff_net::packet::{Kind, Packet, flag};

use super::receiver::Reply;
use super::*;
use crate::cc::Pace;
use crate::flow::{FlowStart, Sender};
use crate::recovery::SenderHalf;

/// htsim's packets, with a window of seven and a half of them.
const TERMS: Terms = Terms {
    shape: Shape { payload: 4096, initial_window: 31_200 },
    overhead: 64,
    quantum: 512,
    per_pull: 8,
    ack_bytes: 16_384,
};

fn sender(bytes: u64) -> (Sender, EqdsSender) {
    let start = FlowStart::of_bytes(7, bytes);
    let pace = Pace { rate: 1, window: u64::MAX };
    let mut flow =
        Sender::new(start, pace, SenderHalf::Driven(Default::default()), 0, Default::default());
    let mut eqds = EqdsSender::default();
    eqds.start(&TERMS, &mut flow);
    (flow, eqds)
}

fn receivers() -> EqdsReceivers {
    let mut receivers = EqdsReceivers::new(TERMS);
    receivers.add_host();
    receivers
}

/// Sends the next packet.
fn send(flow: &mut Sender, eqds: &mut EqdsSender) -> Packet {
    let (seq, payload, _) = flow.take_packet(TERMS.shape.payload);
    let mut packet = Packet::new(Kind::Data, (payload + TERMS.overhead) as u16);
    (packet.flow, packet.seq) = (flow.start.id.0 as u32, seq);
    eqds.on_sent(&TERMS, flow, &mut packet, payload);
    if eqds.has_reply() {
        packet.flags |= flag::PROGRESSED;
    }
    packet
}

/// The packet of a reply to `packet`.
fn written(packet: &Packet, reply: Reply) -> Option<Packet> {
    let mut answer = Packet::new(Kind::Ack, 64);
    match reply {
        Reply::Whole => answer.seq = packet.stamp,
        Reply::Ack { seq, first, bitmap } => {
            (answer.seq, answer.remaining, answer.stamp) = (seq, first, bitmap);
        }
        Reply::Nack => (answer.kind, answer.seq) = (Kind::Nack, packet.seq),
        Reply::Pull(pull) => return Some(pulled(pull)),
        Reply::Nothing => return None,
    }
    Some(answer)
}

fn pulled(pull: receiver::Pull) -> Packet {
    let mut packet = Packet::new(Kind::Pull, 64);
    (packet.seq, packet.remaining) = (pull.seq, pull.pulled);
    packet
}

/// Probabilities in percent.
#[derive(Clone, Copy, Debug)]
struct Fates {
    trimmed: u64,
    lost: u64,
    answers_lost: u64,
}

/// One flow from its start to its end: packets sent, packets trimmed, and timeouts.
fn journey(bytes: u64, fates: Fates, seed: u64) -> (u64, u64, u64) {
    let ((mut flow, mut eqds), mut receivers) = (sender(bytes), receivers());
    let mut rng = Rng::stream(seed, Purpose::Faults, 0);
    let mut under_way: Vec<Packet> = Vec::new();
    let (mut sent, mut trimmed, mut timeouts) = (0, 0, 0);
    while flow.snd_una < bytes {
        assert!(timeouts < 2000, "the flow does not end: {flow:?} {eqds:?} {receivers:?}");
        let mut reply = None;
        match rng.below(3) {
            0 if flow.may_send() => {
                let mut packet = send(&mut flow, &mut eqds);
                sent += 1;
                if rng.below(100) < fates.trimmed {
                    packet.kind = Kind::Trimmed;
                    trimmed += 1;
                }
                if rng.below(100) >= fates.lost {
                    under_way.push(packet);
                }
            }
            1 if receivers.next_pull(0).is_some() => reply = receivers.pull(0).map(pulled),
            _ if !under_way.is_empty() => {
                let place = rng.below(under_way.len() as u64) as usize;
                let packet = under_way.swap_remove(place);
                match packet.kind {
                    Kind::Data => reply = written(&packet, receivers.on_data(0, &packet)),
                    Kind::Trimmed => reply = written(&packet, receivers.on_trimmed(0, &packet)),
                    Kind::Request => reply = written(&packet, receivers.on_request(0, &packet)),
                    _ => {
                        eqds.on_reply(&TERMS, &mut flow, &packet);
                    }
                }
            }
            _ if !flow.may_send() && receivers.next_pull(0).is_none() => {
                timeouts += 1;
                if let Some(again) = eqds.on_timeout(&TERMS, &mut flow) {
                    let mut packet = Packet::new(Kind::Request, 64);
                    (packet.flow, packet.seq, packet.stamp) = (7, again, bytes);
                    packet.remaining = eqds.request(&TERMS, &flow);
                    packet.flags |= if eqds.has_reply() { flag::PROGRESSED } else { 0 };
                    under_way.push(packet);
                }
            }
            _ => {}
        }
        under_way.extend(reply.filter(|_| rng.below(100) >= fates.answers_lost));
    }
    (sent, trimmed, timeouts)
}

proptest! {
    /// Without silent losses, each trimmed packet is sent once more and all others once, and no
    /// timeout is needed.
    #[test]
    fn only_trimmed_packets_are_retransmitted(
        bytes in 1u64..400_000, trimmed in 0u64..60, seed in any::<u64>(),
    ) {
        let fates = Fates { trimmed, lost: 0, answers_lost: 0 };
        let (sent, trimmed, timeouts) = journey(bytes, fates, seed);
        prop_assert_eq!((sent, timeouts), (bytes.div_ceil(4096) + trimmed, 0));
    }

    /// Whatever is lost, timeouts bring the flow to its end.
    #[test]
    fn timeouts_complete_every_flow(
        bytes in 1u64..200_000,
        trimmed in 0u64..30,
        lost in 0u64..30,
        answers_lost in 0u64..40,
        seed in any::<u64>(),
    ) {
        let (sent, ..) = journey(bytes, Fates { trimmed, lost, answers_lost }, seed);
        prop_assert!(sent >= bytes.div_ceil(4096));
    }

    /// Targets compare by their low 31 bits, whatever the others are.
    #[test]
    fn targets_compare_across_their_wrap(
        known in any::<u64>(), step in -1_000_000_000i64..1_000_000_000,
    ) {
        let known = known >> 2 | 1 << 40;
        let field = write_target(known.wrapping_add_signed(step), true);
        prop_assert_eq!(target_above(field, known), step);
    }
}

/// A long flow sends its window at once, and asks for a window from there on.
#[test]
fn a_sender_sends_speculatively_and_asks_for_the_rest() {
    let (mut flow, mut eqds) = sender(1 << 20);
    let packets: Vec<Packet> =
        std::iter::from_fn(|| flow.may_send().then(|| send(&mut flow, &mut eqds))).collect();
    // Any positive credit sends a whole packet: the eighth one leaves 2080 B owed.
    assert_eq!((packets.len(), flow.credit), (8, -2080));
    let targets: Vec<u32> = packets.iter().map(|packet| packet.remaining >> 1).collect();
    let asked = |sent: u64| (sent * 4160).div_ceil(512) as u32;
    assert_eq!(targets, (1..=8).map(asked).collect::<Vec<_>>());
    assert!(packets.iter().all(|packet| packet.remaining & 1 == 0), "none is the last for a while");
    // A pull of 4096 B leaves 2016 B, which send one packet; that one asks for a reply.
    let pull = |total| {
        let mut packet = Packet::new(Kind::Pull, 64);
        packet.remaining = total;
        packet
    };
    eqds.on_reply(&TERMS, &mut flow, &pull(8));
    assert_eq!(flow.credit, 2016);
    let packet = send(&mut flow, &mut eqds);
    assert_eq!((packet.remaining & 1, flow.credit, flow.may_send()), (1, -2144, false));
    assert_eq!(
        u64::from(packet.remaining >> 1),
        8 + (TERMS.shape.initial_window + 2144).div_ceil(512)
    );
    eqds.on_reply(&TERMS, &mut flow, &pull(8));
    assert_eq!(flow.credit, -2144, "an old pull changes nothing");
}

/// A flow that fits its speculative credit announces nothing, and no acknowledgement takes that
/// credit away. A pull target below zero would wrap, and be pulled without end.
#[test]
fn a_short_flow_asks_for_no_pull() {
    let ((mut flow, mut eqds), mut receivers) = (sender(6 * 4096), receivers());
    let first = send(&mut flow, &mut eqds);
    assert_eq!(first.remaining, 0);
    let reply = written(&first, receivers.on_data(0, &first)).expect("the first is acknowledged");
    assert_eq!(receivers.next_pull(0), None);
    eqds.on_reply(&TERMS, &mut flow, &reply);
    let rest = std::iter::from_fn(|| flow.may_send().then(|| send(&mut flow, &mut eqds)));
    assert_eq!(rest.count(), 5);
}

/// Trimmed packets first, then data to send, then idle flows; turns within each.
#[test]
fn pulls_go_to_trimmed_packets_then_to_data_then_to_idle_flows() {
    let mut receivers = receivers();
    let arriving = |flow: u32, number: u64, target: u64| {
        let mut packet = Packet::new(Kind::Data, 4160);
        (packet.flow, packet.seq, packet.stamp) = (flow, number * 4096, 1 << 20);
        packet.remaining = write_target(target, false);
        packet
    };
    receivers.on_data(0, &arriving(1, 0, 16));
    receivers.on_data(0, &arriving(2, 0, 9));
    assert_eq!(receivers.on_trimmed(0, &arriving(3, 0, 0)), Reply::Nack);
    let flows: Vec<u32> =
        std::iter::from_fn(|| receivers.pull(0)).map(|pull| pull.to.flow).take(8).collect();
    // A trimmed packet takes nine quanta, a pull gives eight.
    assert_eq!(flows, [3, 3, 1, 2, 1, 2, 1, 2]);
    // Idle flows get up to a window (60 quanta) in advance.
    let more = std::iter::from_fn(|| receivers.pull(0)).count();
    assert_eq!(more, (16 + 60 - 24_usize).div_ceil(8) + (9 + 60 - 24_usize).div_ceil(8));
}

/// A packet is acknowledged if it is the first, if it asks, or after more than four others.
#[test]
fn a_few_packets_share_an_acknowledgement() {
    let ((mut flow, mut eqds), mut receivers) = (sender(1 << 20), receivers());
    let packets: Vec<Packet> = (0..8).map(|_| send(&mut flow, &mut eqds)).collect();
    let order = [0, 1, 3, 4, 5, 2];
    let replies = order.map(|place: usize| receivers.on_data(0, &packets[place]));
    let ack = |seq, first, bitmap| Reply::Ack { seq, first, bitmap };
    let none = Reply::Nothing;
    // 0x7: packets 3, 4 and 5 follow a gap.
    assert_eq!(replies, [ack(4096, 2, 0), none, none, none, ack(8192, 3, 0x7), none]);
    eqds.on_reply(&TERMS, &mut flow, &written(&packets[5], replies[4]).unwrap());
    assert_eq!(flow.snd_una, 8192);
    assert!(eqds.on_timeout(&TERMS, &mut flow).is_some());
    let again: Vec<u64> = (0..3).map(|_| flow.take_packet(4096).0 / 4096).collect();
    assert_eq!(again, [2, 6, 7], "those of the bitmap have arrived");
}
