//! Giving up privileges.

use nix::sys::prctl;
use nix::unistd::{Uid, User as Entry, setgroups, setresgid, setresuid, setuid};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// A user without privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    uid: nix::unistd::Uid,
    gid: nix::unistd::Gid,
}

impl User {
    /// The user of the setting `user`.
    ///
    /// # Errors
    /// There is no such user, or it is root.
    pub fn find(name: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("user = \"{name}\": {what}");
        let entry = Entry::from_name(name).map_err(|error| wrong(error.desc()))?;
        let entry = entry.ok_or_else(|| wrong("there is no such user"))?;
        if entry.uid.is_root() {
            return Err(wrong("name a user without privileges"));
        }
        Ok(Self { uid: entry.uid, gid: entry.gid })
    }

    /// Its number.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid.as_raw()
    }
}

/// Becomes a user, with its main group alone and with no more capabilities than `keep`. No program
/// that this process starts can gain any: `no_new_privs`. Call it before other threads start. A
/// process that is this user already and has no other capabilities makes no system call for which a
/// filter of its service may kill it.
///
/// # Errors
/// If that is not possible, or could be undone.
pub fn give_up_privileges(user: Option<&User>, keep: CapabilitySet) -> Result<(), String> {
    if let Some(user) = user
        && (Uid::effective() != user.uid || !keep.contains(held()?))
    {
        become_user(*user)?;
        let (kept, inheritable) = (held()? & keep, CapabilitySet::empty());
        let sets = CapabilitySets { effective: kept, permitted: kept, inheritable };
        set_capabilities(None, sets).map_err(failed("capabilities"))?;
        if setuid(Uid::from_raw(0)).is_ok() {
            return Err("setuid: privileges could be regained".into());
        }
    }
    prctl::set_no_new_privs().map_err(failed("no_new_privs"))
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{what}: {error}")
}

/// The capabilities of this thread.
fn held() -> Result<CapabilitySet, String> {
    Ok(capabilities(None).map_err(failed("capabilities"))?.permitted)
}

/// Becomes a user, and keeps the capabilities for now.
fn become_user(user: User) -> Result<(), String> {
    if Uid::effective() == user.uid {
        return Ok(());
    }
    if !Uid::effective().is_root() {
        return Err(format!("only root can become another user, such as {}", user.uid));
    }
    prctl::set_keepcaps(true).map_err(failed("keepcaps"))?;
    // In this order: after the change of the user the others are not allowed any more.
    setgroups(&[]).map_err(failed("setgroups"))?;
    setresgid(user.gid, user.gid, user.gid).map_err(failed("setresgid"))?;
    setresuid(user.uid, user.uid, user.uid).map_err(failed("setresuid"))?;
    prctl::set_keepcaps(false).map_err(failed("keepcaps"))
}
