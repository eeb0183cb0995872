//! Checks shared by the settings of several sources.

use core::fmt::Display;

use xoff_core::Ps;

/// Checks that a pair of hosts can be drawn.
pub(crate) fn hosts(hosts: u32) -> Result<(), String> {
    if hosts >= 2 {
        return Ok(());
    }
    Err(format!("traffic needs at least 2 hosts, the network has {hosts}"))
}

/// Checks the two ends of a flow. They are wider than a host index, so that a number from a file
/// can be checked unchanged.
pub(crate) fn ends(src: u64, dst: u64, hosts: u32) -> Result<(), String> {
    self::hosts(hosts)?;
    if let Some(host) = [src, dst].into_iter().find(|&host| host >= u64::from(hosts)) {
        return Err(no_such_host(host, hosts));
    }
    if src == dst {
        return Err(format!("host {src} cannot send to itself: choose another dst"));
    }
    Ok(())
}

/// The error for a host that a network with `hosts` hosts, at least one, does not have.
pub(crate) fn no_such_host(host: impl Display, hosts: u32) -> String {
    format!("host {host} does not exist: hosts are 0 to {}", hosts - 1)
}

/// Checks the settings `start` and `stop`. A `stop` of 0 is the end of the run.
pub(crate) fn window(start: Ps, stop: Ps) -> Result<(), String> {
    if stop == Ps(0) || start < stop {
        return Ok(());
    }
    Err(format!("stop is {stop}, which is not after start ({start}); 0s means the end of the run"))
}

/// The first instant at which no more flows start.
pub(crate) fn end_of(stop: Ps) -> Ps {
    if stop == Ps(0) { Ps::NEVER } else { stop }
}
