use std::collections::BTreeSet;

use proptest::prelude::*;
use xoff_net::Kind;

use super::super::tests::{Fate, PAYLOAD, Path, Way, fate};
use super::super::{NewRenoRecovery, Sack1Config};
use super::*;
use crate::transport::Recovery;

/// Longer than any test, so that there is always new data to send.
const ENDLESS: u64 = 1_000_000_000;

fn path(bytes: u64, packets: u64, forth: Vec<Fate>) -> Path {
    let window = packets * PAYLOAD;
    let mut path = Path::new(Recovery::Sack, bytes, window, Way::new(forth), Way::new(Vec::new()));
    path.flow.reach = REACH_PACKETS * PAYLOAD;
    path
}

/// A reference model of a sender's packets, by sets of their numbers and the definitions.
#[derive(Default)]
struct Reference {
    /// Packets that the receiver has reported.
    known: BTreeSet<u64>,
    /// Packets declared lost since the last timeout, and those of them not yet retransmitted.
    lost: BTreeSet<u64>,
    waiting: BTreeSet<u64>,
}

impl Reference {
    fn acknowledge(&mut self, path: &mut Path) {
        for answer in path.answers.drain(..) {
            let missing = answer.seq / PAYLOAD;
            self.known.extend(0..missing);
            if answer.kind == Kind::Nack {
                let block = Block::from_bits(answer.remaining);
                let first = missing + u64::from(block.after);
                self.known.extend(first..first + u64::from(block.packets));
            }
            // A packet is lost once three later ones have arrived, and is retransmitted once.
            let third = self.known.iter().rev().nth(2).copied().unwrap_or(0);
            for packet in (0..third).filter(|packet| !self.known.contains(packet)) {
                if self.lost.insert(packet) {
                    self.waiting.insert(packet);
                }
            }
            self.waiting.retain(|packet| !self.known.contains(packet));
        }
    }

    fn time_out(&mut self, sent: u64) {
        self.lost = (0..sent).filter(|packet| !self.known.contains(packet)).collect();
        self.waiting = self.lost.clone();
    }

    fn in_flight(&self, sent: u64) -> u64 {
        sent - self.known.range(..sent).count() as u64 - self.waiting.len() as u64
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Under any losses, duplicates and delays, every byte arrives and the flow ends.
    #[test]
    fn every_byte_is_delivered(
        bytes in 1u64..150_000,
        packets in 1u64..60,
        forth in prop::collection::vec(fate(10), 0..400),
        back in prop::collection::vec(fate(10), 0..400),
    ) {
        let (forth, back) = (Way::new(forth), Way::new(back));
        let mut path = Path::new(Recovery::Sack, bytes, packets * PAYLOAD, forth, back);
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
    }

    /// On a path without reordering, every retransmitted packet was lost, except for one packet per
    /// recovery (the rescue), as long as there is no timeout.
    #[test]
    fn only_lost_packets_are_retransmitted(
        bytes in 1u64..150_000,
        packets in 1u64..60,
        forth in prop::collection::vec(fate(8), 0..400),
    ) {
        let mut path = path(bytes, packets, forth);
        path.run();
        if path.timeouts == 0 {
            let (repeats, lost) = (path.repeats(), path.forth.lost);
            prop_assert!(repeats >= lost && repeats <= lost + path.recoveries as usize);
        }
    }

    /// The bytes in flight match the definitions packet by packet. They exceed the window by at
    /// most the first packet of a recovery. Lost packets go before new ones, in order.
    #[test]
    fn the_scoreboard_matches_the_reference_model(
        packets in 1u64..60,
        forth in prop::collection::vec(fate(10), 0..400),
    ) {
        let mut path = path(ENDLESS, packets, forth);
        let mut reference = Reference::default();
        for _ in 0..600 {
            let sent = path.flow.snd_nxt / PAYLOAD;
            path.receive();
            let timeouts = path.timeouts;
            path.acknowledge();
            reference.acknowledge(&mut path);
            if path.timeouts > timeouts {
                reference.time_out(sent);
            }
            prop_assert_eq!(path.flow.in_flight(), reference.in_flight(sent) * PAYLOAD);
            let (before, waits) = (path.log.len(), reference.waiting.first().copied());
            path.send();
            if let Some(&seq) = path.log.get(before) {
                prop_assert_eq!(seq / PAYLOAD, waits.unwrap_or(sent));
                reference.waiting.remove(&(seq / PAYLOAD));
            }
            prop_assert!(path.flow.in_flight() <= (packets + 1) * PAYLOAD);
            path.now += 1;
        }
    }
}

/// Packet 20 is lost. It is detected when 23 is acknowledged, a round trip of 20 steps after it was
/// sent, and 20 is retransmitted in the same step.
#[test]
fn one_loss_is_repaired_after_a_round_trip_without_a_timeout() {
    let mut forth = vec![Fate::Arrives; 20];
    forth.push(Fate::Lost);
    let mut path = path(60_000, 30, forth);
    path.run();
    let numbers: Vec<u64> = path.log.iter().map(|seq| seq / PAYLOAD).collect();
    let expected: Vec<u64> = (0..43).chain([20]).chain(43..60).collect();
    assert_eq!(numbers, expected);
    assert_eq!((path.recoveries, path.timeouts), (1, 0));
}

/// The window is full and was halved after the loss, yet the lost packet is retransmitted at once.
#[test]
fn the_first_packet_of_a_recovery_does_not_wait_for_the_window() {
    let mut path = path(ENDLESS, 20, vec![Fate::Lost]);
    while path.recoveries == 0 {
        path.receive();
        path.acknowledge();
        path.flow.pace.window = if path.recoveries == 0 { 20_000 } else { 10_000 };
        path.send();
        path.now += 1;
    }
    assert_eq!(path.log.last(), Some(&0));
    assert!(path.flow.in_flight() > 10_000);
}

/// Two losses in one window are one recovery; a later loss is another.
#[test]
fn a_recovery_lasts_until_all_sent_before_it_has_arrived() {
    let mut forth = vec![Fate::Arrives; 100];
    for lost in [20, 25, 90] {
        forth[lost] = Fate::Lost;
    }
    let mut path = path(120_000, 30, forth);
    path.run();
    assert_eq!((path.recoveries, path.timeouts, path.repeats()), (2, 0, 3));
}

/// Packets 3 and 8 of 10 are lost. Only 9 comes after 8, but there is no new data to send (rule 3).
#[test]
fn missing_packets_are_retransmitted_when_there_is_no_new_data() {
    let mut forth = vec![Fate::Arrives; 10];
    (forth[3], forth[8]) = (Fate::Lost, Fate::Lost);
    let mut path = path(10_000, 30, forth);
    path.run();
    assert_eq!((&path.log[10..], path.timeouts), (&[3000, 8000][..], 0));
}

/// Packets 3 and 9 of 10 are lost. No packet comes after 9, and the rescue finds it (rule 4).
#[test]
fn a_recovery_rescues_the_last_packet() {
    let mut forth = vec![Fate::Arrives; 10];
    (forth[3], forth[9]) = (Fate::Lost, Fate::Lost);
    let mut path = path(10_000, 30, forth);
    path.run();
    assert_eq!((&path.log[10..], path.timeouts), (&[3000, 9000][..], 0));
}

/// No fast retransmit with `duplicate_acks` = 0: one timeout per loss, and packets that have
/// arrived are not retransmitted.
#[test]
fn without_duplicate_acknowledgements_only_timeouts_detect_losses() {
    let config = TcpConfig { duplicate_acks: 0, ..TcpConfig::default() };
    let mut sender = Sender::new(&config);
    assert!(sender.on_block(0, Block { after: 1, packets: 50 }));
    let sent =
        Sent { una: 0, next: 60_000, high: 60_000, payload: PAYLOAD, end: 60_000, window: 0 };
    assert_eq!(sender.detect(&sent, false), Progress::default());
    assert_eq!(sender.bytes(PAYLOAD, 60_000), (50_000, 0));
    sender.on_timeout(&sent);
    assert_eq!(sender.bytes(PAYLOAD, 60_000), (50_000, 10_000));
    let repeated: Vec<u64> = std::iter::from_fn(|| sender.take()).collect();
    assert_eq!(repeated, [0, 51, 52, 53, 54, 55, 56, 57, 58, 59]);
}

/// After a timeout no recovery begins before all earlier packets have arrived.
#[test]
fn a_timeout_prevents_recoveries_for_a_window() {
    let mut sender = Sender::new(&TcpConfig::default());
    let sent =
        |una, next| Sent { una, next, high: next, payload: PAYLOAD, end: ENDLESS, window: 0 };
    sender.on_timeout(&sent(0, 20_000));
    sender.on_progress(0, 10);
    sender.on_block(10, Block { after: 5, packets: 20 });
    assert_eq!(sender.detect(&sent(10_000, 40_000), false), Progress::default());
    sender.on_progress(10, 35);
    sender.on_block(35, Block { after: 1, packets: 3 });
    let progress = sender.detect(&sent(35_000, 45_000), false);
    assert_eq!(progress, Progress { begins: true, recovering: true, ..Progress::default() });
}

#[test]
fn a_block_survives_encoding() {
    for (after, packets) in [(1, 1), (u16::MAX, 1), (1, u16::MAX - 1)] {
        let block = Block { after, packets };
        assert_eq!(Block::from_bits(block.to_bits()), block);
    }
}

/// The block contains the packet that just arrived, whatever else has arrived.
#[test]
fn an_acknowledgement_has_the_newest_block() {
    let mut receiver = Receiver::default();
    let mut reply = |packet: u64| {
        let seq = packet * PAYLOAD;
        receiver.on_data(PAYLOAD, &Arrival { now: 0, seq, bytes: PAYLOAD, end: 100_000 })
    };
    let sack = |expected, after, packets| Reply::Sack { expected, block: Block { after, packets } };
    assert_eq!(reply(0), Reply::Ack(1000));
    assert_eq!(reply(5), sack(1000, 4, 1));
    assert_eq!(reply(2), sack(1000, 1, 1));
    assert_eq!(reply(3), sack(1000, 1, 2));
    assert_eq!(reply(4), sack(1000, 1, 4));
    assert_eq!(reply(8), sack(1000, 7, 1));
    assert_eq!(reply(5), sack(1000, 1, 4));
    assert_eq!(reply(1), Reply::Ack(6000));
    assert_eq!(reply(3), Reply::Ack(6000));
}

/// The fields of a block have 16 bits.
#[test]
fn a_sender_stays_within_the_range_of_a_block() {
    let path = crate::cc::PATH;
    let recoveries: [&dyn RecoverySettings; 3] =
        [&TcpConfig::default(), &NewRenoRecovery::default(), &Sack1Config::default()];
    for recovery in recoveries {
        assert_eq!(recovery.reach(&path) / path.payload, u64::from(u16::MAX));
    }
}

#[test]
fn without_prr_a_recovery_leaves_the_window_to_the_control() {
    let mut sender = Sender::new(&TcpConfig::default());
    let at = PrrProgress {
        una: 0,
        acked: 0,
        arrived: 3 * PAYLOAD,
        flight: 20 * PAYLOAD,
        pipe: 16 * PAYLOAD,
        payload: PAYLOAD,
    };
    assert_eq!(sender.reduce(&at, 10 * PAYLOAD), None);
}

#[test]
fn a_short_last_packet_is_rescued_as_it_is() {
    let mut sender = Sender::new(&TcpConfig::default());
    for (packet, bytes) in [(None, 0), (Some(4), 1000), (Some(5), 500)] {
        sender.rescue = packet;
        assert_eq!(sender.bytes(PAYLOAD, 5500), (0, bytes));
    }
}

/// Packet 3 of 10 is lost. All others arrive, so nothing is rescued.
#[test]
fn a_recovery_rescues_nothing_that_has_arrived() {
    let mut forth = vec![Fate::Arrives; 10];
    forth[3] = Fate::Lost;
    let mut path = path(10_000, 30, forth);
    path.run();
    assert_eq!((&path.log[10..], path.timeouts), (&[3000][..], 0));
}
