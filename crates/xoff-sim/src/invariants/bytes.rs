//! What hosts have sent, and where it is. Where nothing can be lost or overtaken, nothing is sent
//! again either.

use xoff_core::invariant::{Checker, Violation, equal, holds};
use xoff_net::arch::Switch;
use xoff_net::balance::PathPer;
use xoff_net::hop::HopConfig;
use xoff_net::recount::Checked;

use super::State;
use crate::partition::Partition;

/// Checks the payload of the network. `on_the_way`: bytes of it in packets.
pub(super) fn audit(state: &State<'_>, on_the_way: u64) -> Checked {
    // Streams of control connections turn data into segments.
    if state.setup.flowtune.is_some() {
        return Ok(());
    }
    let payload = state.partitions.iter().map(|part| part.hosts().payload_bytes());
    let (sent, received) =
        payload.fold((0, 0), |(sent, received), (more, arrived)| (sent + more, received + arrived));
    let missing = i128::from(sent) - i128::from(received) - i128::from(on_the_way);
    let lost = lost_bytes(state);
    holds(missing >= 0 && missing <= i128::from(lost), || {
        let expected = format!("{sent} bytes sent, less at most {lost} bytes of lost packets");
        let found = format!("{received} bytes have arrived, {on_the_way} are on their way");
        Violation::new(Checker::Bytes, "payload of all hosts", expected, found)
    })?;
    if lost == 0 && keeps_order(state) {
        let stats = state.partitions.iter().map(|part| part.hosts().stats);
        let (again, timeouts) = stats.fold((0, 0), |(again, timeouts), stats| {
            (again + stats.retransmitted + stats.repeated_acks, timeouts + stats.timeouts)
        });
        if timeouts == 0 {
            let place = || "packets sent again, though none was lost or overtaken".to_owned();
            equal(Checker::Order, 0, again, place)?;
        }
    }
    Ok(())
}

/// Bytes on the wire of all packets that were lost or that lost their payload; the most if that is
/// not known.
fn lost_bytes(state: &State<'_>) -> u64 {
    let switches = || state.partitions.iter().flat_map(Partition::switches);
    if switches().any(|(_, switch)| switch.stats().trimmed + switch.stats().returned > 0) {
        return u64::MAX;
    }
    let dropped = switches().flat_map(|(_, switch)| switch.egress()).map(|port| port.drops().bytes);
    let on_links = state
        .place
        .iter()
        .map(|place| state.partitions[place.partition as usize].fabric().lost(place.port).bytes);
    dropped.chain(on_links).sum()
}

/// Whether packets of a flow stay in order, and senders learn of nothing but gaps.
fn keeps_order(state: &State<'_>) -> bool {
    let hosts = &state.setup.hosts;
    // BFC may move a flow to another queue while its packets wait elsewhere.
    let moves = matches!(state.setup.switch.hop, HopConfig::Bfc(_));
    state.has_sound_links()
        && !moves
        && state.setup.switch.balance.path_per() == PathPer::Flow
        && hosts.driver.receiver_driven().is_none()
        && !hosts.recovery.reports_losses()
        && !hosts.literal
}
