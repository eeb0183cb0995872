//! What Flowtune's daemons share, allocator and agent: [key files](read_key), the [log](Log),
//! [metrics](Metrics) over [HTTP](Server), [secrets](secret), and [giving up
//! privileges](give_up_privileges).

pub mod fuzz;
mod http;
#[cfg(target_os = "linux")]
mod keys;
mod log;
mod metrics;
#[cfg(target_os = "linux")]
mod privileges;

pub use http::{Server, check_address};
#[cfg(target_os = "linux")]
pub use keys::read_key;
pub use log::{Log, log};
pub use metrics::Metrics;
#[cfg(target_os = "linux")]
pub use privileges::{User, give_up_privileges};
#[cfg(target_os = "linux")]
pub use rustix::thread::CapabilitySet;

/// Unpredictable bytes.
///
/// # Errors
/// If the system has none.
pub fn secret() -> Result<[u8; 32], String> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| format!("no random bytes: {error}"))?;
    Ok(secret)
}
