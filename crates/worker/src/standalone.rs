//! An interpreter of a command: Perl has all that it has in a worker, and nobody asks for a page.

use libperl::Interpreter;

use super::start_up;
use config::{Config, Facts};

/// Boots Perl and does the steps of the configuration.
pub fn start(config: &Config, facts: &Facts) -> anyhow::Result<Interpreter> {
    let perl = start_up::boot(config, facts)?;
    start_up::take_all(&perl, config, false)?;
    // A worker leaves them to its master.
    sys::default_signals()?;
    Ok(perl)
}
