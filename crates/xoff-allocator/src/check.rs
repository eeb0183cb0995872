//! Values of a configuration file that cannot be.

use xoff_control::Nanos;
use xoff_control::wire::REPORT_EVENTS;

use crate::config::Config;

/// Racks of a network: more than any has.
const RACKS: u32 = 1 << 20;
/// The longest lifetime. Messages have it in microseconds, in 32 bits.
const LONGEST_LIFETIME: Nanos = u32::MAX as Nanos * 1000;

impl Config {
    /// Refuses what cannot be.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.metrics.map_or(Ok(()), xoff_daemon::check_address)?;
        self.check_endpoints()?;
        self.check_times()?;
        self.check_limits()
    }

    fn check_endpoints(&self) -> Result<(), String> {
        if self.endpoints.is_empty() {
            return Err("no endpoint: write one `[[endpoint]]` for each server".into());
        }
        if let Some(endpoint) = self.endpoints.iter().find(|endpoint| endpoint.rack >= RACKS) {
            return Err(format!("endpoint {}: `rack` must be below {RACKS}", endpoint.id));
        }
        let families = self.endpoints.iter().find(|e| e.address.is_ipv4() != self.listen.is_ipv4());
        if let Some(endpoint) = families {
            return Err(format!(
                "endpoint {}: {} and `listen` must both be IPv4, or both IPv6",
                endpoint.id, endpoint.address
            ));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), String> {
        let sessions = self.sessions();
        if sessions.resend >= sessions.silence {
            return Err("`resend` must be shorter than `silence`".into());
        }
        if sessions.lifetime / 4 < self.iteration.0 {
            return Err("`lifetime` must be at least four times as long as `iteration`: rates are \
                        renewed four times in it"
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
            return Err("`events_per_second` must be at least 1: no report would be accepted".into());
        }
        if sessions.events_at_once < REPORT_EVENTS {
            return Err(format!(
                "`events_at_once` must be at least {REPORT_EVENTS}, which a full report has: it \
                 would never be accepted"
            ));
        }
        Ok(())
    }
}
