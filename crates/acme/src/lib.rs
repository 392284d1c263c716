//! Gets certificates from authorities by ACME (RFC 8555): a process that the master starts when certificates of
//! managed domains are due, and that ends when it has tried to get them.
//!
//! It is the only process that talks to an authority. It has the rights of `User`, writes no files and has no
//! sockets of the server: the master stores what it gets, and the front answers challenges.
//!
//! Start at [`run`], then `domains`, which works on a list, and `order`, which gets the certificate of one domain.

#![forbid(unsafe_code)]

// The messages between this process and the master.
mod master;

// The accounts and orders of a list of domains, one after the other.
mod domains;

// One certificate: order, challenges, request, download.
mod order;

// Private keys and certificate requests.
mod keys;

// Requests to an authority, limited in time and size.
mod client;

// Connections through a proxy.
mod tunnel;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use anyhow::{Context, bail};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use tokio::runtime::Builder;
use wire::channel::Channel;

use master::MasterLink;
use sys::privileges;
use tls::acme::{AcmeJob, FromAcme, ToAcme};

/// Gets the certificates that the master's first message lists.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let channel: Channel<FromAcme, ToAcme> = Channel::new(control);
    let Some((ToAcme::Work, fds)) = channel.receive()? else { bail!("the first message of the master was not Work") };
    let memory = fds.into_iter().next().context("the message Work has no descriptor of the job")?;
    let job: AcmeJob = serde_json::from_slice(&wire::transport::read_configuration(memory)?).context("job")?;
    if let Some(user) = &job.user {
        privileges::become_account(user)?;
    }
    let master = MasterLink::new(Arc::new(channel));
    Builder::new_current_thread().enable_all().build()?.block_on(domains::all(job, master))
}
