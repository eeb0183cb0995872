//! One flow over a path with prescribed losses, duplicates and delays.

use std::collections::{BTreeMap, BTreeSet};
use std::vec::IntoIter;

use proptest::prelude::*;
use xoff_net::packet::flag;
use xoff_net::{Kind, Packet};

use super::progress::Answer;
use super::{Chunks, ReceiverSetup, Reply, SenderHalf};
use crate::cc::Pace;
use crate::flow::{FlowStart, Sender};
use crate::receiver::Receivers;
use crate::transport::{Recovery, TcpConfig};

pub(super) const PAYLOAD: u64 = 1000;
/// One-way delay and the sender's timeout, in steps; it sends one packet per step.
const DELAY: u64 = 10;
const TIMEOUT: u64 = 60;
/// The timeout for go-back-N: longer than any round trip.
const LONG_TIMEOUT: u64 = 150;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Arrives,
    Lost,
    Twice,
    Late(u64),
}

/// Packets in flight, by arrival time.
pub(super) struct Way {
    fates: IntoIter<Fate>,
    packets: BTreeMap<(u64, u64), Packet>,
    sent: u64,
    pub(super) lost: usize,
}

impl Way {
    /// The fates of the first packets; all later ones arrive.
    pub(super) fn new(fates: Vec<Fate>) -> Self {
        Self { fates: fates.into_iter(), packets: BTreeMap::new(), sent: 0, lost: 0 }
    }

    fn send(&mut self, now: u64, packet: Packet) {
        let fate = self.fates.next().unwrap_or(Fate::Arrives);
        self.lost += usize::from(fate == Fate::Lost);
        let (copies, late) = match fate {
            Fate::Arrives => (1, 0),
            Fate::Lost => (0, 0),
            Fate::Twice => (2, 0),
            Fate::Late(steps) => (1, steps),
        };
        for copy in 0..copies {
            let delay = DELAY + late + 3 * copy;
            self.sent += 1;
            self.packets.insert((now + delay, self.sent), packet);
        }
    }

    fn arrive(&mut self, now: u64) -> Option<Packet> {
        let first = self.packets.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

pub(super) struct Path {
    recovery: Recovery,
    pub(super) flow: Sender,
    pub(super) receivers: Receivers,
    pub(super) forth: Way,
    back: Way,
    pub(super) now: u64,
    /// First bytes of the packets sent, and which of them are probes.
    pub(super) log: Vec<u64>,
    pub(super) probes: Vec<bool>,
    pub(super) timeouts: u64,
    /// Number of recoveries, with selective acknowledgements.
    pub(super) recoveries: u64,
    /// Packets that have arrived: they determine the receiver's correct replies.
    pub(super) arrived: BTreeSet<u64>,
    /// Acknowledgements that have reached the sender.
    pub(super) answers: Vec<Packet>,
}

impl Path {
    pub(super) fn new(recovery: Recovery, bytes: u64, window: u64, forth: Way, back: Way) -> Self {
        Self::with(&TcpConfig::default(), recovery, bytes, window, forth, back)
    }

    pub(super) fn with(
        tcp: &TcpConfig,
        recovery: Recovery,
        bytes: u64,
        window: u64,
        forth: Way,
        back: Way,
    ) -> Self {
        let start = FlowStart::of_bytes(7, bytes);
        let pace = Pace { rate: 1, window };
        let mut flow =
            Sender::new(start, pace, SenderHalf::new(recovery, tcp), 0, Default::default());
        flow.reach = window;
        let (payload, chunks) = (PAYLOAD, Chunks::default());
        let setup = ReceiverSetup { recovery, nack_interval: 5, payload, chunks, literal: false };
        Self {
            recovery,
            flow,
            receivers: Receivers::new(setup, None),
            forth,
            back,
            now: 0,
            log: Vec::new(),
            probes: Vec::new(),
            timeouts: 0,
            recoveries: 0,
            arrived: BTreeSet::new(),
            answers: Vec::new(),
        }
    }

    /// The sender sends if it may.
    pub(super) fn send(&mut self) {
        if !self.flow.may_send() {
            return;
        }
        if self.flow.in_flight() == 0 {
            self.flow.progress_ps = self.now;
        }
        let (seq, payload, again) = self.flow.take_packet(PAYLOAD);
        self.flow.on_sent(seq + payload, self.now, again);
        let mut packet = Packet::new(Kind::Data, payload as u16);
        packet.seq = seq;
        packet.remaining = (self.flow.start.bytes - seq - payload) as u32;
        packet.flags = if self.flow.has_progressed() { flag::PROGRESSED } else { 0 };
        self.log.push(seq);
        self.probes.push(payload == 0);
        self.forth.send(self.now, packet);
    }

    pub(super) fn receive(&mut self) {
        while let Some(packet) = self.forth.arrive(self.now) {
            let payload = u64::from(packet.wire_bytes);
            if payload > 0 {
                self.arrived.insert(packet.seq);
            }
            let reply = self.receivers.on_data(self.now, &packet, payload).reply;
            let missing = (0..).find(|number| !self.arrived.contains(&(number * PAYLOAD)));
            let missing = (missing.unwrap_or(0) * PAYLOAD).min(self.flow.start.bytes);
            let (kind, seq, kept) = match reply {
                Reply::Ack(seq) => (Kind::Ack, seq, 0),
                Reply::Nack { expected, kept } => (Kind::Nack, expected, kept),
                Reply::Sack { expected, block } => (Kind::Nack, expected, block.to_bits()),
                Reply::Nothing => continue,
            };
            if payload == 0 && self.flow.start.bytes <= PAYLOAD {
                assert_eq!(seq, 0, "a flow of one packet has no state");
            } else if self.keeps() {
                assert_eq!(seq, missing, "must keep exactly the packets that arrived");
            } else {
                assert!(seq <= missing, "{seq} is acknowledged, but {missing} is missing");
            }
            let mut answer = Packet::new(kind, 60);
            (answer.seq, answer.remaining) = (seq, kept);
            self.back.send(self.now, answer);
        }
    }

    pub(super) fn acknowledge(&mut self) {
        while let Some(packet) = self.back.arrive(self.now) {
            self.answers.push(packet);
            let acked = self.flow.acknowledge(packet.seq, PAYLOAD);
            let mut news = acked > 0;
            if packet.kind == Kind::Nack {
                news |= self.flow.on_nack(packet.seq, packet.remaining, PAYLOAD);
            }
            if news {
                self.flow.progress_ps = self.now;
            }
            if self.flow.counts_duplicates() && self.flow.snd_una < self.flow.start.bytes {
                let repeats = acked == 0 && packet.seq == self.flow.snd_una;
                let answer = Answer { now: self.now, rtt: 2 * DELAY, acked, repeats, news };
                self.recoveries += u64::from(self.flow.on_answer(PAYLOAD, &answer).begins);
                self.flow.look_further(PAYLOAD);
            }
            if self.recovery == Recovery::Sack && self.flow.snd_una < self.flow.start.bytes {
                if let Some(half) = self.flow.sack() {
                    half.on_answer(2 * DELAY);
                }
                let progress = self.flow.detect(PAYLOAD, false);
                self.recoveries += u64::from(progress.begins);
                if progress.recovering {
                    self.flow.look_further(PAYLOAD);
                }
            }
        }
        let timeout = if self.keeps() { TIMEOUT } else { LONG_TIMEOUT };
        let probing = self.flow.sack().is_some_and(|half| half.is_probing());
        if (self.flow.in_flight() > 0 || probing) && self.flow.progress_ps + timeout <= self.now {
            self.flow.progress_ps = self.now;
            self.flow.on_timeout(PAYLOAD);
            self.timeouts += 1;
        }
    }

    /// True if the receiver keeps packets that arrive out of order.
    fn keeps(&self) -> bool {
        !matches!(self.recovery, Recovery::GoBackN | Recovery::Perfect)
    }

    /// The numbers of the packets sent.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.log.iter().map(|seq| seq / PAYLOAD).collect()
    }

    /// Runs until the sender knows that all packets have arrived.
    pub(super) fn run(&mut self) {
        while self.flow.snd_una < self.flow.start.bytes {
            self.receive();
            self.acknowledge();
            self.send();
            self.now += 1;
            assert!(self.now < 1_000_000, "the flow never ends: {:?}", self.flow);
        }
        assert_eq!(self.flow.in_flight(), 0);
        assert!(!self.flow.has_data());
    }

    pub(super) fn repeats(&self) -> usize {
        let once: BTreeSet<u64> = self.log.iter().copied().collect();
        self.log.len() - once.len()
    }
}

pub(super) fn fate(kinds: u8) -> impl Strategy<Value = Fate> {
    (0..kinds, 1..50u64).prop_map(|(kind, steps)| match kind {
        0 => Fate::Lost,
        8 => Fate::Late(steps),
        9 => Fate::Twice,
        _ => Fate::Arrives,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Under any losses, duplicates and delays of data and acknowledgements, every byte arrives and
    /// the flow ends.
    #[test]
    fn selective_repeat_delivers_every_byte(
        bytes in 1u64..150_000,
        window in 1u64..60_000,
        forth in prop::collection::vec(fate(10), 0..400),
        back in prop::collection::vec(fate(10), 0..400),
    ) {
        let (forth, back) = (Way::new(forth), Way::new(back));
        let mut path = Path::new(Recovery::SelectiveRepeat, bytes, window, forth, back);
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
    }

    /// The same, over a path without duplicates.
    #[test]
    fn go_back_n_delivers_every_byte(
        bytes in 1u64..150_000,
        window in 1u64..60_000,
        forth in prop::collection::vec(fate(9), 0..400),
        back in prop::collection::vec(fate(9), 0..400),
    ) {
        let (forth, back) = (Way::new(forth), Way::new(back));
        let mut path = Path::new(Recovery::GoBackN, bytes, window, forth, back);
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
    }

    /// On a path without reordering, selective repeat retransmits only lost packets until a
    /// timeout.
    #[test]
    fn only_lost_packets_are_retransmitted(
        bytes in 1u64..150_000,
        window in 1u64..60_000,
        forth in prop::collection::vec(fate(8), 0..400),
    ) {
        let (forth, back) = (Way::new(forth), Way::new(Vec::new()));
        let mut path = Path::new(Recovery::SelectiveRepeat, bytes, window, forth, back);
        path.run();
        if path.timeouts == 0 {
            prop_assert_eq!(path.repeats(), path.forth.lost);
        }
    }
}

/// Packet 1 of 6 is lost. Selective repeat retransmits it; go-back-N retransmits it and all later
/// ones.
#[test]
fn one_loss_is_recovered() {
    let cases = [
        (Recovery::SelectiveRepeat, vec![0, 1, 2, 3, 4, 5, 1]),
        (Recovery::GoBackN, vec![0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5]),
    ];
    for (recovery, sent) in cases {
        let (forth, back) = (Way::new(vec![Fate::Arrives, Fate::Lost]), Way::new(Vec::new()));
        let mut path = Path::new(recovery, 5500, u64::MAX, forth, back);
        path.run();
        let numbers: Vec<u64> = path.log.iter().map(|seq| seq / PAYLOAD).collect();
        assert_eq!((numbers, path.timeouts), (sent, 0), "{recovery:?}");
    }
}

/// Packets 1 and 3 to 5 of 6 are lost. Packet 1 is followed by one that has arrived; the others
/// wait for a timeout, which skips packet 2 as long as packet 1 is lost again.
#[test]
fn a_timeout_skips_packets_that_have_arrived() {
    use Fate::{Arrives, Lost};
    let forth = Way::new(vec![Arrives, Lost, Arrives, Lost, Lost, Lost, Lost]);
    let back = Way::new(Vec::new());
    let mut path = Path::new(Recovery::SelectiveRepeat, 5500, u64::MAX, forth, back);
    path.run();
    let numbers: Vec<u64> = path.log.iter().map(|seq| seq / PAYLOAD).collect();
    assert_eq!((numbers, path.timeouts), (vec![0, 1, 2, 3, 4, 5, 1, 1, 3, 4, 5], 1));
}

/// "Each flow is bounded by one bandwidth-delay product" from the last acknowledged packet, even if
/// packets in between have arrived.
#[test]
fn the_window_limits_the_distance_from_the_last_acknowledged_packet() {
    let (forth, back) = (Way::new(Vec::new()), Way::new(Vec::new()));
    let mut path = Path::new(Recovery::SelectiveRepeat, 100_000, 4000, forth, back);
    let mut send = || path.flow.may_send().then(|| path.flow.take_packet(PAYLOAD).0 / PAYLOAD);
    assert_eq!([(); 5].map(|()| send()), [Some(0), Some(1), Some(2), Some(3), None]);
    path.flow.on_nack(0, 2, PAYLOAD);
    // Packet 2 has arrived: 0 and 1 are lost, 3 is in flight.
    assert_eq!(path.flow.in_flight(), 1000);
    let mut send = || path.flow.may_send().then(|| path.flow.take_packet(PAYLOAD).0 / PAYLOAD);
    assert_eq!([(); 3].map(|()| send()), [Some(0), Some(1), None]);
    path.flow.acknowledge(3000, PAYLOAD);
    let mut send = || path.flow.may_send().then(|| path.flow.take_packet(PAYLOAD).0 / PAYLOAD);
    assert_eq!([(); 4].map(|()| send()), [Some(4), Some(5), Some(6), None]);
}
