//! What every recovery of the seam says of itself.

use xoff_core::Bytes;
use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam as _;

use super::*;
use crate::cc::PATH;

/// What of this a recovery says with its default settings.
fn says(recovery: &RecoveryConfig) -> Vec<&'static str> {
    [
        ("limits requests", recovery.limits_requests()),
        ("order", recovery.needs_order()),
        ("switches", recovery.relies_on_switches()),
        ("losses", recovery.reports_losses()),
        ("duplicates", recovery.counts_duplicates()),
        ("deflates", recovery.deflates()),
        ("blocks", recovery.reports_blocks()),
        ("probes", recovery.probes()),
        ("what is left", recovery.tells_what_is_left()),
        ("captured", recovery.can_be_captured()),
    ]
    .into_iter()
    .filter_map(|(word, says)| says.then_some(word))
    .collect()
}

#[test]
fn every_recovery_says_what_it_is_and_needs() {
    let block = u64::from(u16::MAX) * PATH.payload;
    let table = [
        ("go-back-n", "limits requests, order, what is left, captured", u64::MAX),
        ("perfect", "switches, captured", u64::MAX),
        ("selective-repeat", "order, captured", PATH.window),
        ("sack", "order, losses, blocks, probes", block),
        ("newreno", "order, losses, duplicates, deflates", block),
        ("sack1", "order, losses, duplicates, blocks", block),
    ];
    let found: Vec<_> = RecoveryConfig::all()
        .iter()
        .map(|recovery| {
            let name = recovery.kind().show().replace('"', "");
            (name, says(recovery).join(", "), recovery.reach(&PATH))
        })
        .collect();
    let table = table.map(|(name, words, reach)| (name.to_owned(), words.to_owned(), reach));
    assert_eq!(found, table);
}

#[test]
fn only_the_recoveries_of_rdma_have_timeouts_of_the_transport() {
    let found: Vec<_> = RecoveryConfig::all()
        .iter()
        .map(|recovery| (recovery.timeouts().act(), recovery.timeouts() == Timeouts::Two))
        .collect();
    let none = (false, false);
    assert_eq!(found, [(true, false), none, (true, true), none, none, none]);
}

/// A threshold above TCP's own has been raised for packets that overtake each other, and without
/// one only timeouts tell.
#[test]
fn selective_acknowledgements_need_order_up_to_three_duplicates() {
    for (duplicate_acks, needs) in [(0, false), (1, true), (3, true), (4, false)] {
        let config = TcpConfig { duplicate_acks, ..TcpConfig::default() };
        assert_eq!(RecoverySettings::needs_order(&config), needs, "{duplicate_acks}");
    }
}

/// "sack" alone can do without duplicates.
#[test]
fn recoveries_that_count_duplicates_need_one() {
    let tcp = TcpConfig { duplicate_acks: 0, ..TcpConfig::default() };
    assert!(RecoverySettings::check(&tcp).is_ok());
    let newreno = NewRenoRecovery(tcp.clone()).check();
    assert_eq!(newreno.unwrap_err().0, "duplicate_acks");
    assert_eq!(Sack1Config(tcp).check().unwrap_err().0, "duplicate_acks");
}

#[test]
fn a_chunk_of_go_back_n_has_bytes() {
    assert!(GoBackNConfig::default().check().is_ok());
    let empty = GoBackNConfig { chunk: Bytes(0), ..GoBackNConfig::default() };
    assert_eq!(empty.check().unwrap_err().0, "chunk");
}

/// Packets 0, 2 and 4 of five have arrived. A receiver of selective acknowledgements reports two
/// blocks; the others report none. All but go-back-N keep the three packets, and perfect recovery
/// has no order.
#[test]
fn receivers_count_what_has_arrived() {
    for recovery in RecoveryConfig::all() {
        let kind = recovery.kind();
        let chunks = GoBackNConfig::default().chunks();
        let payload = PATH.payload;
        let setup =
            ReceiverSetup { recovery: kind, nack_interval: 0, payload, chunks, literal: false };
        let mut half = ReceiverHalf::new(kind);
        for packet in [0, 2, 4] {
            let arrival =
                Arrival { now: 0, seq: packet * payload, bytes: payload, end: 5 * payload };
            half.on_data(&setup, &arrival);
        }
        let blocks = if recovery.reports_blocks() { 2 } else { 0 };
        assert_eq!(half.blocks(), blocks, "{}", kind.show());
        let found = half.rx_progress(&setup);
        let [received, delivered] = match kind {
            Recovery::GoBackN => [1, 1],
            Recovery::Perfect => [3, 3],
            _ => [3, 1],
        };
        let expected = (received * payload, delivered * payload);
        assert_eq!((found.received, found.delivered), expected, "{}", kind.show());
    }
}
