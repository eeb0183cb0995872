//! Senders that probe, over a path with prescribed losses.

use proptest::prelude::*;

use super::super::tests::{Fate, PAYLOAD, Path, Way, fate};
use crate::transport::{Recovery, TcpConfig};

fn path(probe_after: u16, bytes: u64, window: u64, forth: Vec<Fate>, back: Vec<Fate>) -> Path {
    let tcp = TcpConfig { duplicate_acks: 0, probe_after, ..TcpConfig::default() };
    Path::with(&tcp, Recovery::Sack, bytes, window, Way::new(forth), Way::new(back))
}

proptest! {
    /// Under any losses and delays, every byte arrives, and only timeouts cause retransmissions.
    #[test]
    fn a_probing_sender_delivers_every_byte(
        bytes in 1u64..50_000,
        packets in 1u64..30,
        probe_after in 1u16..6,
        forth in prop::collection::vec(fate(3), 0..100),
        back in prop::collection::vec(fate(10), 0..100),
    ) {
        let mut path = path(probe_after, bytes, packets * PAYLOAD, forth, back);
        path.run();
        prop_assert_eq!(path.arrived.len() as u64, bytes.div_ceil(PAYLOAD));
        prop_assert_eq!(path.recoveries, 0);
    }
}

/// Two packets whose transmissions are lost for a long time. After two consecutive timeouts each
/// further timeout sends a header. Its acknowledgement, which covers no new data, lets the flow
/// send again, and packets sent before it are not taken as arrived.
#[test]
fn after_consecutive_timeouts_only_headers_are_sent_until_one_is_acknowledged() {
    for bytes in [800u64, 1500] {
        let sent_before = 2 * bytes.div_ceil(PAYLOAD) as usize;
        let mut path = path(2, bytes, 10_000, vec![Fate::Lost; sent_before + 3], Vec::new());
        path.run();
        let first_probe = path.probes.iter().position(|&probe| probe).unwrap();
        assert_eq!(first_probe, sent_before);
        // Three probes are lost, the fourth is acknowledged.
        let probes = path.probes.iter().filter(|&&probe| probe).count();
        assert_eq!((probes, path.timeouts), (4, 5), "{bytes} B");
        assert_eq!(path.log.len(), sent_before + 4 + sent_before / 2);
        assert_eq!(path.receivers.len(), usize::from(bytes > PAYLOAD));
    }
}
