//! What no text may do to the reader of configuration files: a function for fuzzers, which panics
//! where a rule is broken, and returns why a text is refused.

use crate::{Config, Topology};

/// Reads a configuration file, and makes its network.
///
/// # Errors
/// Why it is refused.
///
/// # Panics
/// If a link has no rate, or the protocol refuses settings that the file may have.
pub fn config(text: &str) -> Result<(), String> {
    let config = Config::parse(text)?;
    let network = Topology::new(&config.network, &config.endpoints)?;
    assert!(network.links().iter().all(|link| link.capacity > 0.0));
    Ok(())
}
