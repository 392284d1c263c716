//! `check`: a mold loads a configuration's Perl and ends. Nothing is bound or served.

use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

use anyhow::bail;
use wire::control::{FromMold, PoolId, PoolNumber, PreloadOrder, ToMold};

use super::{CheckedConfig, CodeError, ConfigOrigin, expansion, machine};
use crate::children::{Mold, start_mold};
use config::{Config, ConfigError};
use sys::new_words;
use wire::memory_words;

/// A configuration whose Perl has been compiled.
#[derive(Debug)]
pub struct CompiledSite {
    /// The warnings that a start would log, and those about folders that are missing.
    pub warnings: Vec<ConfigError>,
    /// The parsed meaning of the directives.
    pub config: Config,
}

/// Reads `origin` and compiles its Perl.
pub fn compile(origin: &ConfigOrigin) -> anyhow::Result<CompiledSite> {
    let mut origin = origin.clone();
    origin.facts.check = true;
    let checked = expansion::read(&origin)?;
    checked.config.perl_pool_numbers().try_for_each(|pool| compile_pool(&origin, &checked, pool))?;
    let missing = machine::warnings(&checked.config, &checked.bundle);
    let warnings = checked.config.warnings.iter().cloned().chain(missing).collect();
    Ok(CompiledSite { warnings, config: checked.config })
}

fn compile_pool(origin: &ConfigOrigin, checked: &CheckedConfig, pool: PoolNumber) -> anyhow::Result<()> {
    let mut mold = start_mold(&io::stderr().as_fd().try_clone_to_owned()?, &origin.facts.env)?;
    // A mold expects the workers' memory words, and forks no worker here.
    let (_, words) = new_words(memory_words::COUNT)?;
    let fds = vec![checked.in_memory()?, words.into()];
    let pool = PoolId { generation: 1, pool };
    mold.peer.send(ToMold::Configure { pool, preload: PreloadOrder::default() }, fds);
    let verdict = verdict(&mut mold, Instant::now() + checked.config.timeouts.start);
    mold.peer.send(ToMold::Retire, vec![]);
    mold.dismiss();
    verdict
}

fn verdict(mold: &mut Mold, by: Instant) -> anyhow::Result<()> {
    loop {
        match mold.peer.receive()? {
            Some(FromMold::Ready { .. }) => return Ok(()),
            Some(FromMold::Failed { error }) => return Err(CodeError(error).into()),
            Some(_) => {}
            None if mold.peer.is_gone() => {
                bail!("the mold (the process that loads the site's Perl) ended without a result")
            }
            None => mold.peer.wait(by)?,
        }
    }
}
