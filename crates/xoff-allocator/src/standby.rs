//! A backup's watch over the first allocator.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use xoff_control::{Endpoint, EndpointConfig, EndpointId, Key, NEVER, Nanos, RefusedCounts};

use crate::config::BackupEntry;
use crate::metrics::by_reason;
use crate::udp::Udp;

/// Batches of datagrams that a watch takes at most: a flood must not stop the allocator.
const BATCHES: usize = 4;

xoff_core::counts! {
    /// Counters of a watch.
    pub(crate) struct WatchStats {
        /// Datagrams that could not be sent.
        unsent,
        /// Datagrams from another address than the first allocator's.
        strangers,
    }
}

/// The backup is an endpoint of the first allocator. While it has a connection it stands by: so it
/// does not take over from an allocator that only some endpoints cannot reach.
pub(crate) struct Standby {
    endpoint: Endpoint,
    udp: Udp,
    primary: SocketAddr,
    takeover: Nanos,
    /// When it last heard of the first allocator: the connection counts as open for longer.
    heard: Nanos,
    /// True if the last watch has left datagrams.
    is_behind: bool,
    /// True if the last watch found that the first allocator works.
    works: bool,
    stats: WatchStats,
    /// The counters in the last account.
    logged: (WatchStats, RefusedCounts),
}

impl Standby {
    pub(crate) fn new(backup: &BackupEntry, key: &Key, secret: [u8; 32]) -> io::Result<Self> {
        let id = EndpointId(backup.id);
        let keepalive = (backup.takeover.0 / 8).max(1_000_000);
        let config = EndpointConfig { keepalive, ..EndpointConfig::new(id) };
        Ok(Self {
            endpoint: Endpoint::new(config, key, secret),
            udp: Udp::bind(backup.address)?,
            primary: backup.primary,
            takeover: backup.takeover.0,
            heard: 0,
            is_behind: false,
            works: true,
            stats: WatchStats::default(),
            logged: Default::default(),
        })
    }

    /// Exchanges datagrams with the first allocator; true while it works.
    pub(crate) fn watch(&mut self, now: Nanos) -> io::Result<bool> {
        let Self { endpoint, udp, primary, is_behind, stats, .. } = self;
        *is_behind = true;
        for _ in 0..BATCHES {
            let received = udp.receive(|datagram, from| {
                if from == *primary {
                    // Refused ones are counted by the endpoint.
                    let _ = endpoint.receive(0, datagram, now);
                } else {
                    stats.strangers += 1;
                }
            })?;
            if received == 0 {
                *is_behind = false;
                break;
            }
        }
        let mut buffer = [0; xoff_control::wire::DATAGRAM];
        while let Some((_, length)) = endpoint.transmit(now, &mut buffer) {
            // While the primary is down, sending may fail.
            let sent = udp.send(&buffer[..length], *primary);
            stats.unsent += u64::from(sent.is_err());
        }
        self.heard = endpoint.heard().unwrap_or(self.heard);
        self.works = now < self.heard + self.takeover;
        Ok(self.works)
    }

    /// What the log says of a takeover: why the first allocator may have seemed silent, from what
    /// has happened since the last account.
    pub(crate) fn account(&mut self) -> Value {
        let refused = self.endpoint.refused;
        let (stats_before, refused_before) =
            std::mem::replace(&mut self.logged, (self.stats, refused));
        let (stats, refused) = (self.stats.since(&stats_before), refused.since(&refused_before));
        let was_reached = self.endpoint.stats.connections > 0;
        let mut account = json!({
            "primary": self.primary.to_string(),
            "was_reached": was_reached,
            "unsent": stats.unsent,
            "strangers": stats.strangers,
            "refused": by_reason(&refused),
        });
        if !was_reached {
            account["text"] = json!(
                "the primary was never reached: compare `id`, `key` and `address` in [backup] with \
                 its [[endpoint]] there, and `primary` with its `listen`"
            );
        }
        account
    }

    /// When it must watch again: at once if a flood has left it datagrams, as answers of the first
    /// allocator are among them.
    pub(crate) fn deadline(&self) -> Nanos {
        if self.is_behind {
            return 0;
        }
        // After the takeover that time is in the past, and the daemon would not sleep.
        let takeover = if self.works { self.heard + self.takeover } else { NEVER };
        self.endpoint.deadline().min(takeover)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use xoff_control::{Sessions, SessionsConfig};

    use super::*;
    use crate::config::Time;

    const TAKEOVER: Nanos = 100_000_000;

    fn standby(primary: SocketAddr) -> Standby {
        let backup = BackupEntry {
            primary,
            id: 1,
            key: "none".into(),
            address: ([127, 0, 0, 1], 0).into(),
            takeover: Time(TAKEOVER),
        };
        Standby::new(&backup, &Key::new([1; 32]), [2; 32]).unwrap()
    }

    #[test]
    fn a_backup_that_has_taken_over_sleeps() {
        // No socket is there.
        let mut standby = standby(([127, 0, 0, 1], 9).into());
        assert!(standby.watch(0).unwrap());
        assert!(!standby.watch(TAKEOVER + 1).unwrap());
        assert!(standby.deadline() > TAKEOVER + 1, "{}", standby.deadline());
    }

    /// The first allocator is silent from a time on: the first watch, each millisecond, that finds
    /// it so.
    fn takeover_after(silent: Nanos) -> Nanos {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut standby = standby(socket.local_addr().unwrap());
        let (keys, mut events) = ([(EndpointId(1), Key::new([1; 32]))], Vec::new());
        let mut primary = Sessions::new(SessionsConfig::default(), &keys, [3; 32]).unwrap();
        for now in (0..).map(|milli| milli * 1_000_000) {
            if !standby.watch(now).unwrap() {
                return now;
            }
            let mut buffer = [0; 2048];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                if now < silent && primary.receive(&buffer[..length], now, &mut events).is_ok() {
                    while let Some((_, length)) = primary.transmit(now, &mut buffer) {
                        socket.send_to(&buffer[..length], from).unwrap();
                    }
                }
            }
        }
        unreachable!()
    }

    #[test]
    fn a_takeover_comes_after_the_configured_silence() {
        let silent = 1_000_000_000;
        let after = takeover_after(silent) - silent;
        // It asks for an answer eight times in that time.
        assert!((TAKEOVER * 7 / 8..=TAKEOVER).contains(&after), "{after}");
    }

    #[test]
    fn a_takeover_says_what_came_instead_of_the_first_allocator() {
        let primary = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut standby = standby(primary.local_addr().unwrap());
        let to = standby.udp.address().unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(standby.watch(1).unwrap());
        stranger.send_to(&[0; 50], to).unwrap();
        (0..2).for_each(|_| assert_eq!(primary.send_to(&[0; 50], to).unwrap(), 50));
        assert!(!standby.watch(TAKEOVER).unwrap());
        let account = standby.account();
        assert_eq!(account["was_reached"], false);
        assert!(account["text"].as_str().unwrap().contains("compare `id`, `key` and `address`"));
        assert_eq!((&account["strangers"], &account["unsent"]), (&json!(1), &json!(0)));
        assert_eq!(account["refused"], json!({"version": 2}));
        assert_eq!(standby.account()["refused"], json!({}), "they are counted once");
    }

    #[test]
    fn a_flood_does_not_keep_a_watch_from_its_end() {
        let mut standby = standby(([127, 0, 0, 1], 9).into());
        let (flood, to) = (UdpSocket::bind("127.0.0.1:0").unwrap(), standby.udp.address().unwrap());
        // A watch takes 256.
        let sent = 270;
        (0..sent).for_each(|_| assert_eq!(flood.send_to(&[0], to).unwrap(), 1));
        assert!(standby.watch(1).unwrap());
        assert_eq!(standby.deadline(), 0, "it does not wait with the rest");
        assert!(standby.udp.receive(|_, _| ()).unwrap() > 0, "all were taken at once");
        assert!(standby.watch(2).unwrap());
        assert!(standby.deadline() > 2, "there is no rest");
    }
}
