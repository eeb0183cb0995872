//! The daemon: a clock and sockets around an [`Allocation`].

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use rustc_hash::FxHashMap;
use serde_json::json;
use xoff_control::wire::{DATAGRAM, Header};
use xoff_control::{EndpointId, Key, Nanos, RefusedCounts};
use xoff_daemon::{CapabilitySet, Log, Server, User, give_up_privileges, read_key, secret};

use crate::allocation::{Allocation, AllocationStats};
use crate::config::{Config, Waiting};
use crate::metrics::{DaemonStats, Snapshot, by_reason};
use crate::standby::Standby;
use crate::udp::{Udp, pause};

/// Time between two snapshots, and two looks for the order to stop.
const LOOK: Nanos = 100_000_000;
/// Time between two lines about what has changed.
const STATUS: Nanos = 10_000_000_000;
/// Links in metrics.
const LINKS: usize = 10;

/// An allocator on a network.
pub struct Daemon {
    allocation: Allocation,
    udp: Udp,
    standby: Option<Standby>,
    stands_by: bool,
    addresses: FxHashMap<EndpointId, SocketAddr>,
    iteration: Nanos,
    wait: Waiting,
    origin: Instant,
    log: Log,
    stats: DaemonStats,
    longest_ns: u64,
    /// Time of the last iteration.
    last_ns: u64,
    snapshot: Arc<Mutex<Snapshot>>,
    metrics: Option<Server>,
    /// The counters in the last line about them.
    logged: (RefusedCounts, AllocationStats, DaemonStats),
}

/// The user that the daemon becomes.
fn find_user(config: &Config) -> Result<Option<User>, String> {
    config.user.as_deref().map(User::find).transpose()
}

/// Keys of endpoints, and that of a backup.
struct Keys {
    endpoints: Vec<(EndpointId, Key)>,
    backup: Option<Key>,
}

impl Keys {
    fn read(config: &Config, user: Option<&User>) -> Result<Self, String> {
        let endpoints = config.endpoints.iter();
        let endpoints = endpoints
            .map(|endpoint| Ok((Config::id(endpoint), read_key(&endpoint.key, user)?)))
            .collect::<Result<_, String>>()?;
        let backup = config.backup.as_ref().map(|backup| read_key(&backup.key, user));
        Ok(Self { endpoints, backup: backup.transpose()? })
    }
}

impl Daemon {
    /// Checks a configuration with its keys, without sockets.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check(config: &Config) -> Result<(), String> {
        let keys = Keys::read(config, find_user(config)?.as_ref())?;
        Allocation::new(config, &keys.endpoints, secret()?).map(drop)
    }

    /// Sets up an allocator: reads keys, opens sockets, and gives up privileges.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn start(config: &Config, log: Box<dyn Write + Send>) -> Result<Self, String> {
        let user = find_user(config)?;
        let keys = Keys::read(config, user.as_ref())?;
        let mut daemon = Self::with_keys(config, &keys.endpoints, log)?;
        if let (Some(backup), Some(key)) = (&config.backup, &keys.backup) {
            let standby = Standby::new(backup, key, secret()?);
            daemon.standby = Some(standby.map_err(|error| format!("{}: {error}", backup.address))?);
            daemon.allocation.stand_by(true);
            daemon.stands_by = true;
        }
        give_up_privileges(user.as_ref(), CapabilitySet::empty())?;
        if let Some(address) = config.metrics {
            let snapshot = Arc::clone(&daemon.snapshot);
            let text = move || snapshot.lock().unwrap_or_else(PoisonError::into_inner).text();
            daemon.metrics = Some(Server::start(address, text)?);
        }
        let address = daemon.udp.address().map_err(|error| error.to_string())?;
        daemon.log.line(
            "started",
            json!({
                "listen": address.to_string(),
                "endpoints": config.endpoints.len(),
                "iteration_ns": daemon.iteration,
                "metrics": daemon.metrics.as_ref().map(|server| server.address.to_string()),
                "is_backup": daemon.standby.is_some(),
                "user": config.user,
            }),
        );
        if config.user.is_none() && nix::unistd::Uid::effective().is_root() {
            daemon.log.line("warning", json!({"text": "runs as root; set `user`"}));
        }
        Ok(daemon)
    }

    /// An allocator with keys that are in memory, without metrics; the process keeps its
    /// privileges.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn with_keys(
        config: &Config,
        keys: &[(EndpointId, Key)],
        log: Box<dyn Write + Send>,
    ) -> Result<Self, String> {
        let addresses =
            config.endpoints.iter().map(|endpoint| (Config::id(endpoint), endpoint.address));
        let udp = Udp::bind(config.listen);
        Ok(Self {
            allocation: Allocation::new(config, keys, secret()?)?,
            udp: udp.map_err(|error| format!("listen = \"{}\": {error}", config.listen))?,
            standby: None,
            stands_by: false,
            addresses: addresses.collect(),
            iteration: config.iteration.0,
            wait: config.wait,
            origin: Instant::now(),
            log: Log::new(log),
            stats: DaemonStats::default(),
            longest_ns: 0,
            last_ns: 0,
            snapshot: Arc::default(),
            metrics: None,
            logged: Default::default(),
        })
    }

    /// The address that it listens at.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.udp.address().ok()
    }

    /// The address of its metrics.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|server| server.address)
    }

    pub(crate) fn snapshot(&self) -> &Arc<Mutex<Snapshot>> {
        &self.snapshot
    }

    fn now(&self) -> Nanos {
        self.origin.elapsed().as_nanos() as Nanos
    }

    /// Allocates as long as `go_on` says so. It is asked ten times a second, or after an iteration
    /// that takes longer.
    ///
    /// # Errors
    /// If a socket fails.
    pub fn run(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), String> {
        let (mut next, mut look, mut status) = (self.now(), 0, STATUS);
        loop {
            let now = self.now();
            if now >= look {
                if !go_on() {
                    break;
                }
                look = now + LOOK;
                self.take_snapshot();
                if now >= status {
                    status = now + STATUS;
                    self.log_changes();
                }
            }
            let received = self.receive(now)?;
            // The first report after a quiet time is not kept waiting.
            let is_idle = self.allocation.sessions().flowlets() == 0;
            if now >= next || (is_idle && received > 0) {
                self.iterate(now)?;
                let end = self.now();
                next = now.max(next) + self.iteration;
                if end > next {
                    self.stats.late += u64::from(!is_idle);
                    next = end;
                }
            } else if self.wait == Waiting::Block {
                self.wait(is_idle, next.min(look), look)?;
                if is_idle {
                    next = next.max(self.now().min(look));
                }
            }
        }
        self.take_snapshot();
        self.log_changes();
        self.log.line("stopped", json!({}));
        Ok(())
    }

    /// Sleeps until the next iteration; without flowlets, until a datagram or a time is due.
    fn wait(&self, is_idle: bool, next: Nanos, look: Nanos) -> Result<(), String> {
        let until = if is_idle {
            let standby = self.standby.as_ref().map_or(Nanos::MAX, Standby::deadline);
            look.min(self.allocation.sessions().deadline()).min(standby)
        } else {
            next
        };
        let time = Duration::from_nanos(until.saturating_sub(self.now()));
        let waited = if is_idle { self.udp.wait(time) } else { pause(time) };
        waited.map_err(|error| format!("poll: {error}"))
    }

    /// Receives what has arrived. It takes at most as long as an iteration does, so that a flood
    /// cannot stop iterations.
    fn receive(&mut self, now: Nanos) -> Result<usize, String> {
        let (began, most) = (Instant::now(), self.iteration.max(self.last_ns));
        let Self { udp, allocation, addresses, stats, .. } = self;
        let mut all = 0;
        while (began.elapsed().as_nanos() as u64) < most {
            let number = udp.receive(|datagram, from| {
                stats.received += 1;
                let sender = Header::parse(datagram).ok().map(|header| header.endpoint);
                let known = sender.and_then(|endpoint| addresses.get(&endpoint));
                if known.is_some_and(|&address| address != from) {
                    stats.strangers += 1;
                    return;
                }
                // Refused ones are counted by the sessions.
                let _ = allocation.receive(datagram, now);
            });
            let number = number.map_err(|error| format!("receive: {error}"))?;
            all += number;
            if number == 0 {
                break;
            }
        }
        Ok(all)
    }

    fn iterate(&mut self, now: Nanos) -> Result<(), String> {
        if let Some(standby) = &mut self.standby {
            let stands_by = standby.watch(now).map_err(|error| format!("backup: {error}"))?;
            if stands_by != self.stands_by {
                self.stands_by = stands_by;
                self.allocation.stand_by(stands_by);
                if stands_by {
                    self.log.line("stands by", json!({}));
                } else {
                    self.log.line("takes over", standby.account());
                }
            }
        }
        let began = Instant::now();
        self.allocation.iterate(now);
        let mut buffer = [0; DATAGRAM];
        while let Some((endpoint, length)) = self.allocation.transmit(now, &mut buffer) {
            let address = self.addresses[&endpoint];
            // A full buffer is a loss; what was lost is sent again.
            let sent = self.udp.send(&buffer[..length], address);
            self.stats.unsent += u64::from(sent.is_err());
        }
        let took = began.elapsed().as_nanos() as u64;
        self.stats.iteration_ns += took;
        self.longest_ns = self.longest_ns.max(took);
        self.last_ns = took;
        Ok(())
    }

    fn take_snapshot(&mut self) {
        if let Ok(time) = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID) {
            self.stats.cpu_ns = time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64;
        }
        let sessions = self.allocation.sessions();
        let links = self.allocation.busiest(LINKS).into_iter();
        let snapshot = Snapshot {
            daemon: self.stats,
            allocation: self.allocation.stats,
            sessions: sessions.stats,
            refused: sessions.refused,
            endpoints: self.addresses.len(),
            connections: sessions.connections(),
            flowlets: sessions.flowlets(),
            stands_by: self.stands_by,
            longest_ns: std::mem::take(&mut self.longest_ns),
            links: links.map(|(link, ratio)| (link.to_owned(), ratio)).collect(),
        };
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    /// Logs connections and refusals since the last line about them.
    fn log_changes(&mut self) {
        let sessions = self.allocation.sessions();
        let (refused, allocation, daemon) = (sessions.refused, self.allocation.stats, self.stats);
        let (refused_before, allocation_before, daemon_before) = self.logged;
        self.logged = (refused, allocation, daemon);
        let counts = refused.since(&refused_before);
        let mut reasons = by_reason(&counts);
        let strangers = daemon.strangers - daemon_before.strangers;
        if strangers > 0 {
            reasons.insert("address".into(), json!(strangers));
        }
        let changes = allocation.since(&allocation_before);
        if reasons.is_empty() && changes.opened + changes.closed + changes.unroutable == 0 {
            return;
        }
        let fields = json!({
            "connections": sessions.connections(),
            "flowlets": sessions.flowlets(),
            "opened": changes.opened,
            "closed": changes.closed,
            "unroutable": changes.unroutable,
            "refused": reasons,
        });
        self.log.line("status", fields);
    }
}
