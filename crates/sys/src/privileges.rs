//! `User` and `Group`, by name or `#number`: the account of the front and the Perl processes when root starts the
//! server.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Group, Uid, User, geteuid, initgroups, setgid, setuid};

use serde::{Deserialize, Serialize};

/// An unprivileged account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// User name, for its supplementary groups.
    pub name: CString,
    /// User id.
    pub uid: u32,
    /// Id of the primary group.
    pub gid: u32,
}

/// The account of `User` and `Group`. `None`: the process was not started by root, or neither directive is set, so the
/// account does not change.
pub fn account(user: Option<&str>, group: Option<&str>) -> anyhow::Result<Option<Account>> {
    if !geteuid().is_root() || (user.is_none() && group.is_none()) {
        return Ok(None);
    }
    let user = find_user(user.unwrap_or("root"))?;
    let gid = group.map_or(Ok(user.gid), find_group)?;
    Ok(Some(Account { name: CString::new(user.name)?, uid: user.uid.as_raw(), gid: gid.as_raw() }))
}

/// Changes to the account of `User` and `Group` if started by root. Must be called before any code of the site runs and
/// before any byte of a client is read.
pub fn become_user(user: Option<&str>, group: Option<&str>) -> anyhow::Result<()> {
    account(user, group)?.map_or(Ok(()), |account| become_account(&account))
}

/// Changes to this account permanently.
pub fn become_account(account: &Account) -> anyhow::Result<()> {
    let (uid, gid) = (Uid::from_raw(account.uid), Gid::from_raw(account.gid));
    initgroups(&account.name, gid).context("initgroups")?;
    setgid(gid).with_context(|| format!("cannot become group {}", account.gid))?;
    setuid(uid).with_context(|| format!("cannot become user {}", account.uid))?;
    // The kernel resets the signal when the user changes, but this process must not outlive the master.
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    Ok(())
}

/// Name of the group of a file, which may block on the network. `None`: there is no such file or group.
pub fn group_of_file(path: &Path) -> Option<String> {
    let group = std::fs::metadata(path).ok()?.gid();
    Some(Group::from_gid(Gid::from_raw(group)).ok()??.name)
}

/// Home folder of a user, which may block on the network. `None`: there is no such user. The error: the user database
/// (nsswitch.conf) cannot be read, so it is not known whether there is one.
pub fn home_of(user: &str) -> io::Result<Option<PathBuf>> {
    Ok(User::from_name(user)?.map(|user| user.dir))
}

fn find_user(name: &str) -> anyhow::Result<User> {
    let found = match number(name) {
        Some(id) => User::from_uid(Uid::from_raw(id)),
        None => User::from_name(name),
    };
    found
        .with_context(|| format!("User: cannot look up \"{name}\" in the user database"))?
        .ok_or_else(|| anyhow!("User: no such user \"{name}\"; `getent passwd` lists all users"))
}

fn find_group(name: &str) -> anyhow::Result<Gid> {
    if let Some(id) = number(name) {
        return Ok(Gid::from_raw(id));
    }
    Group::from_name(name)
        .with_context(|| format!("Group: cannot look up \"{name}\" in the group database"))?
        .map(|group| group.gid)
        .ok_or_else(|| anyhow!("Group: no such group \"{name}\"; `getent group` lists all groups"))
}

fn number(name: &str) -> Option<u32> {
    name.strip_prefix('#').unwrap_or(name).parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use nix::sys::resource::{Resource, setrlimit};

    use super::*;

    /// Set in the process in which the user database cannot be opened.
    const WITHOUT_DATABASE: &str = "WITHOUT_DATABASE";

    #[test]
    fn users_have_homes() {
        assert_eq!(home_of("root").expect("a database"), find_user("root").ok().map(|_| PathBuf::from("/root")));
        for unknown in ["nobody-here", "", "with\0nul", &"x".repeat(100_000)] {
            assert_eq!(home_of(unknown).expect("a database"), None, "{unknown:.20}");
        }
    }

    #[test]
    fn a_database_that_cannot_be_read_is_an_error_and_not_an_unknown_user() {
        if std::env::var_os(WITHOUT_DATABASE).is_some() {
            setrlimit(Resource::RLIMIT_NOFILE, 0, 0).expect("a limit");
            let home = home_of("nobody-here");
            assert!(home.is_err(), "{home:?}");
            return;
        }
        let name = "privileges::tests::a_database_that_cannot_be_read_is_an_error_and_not_an_unknown_user";
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        let output = child.args(["--exact", name]).env(WITHOUT_DATABASE, "1").output().expect("a process");
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }

    #[test]
    fn users_are_found_by_name_and_by_number() {
        assert_eq!(find_user("root").expect("root").uid.as_raw(), 0);
        assert_eq!(find_user("#0").expect("#0").name, "root");
        assert_eq!(find_group("#33").expect("#33").as_raw(), 33);
    }

    #[test]
    fn an_unknown_user_is_named_in_the_error() {
        let error = find_user("nobody-here").expect_err("no such user").to_string();
        assert!(error.contains("User: no such user \"nobody-here\""), "{error}");
    }
}
