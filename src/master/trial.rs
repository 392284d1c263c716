//! A trial: a mold that loads a configuration's Perl and is sent away. Nothing is bound, nothing is served.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::control::{FromMold, ToMold};

use super::children::{Child, Mold, start_mold};
use super::expansion;
use super::generation::CodeError;
use super::peer::Peer;
use super::site::Origin;
use crate::config::ConfigError;
use crate::privileges;

/// END blocks have so long.
const LEAVE: Duration = Duration::from_secs(2);

/// Reads `origin` and compiles its Perl; returns what is odd but no mistake.
pub fn compile(origin: &Origin) -> anyhow::Result<Vec<ConfigError>> {
    let mut origin = origin.clone();
    origin.facts.check = true;
    let site = expansion::read(&origin)?;
    privileges::wanted(&site.config)?;
    let mut mold = start_mold(&io::stderr().as_fd().try_clone_to_owned()?, &origin.facts.env)?;
    mold.peer.send(ToMold::Configure { generation: 1 }, vec![site.in_memory()?]);
    let verdict = verdict(&mut mold, Instant::now() + site.config.timeouts.start);
    mold.peer.send(ToMold::Retire, vec![]);
    dismiss(&mold);
    verdict.map(|()| site.config.warnings)
}

fn verdict(mold: &mut Mold, by: Instant) -> anyhow::Result<()> {
    loop {
        match mold.peer.receive()? {
            Some(FromMold::Ready { .. }) => return Ok(()),
            Some(FromMold::Failed { error }) => return Err(CodeError(error).into()),
            Some(_) => {}
            None if mold.peer.is_gone() => bail!("the mold, which loads the site's Perl, ended without a word"),
            None => wait(&mut mold.peer, by)?,
        }
    }
}

/// Waits until a child has something to say, and says what waits for it.
pub fn wait<Out: Serialize, In: DeserializeOwned>(peer: &mut Peer<Out, In>, by: Instant) -> anyhow::Result<()> {
    let left = by
        .checked_duration_since(Instant::now())
        .ok_or_else(|| anyhow!("the Perl still loads; StartTimeout allows more"))?;
    let interest = if peer.has_unsent() { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
    let mut fds = [PollFd::new(peer.as_fd(), interest)];
    match poll(&mut fds, PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)) {
        Err(Errno::EINTR) => {}
        polled => drop(polled?),
    }
    peer.flush();
    Ok(())
}

/// Lets it end by itself for a while, then ends it.
pub fn dismiss<Out, In>(child: &Child<Out, In>) {
    let by = Instant::now() + LEAVE;
    while Instant::now() < by && waitpid(child.pid, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill();
    let _ = waitpid(child.pid, None);
}
