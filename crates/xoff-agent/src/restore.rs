//! How the agent's changes are undone.

use std::io;

use crate::host::{TSO_RTT_LOG, in_each_namespace, read_setting, retire, write_setting};
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

/// Undoes what killed agents left. Returns their names; agents that run are left alone.
///
/// # Errors
/// What could not be undone; the rest is.
pub fn cleanup() -> io::Result<Vec<Name>> {
    let mut cleaned = Vec::new();
    let mut result = Ok(());
    for (name, state) in State::all() {
        if !state.is_running() {
            result = result.and(restore(&name, &state));
            cleaned.push(name);
        }
    }
    result.map(|()| cleaned)
}
