//! Flows that wait, whatever the file has.

use std::fmt::Write as _;

use super::{DependentConfig, HEADER, read};
use crate::fuzz_network::{HOSTS, offer};

/// Reads flows that wait for others.
///
/// # Errors
/// Why they are refused.
///
/// # Panics
/// If they are other flows after they are written.
pub fn dependent(file: &str, text: &str) -> Result<(), String> {
    let flows = read(file, text, HOSTS).map_err(|error| error.to_string())?;
    let mut written = format!("{HEADER}\n");
    for (id, flow) in flows.iter().enumerate() {
        let after: Vec<String> = flow.after.iter().map(ToString::to_string).collect();
        let (after, delay) = (after.join(" "), flow.delay.0);
        let _ = writeln!(written, "{id},{},{},{},{after},{delay}", flow.src, flow.dst, flow.bytes);
    }
    assert_eq!(read(file, &written, HOSTS).as_ref(), Ok(&flows), "{written}");
    let config = DependentConfig { file: file.into(), ..DependentConfig::default() };
    offer(&config, &[(file, text.as_bytes())])
}
