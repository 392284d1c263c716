//! The first messages of the master: the configuration that a mold loads, and the generation that it is for.

use std::os::fd::OwnedFd;

use anyhow::{Context, bail};
use libperl::Interpreter;
use wire::control::{GenerationNumber, PoolId, PoolNumber, PreloadOrder, ToMold};
use wire::transport::read_configuration;

use crate::forking::MasterChannel;
use crate::{memory_pages, start_up};
use config::{Bundle, Config, Facts};
use sys::{Words, privileges};

/// The start of a mold: its configuration, and Perl if it was booted before.
pub struct MoldStart {
    pub config: Config,
    pub facts: Facts,
    /// Perl, if it was booted before the reload.
    pub perl: Option<Interpreter>,
}

/// The contents of the message `Configure` beside the configuration.
pub struct LoadOrder {
    pub generation: GenerationNumber,
    pub preload: PreloadOrder,
    /// Shared memory with the workers' memory limits.
    pub words: Words,
    /// The error logs of virtual hosts.
    pub logs: Vec<OwnedFd>,
}

/// Receives the configuration and the order to load it. `None`: the mold was prepared for a reload that did not come.
pub fn receive(master: &MasterChannel) -> anyhow::Result<Option<(MoldStart, LoadOrder)>> {
    let (first, fds) = master.receive()?.context("the master sent no first message")?;
    let mut fds = fds.into_iter();
    let memory = fds.next().context("the first message has no descriptor of the configuration")?;
    match first {
        ToMold::Configure { pool, preload } => {
            let start = start(memory, pool.pool)?;
            Ok(Some((start, LoadOrder::new(pool, preload, fds)?)))
        }
        ToMold::Prepare { pool } => Ok(wait(start(memory, pool)?, master)?),
        _ => bail!("the first message of the master was neither Prepare nor Configure"),
    }
}

/// Boots Perl, and waits for the reload.
fn wait(mut start: MoldStart, master: &MasterChannel) -> anyhow::Result<Option<(MoldStart, LoadOrder)>> {
    become_mold(&start.config)?;
    let perl = start_up::boot_and_prepare(&start.config, &start.facts)?;
    let Some((ToMold::Configure { pool, preload }, fds)) = master.receive()? else { return Ok(None) };
    // `-M` and `-A` of a file are relative to the start of the program.
    perl.eval("$^T = time", file!(), line!())?;
    start.perl = Some(perl);
    Ok(Some((start, LoadOrder::new(pool, preload, fds.into_iter().skip(1))?)))
}

/// Takes the user, the permissions and the memory settings of a mold with Perl.
pub fn become_mold(config: &Config) -> anyhow::Result<()> {
    privileges::become_user(config.user.as_deref(), config.group.as_deref())?;
    sys::allow_profiling()?;
    memory_pages::set(&config.pages);
    Ok(())
}

fn start(memory: OwnedFd, pool: PoolNumber) -> anyhow::Result<MoldStart> {
    let bundle: Bundle = serde_json::from_slice(&read_configuration(memory)?)?;
    let config = Config::build(&bundle.tree, &bundle.facts)
        .map_err(|errors| anyhow::anyhow!(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    if !config.more_pools.is_empty() && !config.is_of_programs(pool) {
        libperl::set_title(&format!("cameleer: mold {}", config.pool_name(pool)));
    }
    let config = config.for_pool(pool);
    let facts = bundle.facts.speaking(config.perl.generation);
    Ok(MoldStart { config, facts, perl: None })
}

impl LoadOrder {
    /// `fds`: the descriptors after that of the configuration.
    fn new(pool: PoolId, preload: PreloadOrder, mut fds: impl Iterator<Item = OwnedFd>) -> anyhow::Result<LoadOrder> {
        let words = fds.next().context("the message Configure has no descriptor of the memory limits")?;
        Ok(LoadOrder { generation: pool.generation, preload, words: sys::map_words(&words)?, logs: fds.collect() })
    }
}
