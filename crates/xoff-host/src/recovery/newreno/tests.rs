use proptest::prelude::*;

use super::super::tests::{Fate, PAYLOAD, Path, Way, fate};
use super::*;
use crate::transport::Recovery;

const SENT: Sent =
    Sent { una: 0, next: 0, high: 0, payload: PAYLOAD, end: 1_000_000, window: 2 * PAYLOAD };

fn answer(acked: u64) -> Answer {
    Answer { now: 0, rtt: 1, acked: acked * PAYLOAD, repeats: acked == 0, news: acked > 0 }
}

/// A sender with packets up to `high`, after the first missing one.
fn at(una: u64, high: u64) -> Sent {
    Sent { una: una * PAYLOAD, next: high * PAYLOAD, high: high * PAYLOAD, ..SENT }
}

fn sender(after_recovery: AfterRecovery) -> Sender {
    Sender::new(&TcpConfig { after_recovery, ..TcpConfig::default() })
}

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
        let mut path = Path::new(Recovery::NewReno, bytes, packets * PAYLOAD, forth, back);
        path.flow.reach = u64::MAX;
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
    }
}

/// Packets 1 and 3 of 12 are lost, with a window of 6. The first two duplicates let packets 7 and 8
/// leave, the third repeats 1. Duplicates of 6, 7 and 8 let 9, 10 and 11 leave. The partial
/// acknowledgement repeats 3.
#[test]
fn duplicates_and_partial_acknowledgements_keep_the_flow_going() {
    use Fate::{Arrives, Lost};
    let forth = Way::new(vec![Arrives, Lost, Arrives, Lost]);
    let mut path = Path::new(Recovery::NewReno, 12_000, 6000, forth, Way::new(Vec::new()));
    path.flow.reach = u64::MAX;
    path.run();
    assert_eq!(path.numbers(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 10, 11, 3]);
    assert_eq!((path.recoveries, path.timeouts), (1, 0));
}

/// The last packets are lost: no duplicates tell. After the timeout the sender goes back.
#[test]
fn a_timeout_goes_back_to_the_first_missing_packet() {
    use Fate::{Arrives, Lost};
    let forth = Way::new(vec![Arrives, Lost, Lost, Arrives]);
    let mut path = Path::new(Recovery::NewReno, 4000, 6000, forth, Way::new(Vec::new()));
    path.run();
    assert_eq!(path.numbers(), [0, 1, 2, 3, 1, 2, 3]);
    assert_eq!((path.recoveries, path.timeouts), (0, 1));
}

/// RFC 6582 §3.2, steps 2 and 3: ssthresh + 3, one more for each duplicate, less what a partial
/// acknowledgement acknowledges, plus one.
#[test]
fn the_window_is_inflated_and_deflated() {
    let mut sender = sender(AfterRecovery::Threshold);
    assert_eq!(sender.beyond(PAYLOAD), 0);
    for expected in [1, 2] {
        assert_eq!(sender.on_answer(&at(5, 25), &answer(0)), Progress::default());
        assert_eq!(sender.beyond(PAYLOAD), expected * 1000, "limited transmit");
    }
    let progress = sender.on_answer(&at(5, 25), &answer(0));
    assert_eq!((progress.begins, progress.recovering, progress.restarts), (true, true, true));
    assert_eq!((sender.beyond(PAYLOAD), sender.take()), (3000, Some(5)));
    (0..7).for_each(|_| _ = sender.on_answer(&at(5, 25), &answer(0)));
    assert_eq!(sender.beyond(PAYLOAD), 10_000);
    // Only the first partial acknowledgement restarts the timer.
    for (una, beyond, restarts) in [(9, 7000, true), (20, -3000, false)] {
        let acked = una - if restarts { 5 } else { 9 };
        let progress = sender.on_answer(&at(una, 30), &answer(acked));
        assert_eq!(progress, Progress { recovering: true, restarts, ..Progress::default() });
        assert_eq!((sender.beyond(PAYLOAD), sender.take()), (beyond, Some(una)));
    }
    let progress = sender.on_answer(&at(25, 30), &answer(5));
    assert!(progress.recovering && progress.restarts, "the last one does not grow the window");
    assert_eq!(sender.beyond(PAYLOAD), 0);
}

/// As in ns-2: the inflation stays at one packet, and the congestion window takes the rest.
#[test]
fn deflation_beyond_the_duplicates_cuts_the_window() {
    let mut sender = sender(AfterRecovery::Deflated);
    (0..5).for_each(|_| _ = sender.on_answer(&at(5, 25), &answer(0)));
    assert_eq!(sender.beyond(PAYLOAD), 5000);
    // dupwnd 5, 4 acknowledged: 2 are left.
    assert_eq!(sender.on_answer(&at(9, 25), &answer(4)).shrink, None);
    assert_eq!(sender.beyond(PAYLOAD), 2000);
    // 10 acknowledged: the congestion window falls by 10 - 2.
    assert_eq!(sender.on_answer(&at(19, 25), &answer(10)).shrink, Some(Shrink::By(8000)));
    assert_eq!(sender.beyond(PAYLOAD), 1000);
    let progress = sender.on_answer(&at(25, 25), &answer(6));
    assert!(!progress.recovering, "slow start goes on with this acknowledgement");
}

/// RFC 6582 §3.2, step 3, option 1: what is in flight bounds the window after a recovery.
#[test]
fn the_flight_bounds_the_window_after_a_recovery() {
    let mut sender = sender(AfterRecovery::Flight);
    (0..3).for_each(|_| _ = sender.on_answer(&at(5, 25), &answer(0)));
    let progress = sender.on_answer(&at(25, 30), &answer(20));
    assert_eq!((progress.recovering, progress.shrink), (true, Some(Shrink::To(6000))));
    let progress = sender.on_answer(&at(26, 30), &answer(1));
    assert_eq!((progress.recovering, progress.shrink), (false, None));
}

/// "The Cumulative Acknowledgment field covers more than recover" (§3.2, step 2).
#[test]
fn no_recovery_begins_before_recover_is_acknowledged() {
    let begun = |newreno, una| {
        let mut sender = Sender::new(&TcpConfig { newreno, ..TcpConfig::default() });
        sender.on_timeout(&at(5, 25));
        sender.on_answer(&at(una, 40), &answer(1));
        let third = [(); 3].map(|()| sender.on_answer(&at(una, 40), &answer(0)).begins)[2];
        assert_eq!(sender.rto.timeouts(), 0, "every acknowledgement is a sample");
        third
    };
    assert_eq!([25, 26].map(|una| begun(NewRenoRules::Rfc6582, una)), [false, true]);
    assert_eq!([24, 25].map(|una| begun(NewRenoRules::Htsim, una)), [false, true]);
}

/// The third duplicate only repeats a packet, and a window of two packets is never deflated below
/// one.
#[test]
fn htsim_sends_nothing_new_at_the_third_duplicate_and_keeps_a_packet() {
    let config =
        TcpConfig { newreno: NewRenoRules::Htsim, limited_transmit: false, ..TcpConfig::default() };
    let mut sender = Sender::new(&config);
    (0..3).for_each(|_| _ = sender.on_answer(&at(5, 25), &answer(0)));
    assert_eq!((sender.beyond(PAYLOAD), sender.take()), (i64::MIN, Some(5)));
    sender.on_answer(&at(5, 25), &answer(0));
    assert_eq!(sender.beyond(PAYLOAD), 4000);
    // Of 2 + 4 packets a partial acknowledgement of 3 leaves 4, one of 9 leaves 1.
    sender.on_answer(&at(8, 25), &answer(3));
    assert_eq!(sender.beyond(PAYLOAD), 2000);
    sender.on_answer(&at(17, 25), &answer(9));
    assert_eq!(sender.beyond(PAYLOAD), -1000);
}

#[test]
fn a_short_last_packet_is_repeated_as_it_is() {
    let mut sender = sender(AfterRecovery::Threshold);
    for (packet, bytes) in [(None, 0), (Some(4), 1000), (Some(5), 500)] {
        sender.resend = packet;
        assert_eq!(sender.lost_bytes(PAYLOAD, 5500), bytes);
    }
}
