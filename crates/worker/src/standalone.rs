//! An interpreter for a command: Perl is set up as in a worker, but serves no requests.

use libperl::Interpreter;

use super::start_up;
use config::{Config, Facts};

/// Boots Perl and runs the configuration's start-up steps.
pub fn start(config: &Config, facts: &Facts) -> anyhow::Result<Interpreter> {
    let perl = start_up::boot(config, facts)?;
    start_up::take_all(&perl, config, false)?;
    // A worker leaves signals to its master; a command must handle them by default.
    sys::default_signals()?;
    Ok(perl)
}
