//! Giving up privileges.

use nix::sys::prctl;
use nix::unistd::{Uid, User, setgid, setgroups, setuid};

/// Becomes a user without privileges, with the user's main group alone. No program that it starts
/// can gain any: `no_new_privs`. Call it before other threads start.
///
/// # Errors
/// If that is not possible, or could be undone.
pub(crate) fn give_up(user: Option<&str>) -> Result<(), String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    prctl::set_no_new_privs().map_err(failed("no_new_privs"))?;
    let Some(name) = user else { return Ok(()) };
    let user = User::from_name(name)
        .map_err(failed("user"))?
        .ok_or_else(|| format!("user = \"{name}\": there is no such user"))?;
    if user.uid.is_root() {
        return Err("user = \"root\": name a user without privileges".into());
    }
    if Uid::effective() == user.uid {
        return Ok(());
    }
    if !Uid::effective().is_root() {
        return Err(format!("user = \"{name}\": only root can become another user"));
    }
    // In this order: after setuid the others are not allowed any more.
    setgroups(&[user.gid]).map_err(failed("setgroups"))?;
    setgid(user.gid).map_err(failed("setgid"))?;
    setuid(user.uid).map_err(failed("setuid"))?;
    if setuid(Uid::from_raw(0)).is_ok() {
        return Err("setuid: privileges could be regained".into());
    }
    Ok(())
}
