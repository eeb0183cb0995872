//! Senders that probe, over a path that loses packets as it is told.

use proptest::prelude::*;

use super::super::tests::{Fate, PAYLOAD, Path, Way, fate};
use crate::transport::{Recovery, TcpConfig};

fn path(probe_after: u16, bytes: u64, window: u64, forth: Vec<Fate>, back: Vec<Fate>) -> Path {
    let tcp = TcpConfig { duplicate_acks: 0, probe_after, ..TcpConfig::default() };
    Path::with(&tcp, Recovery::Sack, bytes, window, Way::new(forth), Way::new(back))
}

proptest! {
    /// Whatever the path does to data, headers and answers, each byte gets there, and only timeouts
    /// send anything again.
    #[test]
    fn probes_get_every_byte_there(
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

/// Two packets, of which nothing arrives for a long time: after two timeouts in a row each further one
/// sends a header. Its answer, which acknowledges nothing, lets the flow send again, and what was sent
/// before it is not taken for arrived.
#[test]
fn after_timeouts_in_a_row_only_headers_are_sent_until_one_is_answered() {
    for bytes in [800u64, 1500] {
        let sent_before = 2 * bytes.div_ceil(PAYLOAD) as usize;
        let mut path = path(2, bytes, 10_000, vec![Fate::Lost; sent_before + 3], Vec::new());
        path.run();
        let first_probe = path.probes.iter().position(|&probe| probe).unwrap();
        assert_eq!(first_probe, sent_before);
        // Three probes are lost, the fourth is answered.
        let probes = path.probes.iter().filter(|&&probe| probe).count();
        assert_eq!((probes, path.timeouts), (4, 5), "{bytes} B");
        assert_eq!(path.log.len(), sent_before + 4 + sent_before / 2);
        assert_eq!(path.receivers.len(), usize::from(bytes > PAYLOAD));
    }
}
