//! Refuses invalid values of a configuration file.

use xoff_control::Nanos;
use xoff_control::wire::REPORT_EVENTS;

use crate::config::{BackupEntry, Config, EndpointEntry, NetworkEntry, STEP_LIMIT};

/// Racks of a network: more than any has.
const RACKS: u32 = 1 << 20;
/// The longest lifetime. Messages have it in microseconds, in 32 bits.
const LONGEST_LIFETIME: Nanos = u32::MAX as Nanos * 1000;
/// The shortest silence before a takeover. A backup asks the first allocator eight times in it, but
/// once a millisecond at most.
const SHORTEST_TAKEOVER: Nanos = 8_000_000;

impl Config {
    /// Checks every value.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.metrics.map_or(Ok(()), xoff_daemon::check_address)?;
        self.check_endpoints()?;
        self.check_times()?;
        self.check_limits()?;
        self.check_gamma()?;
        self.check_backup()
    }

    fn check_endpoints(&self) -> Result<(), String> {
        if self.endpoints.is_empty() {
            return Err("no endpoint: write one `[[endpoint]]` for each server".into());
        }
        self.endpoints.iter().try_for_each(|endpoint| {
            let id = endpoint.id;
            self.check_place(endpoint).map_err(|wrong| format!("endpoint {id}: {wrong}"))
        })?;
        let families = self.endpoints.iter().find(|e| e.address.is_ipv4() != self.listen.is_ipv4());
        if let Some(endpoint) = families {
            return Err(format!(
                "endpoint {}: {} and `listen` must both be IPv4, or both IPv6",
                endpoint.id, endpoint.address
            ));
        }
        Ok(())
    }

    /// An endpoint has what its network asks for, and nothing else.
    fn check_place(&self, endpoint: &EndpointEntry) -> Result<(), String> {
        let is_clos = matches!(self.network, NetworkEntry::Clos { .. });
        let is_listed = matches!(self.network, NetworkEntry::Paths { .. });
        match endpoint.rack {
            None if is_clos => {
                Err("a \"clos\" network needs its `rack`: write any for a backup".into())
            }
            Some(_) if !is_clos => {
                Err("`rack` has no meaning without kind = \"clos\": leave it out".into())
            }
            Some(rack) if rack >= RACKS => Err(format!("`rack` must be below {RACKS}")),
            _ if is_listed && endpoint.rate.is_some() => {
                Err("`rate` has no meaning where paths are listed: set that of their links".into())
            }
            _ => Ok(()),
        }
    }

    fn check_times(&self) -> Result<(), String> {
        let sessions = self.sessions();
        if sessions.lifetime / 4 < self.iteration.0 {
            let why = "rates are renewed four times in it";
            return Err(format!("`lifetime` must be at least four times `iteration`: {why}"));
        }
        if sessions.resend >= sessions.silence {
            return Err("`resend` must be shorter than `silence`: by default they are 10ms, or \
                        three times `iteration` if that is longer, and 1s"
                .into());
        }
        if sessions.lifetime > LONGEST_LIFETIME {
            return Err("`lifetime` must be at most 4294s, which is what messages can say".into());
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), String> {
        let sessions = self.sessions();
        if !(1..=u32::from(u16::MAX)).contains(&sessions.flowlets) {
            return Err(format!("`flowlets` must be from 1 to {}", u16::MAX));
        }
        if sessions.events_per_second == 0 {
            return Err(
                "`events_per_second` must be at least 1: no report would be accepted".into()
            );
        }
        if sessions.events_at_once < REPORT_EVENTS {
            return Err(format!(
                "`events_at_once` must be at least {REPORT_EVENTS}, which a full report has: it \
                 would never be accepted"
            ));
        }
        Ok(())
    }

    /// With too large a step, prices never settle.
    fn check_gamma(&self) -> Result<(), String> {
        let (gamma, links) = (self.optimizer().gamma, self.longest_path());
        if gamma * (links as f64) < STEP_LIMIT {
            return Ok(());
        }
        let most = STEP_LIMIT / links as f64;
        Err(format!(
            "`gamma` = {gamma} is too much for the longest path, which has {links} links: rates \
             would never settle; it must be below {most:.3}"
        ))
    }

    fn check_backup(&self) -> Result<(), String> {
        let Some(BackupEntry { primary, address, takeover, .. }) = &self.backup else {
            return Ok(());
        };
        if primary.is_ipv4() != address.is_ipv4() {
            return Err(format!(
                "backup: `primary` {primary} and `address` {address} must both be IPv4, or both \
                 IPv6"
            ));
        }
        // A busy allocator answers once in an iteration, and an answer may be lost.
        if takeover.0 < SHORTEST_TAKEOVER.max(4 * self.iteration.0) {
            let why = "a busy allocator answers once in an iteration";
            return Err(format!(
                "backup: `takeover` must be at least 8ms and four times `iteration`: {why}"
            ));
        }
        Ok(())
    }
}
