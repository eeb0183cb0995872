use proptest::prelude::*;

use super::super::tests::{Fate, PAYLOAD, Path, Way, fate};
use super::*;
use crate::transport::Recovery;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Under any losses, duplicates and delays, every byte arrives and the flow ends.
    #[test]
    fn every_byte_is_delivered(
        bytes in 1u64..100_000,
        packets in 1u64..60,
        forth in prop::collection::vec(fate(10), 0..400),
        back in prop::collection::vec(fate(10), 0..400),
    ) {
        let (forth, back) = (Way::new(forth), Way::new(back));
        let mut path = Path::new(Recovery::Sack1, bytes, packets * PAYLOAD, forth, back);
        path.flow.reach = u64::MAX;
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
    }
}

/// Packets 1 and 3 of 12 are lost, with a window of 6. At the third duplicate, of 5, packets up to
/// 8 are sent and pipe is 8 - 3 = 5: packet 1 is repeated without counting. The duplicate of 6
/// takes one from pipe, and 3 and 9 follow.
#[test]
fn holes_are_repeated_before_new_packets_leave() {
    use Fate::{Arrives, Lost};
    let forth = Way::new(vec![Arrives, Lost, Arrives, Lost]);
    let mut path = Path::new(Recovery::Sack1, 12_000, 6000, forth, Way::new(Vec::new()));
    path.flow.reach = u64::MAX;
    path.run();
    assert_eq!(path.numbers(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 9, 10, 11]);
    assert_eq!((path.recoveries, path.timeouts), (1, 0));
}

const SENT: Sent =
    Sent { una: 0, next: 30_000, high: 30_000, payload: PAYLOAD, end: 1_000_000, window: 0 };

/// Of 30 packets the first 20 are lost: 10 duplicates leave pipe at 30 - 3 - 7 = 20. With a window
/// of 15 nothing more leaves until the timeout.
#[test]
fn lost_packets_stay_in_the_pipe() {
    let mut sender = Sender::new(&TcpConfig::default());
    let mut answer = Answer { now: 0, rtt: 1, acked: 0, repeats: true, news: true };
    for duplicate in 0..10 {
        answer.news = sender.on_block(0, Block { after: 20, packets: duplicate + 1 });
        sender.on_answer(&SENT, &answer);
        if sender.take().is_some() && duplicate == 2 {
            sender.on_sent(1000, 0, true);
        }
    }
    let in_flight = 30_000 - sender.lost_bytes(PAYLOAD, SENT.end);
    // A congestion window of 15 packets and this make a window that is full.
    assert_eq!(15_000 + sender.beyond(PAYLOAD, in_flight), in_flight as i64 - 5_000);
    sender.on_timeout(&SENT);
    assert!(!sender.on_block(0, Block { after: 20, packets: 3 }), "blocks count no more");
    assert_eq!(sender.lost_bytes(PAYLOAD, SENT.end), 0, "the flow goes back instead");
}

/// A timeout makes the sender forget blocks, as long as packets sent before it are missing. Blocks
/// of packets sent after it are news once.
#[test]
fn blocks_behind_a_timeout_are_news_once() {
    let mut sender = Sender::new(&TcpConfig::default());
    sender.on_timeout(&SENT);
    let answer = Answer { now: 0, rtt: 1, acked: 10_000, repeats: false, news: false };
    let after = |una| Sent { una, ..SENT };
    sender.on_answer(&after(10_000), &answer);
    let beyond = |missing: u16| Block { after: 35 - missing, packets: 1 };
    assert!(sender.on_block(10, beyond(10)));
    sender.on_answer(&after(20_000), &answer);
    assert!(sender.on_block(20, beyond(20)), "it was forgotten");
    sender.on_answer(&after(SENT.high), &answer);
    assert!(!sender.on_block(30, beyond(30)), "it is known");
}

#[test]
fn a_short_last_packet_is_repeated_as_it_is() {
    let mut sender = Sender::new(&TcpConfig::default());
    for (packet, bytes) in [(None, 0), (Some(4), 1000), (Some(5), 500)] {
        sender.first = packet;
        assert_eq!(sender.lost_bytes(PAYLOAD, 5500), bytes);
    }
}

/// A duplicate acknowledges nothing new, and has a block with news.
#[test]
fn only_duplicates_with_news_begin_a_recovery() {
    let begins = |repeats, news| {
        let mut sender = Sender::new(&TcpConfig::default());
        let answer = Answer { now: 0, rtt: 1, acked: 0, repeats, news };
        (0..3).any(|_| sender.on_answer(&SENT, &answer).begins)
    };
    let found =
        [(true, true), (true, false), (false, true)].map(|(repeats, news)| begins(repeats, news));
    assert_eq!(found, [true, false, false]);
}
