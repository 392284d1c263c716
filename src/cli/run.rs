//! `cameleer run`: serves a program by translating the options into directives.

use super::{daemon, ready};
use base::printable;
use master::{self, Options};
use toolkit::options::Run;
use toolkit::origin::origin;
use toolkit::{directives, print, print_error};

/// Serves the program.
pub fn run(run: Run) -> anyhow::Result<()> {
    if run.reload || !run.watch.is_empty() {
        return develop::dev::serve(run, false);
    }
    if let Some(warning) = run.program.public_files_beside() {
        print_error(&printable::lines(&format!("cameleer: warning: {warning}")));
    }
    let text = directives::of(&run, &directives::Surroundings::ours()?)?;
    if run.show_config {
        return text.iter().try_for_each(|text| print(&text.directives));
    }
    let name = run.program.name();
    let mut origin = origin(text, &run.program)?;
    if run.daemonize {
        origin.before.extend(daemon::error_log());
    }
    let serve = |in_background: ready::AfterReady| {
        let on_ready = ready::announce(name, in_background);
        master::run(Options { origin, on_ready, in_background: run.daemonize })
    };
    if run.daemonize { daemon::run(serve) } else { serve(Box::new(|| ())) }
}
