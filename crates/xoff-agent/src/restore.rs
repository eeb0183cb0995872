//! How the agent's changes are undone.

use std::io;

use crate::host::{TSO_RTT_LOG, in_each_namespace, read_setting, retire, write_setting};
use crate::limits::Limits;
use crate::name::Name;
use crate::state::State;

/// Undoes what an agent has changed on the host.
///
/// # Errors
/// What could not be undone; the rest is. The file of changes stays then.
pub(crate) fn restore(name: &Name, state: &State) -> io::Result<()> {
    let bursts = in_each_namespace(|inode| match &state.tso_rtt_log {
        Some(before) if inode == state.namespace && read_setting(TSO_RTT_LOG)? == "0" => {
            write_setting(TSO_RTT_LOG, before)
        }
        _ => Ok(()),
    });
    let retired = retire(name, &state.congestion_control);
    bursts.and(retired).and_then(|()| State::delete(name))
}

/// Undoes what killed agents left. Returns what that was: names of congestion controls, and limits
/// of sockets. Agents that run are left alone.
///
/// # Errors
/// What could not be undone; the rest is.
pub fn cleanup() -> io::Result<Vec<String>> {
    let mut cleaned = Vec::new();
    let (agents, mut result) = State::all();
    for (name, state) in agents {
        if !state.is_running() {
            result = result.and(restore(&name, &state));
            cleaned.push(name.to_string());
        }
    }
    let (left, read) = Limits::left();
    result = result.and(read);
    for limits in left {
        result = result.and(limits.end());
        cleaned.push(limits.name());
    }
    result.map(|()| cleaned)
}
