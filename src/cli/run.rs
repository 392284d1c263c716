//! `cameleer run`: serves a program by translating the options into directives.

use std::path::{Path, PathBuf};

use super::{daemon, ready};
use base::printable;
use master::{self, Options};
use toolkit::options::{Program, Run};
use toolkit::origin::origin;
use toolkit::{directives, print, print_error};

/// Serves the program.
pub fn run(run: Run) -> anyhow::Result<()> {
    if let Some(warning) = public_files_beside(&run.program) {
        print_error(&printable::lines(&warning));
    }
    if run.reload || !run.watch.is_empty() {
        return develop::dev::serve(run, false);
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

/// The warning about a folder of `--static` that contains the program: configurations and notes often lie beside it.
fn public_files_beside(program: &Program) -> Option<String> {
    let folder = program.statics.as_ref()?;
    let usual = program.is_empty().then_some(Path::new("app.psgi"));
    let file = program.path().map(PathBuf::as_path).or(usual)?;
    let is_inside = file.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?);
    is_inside.then(|| {
        format!(
            "cameleer: warning: --static {}: contains {}, so clients can read the files beside it with endings such as \
             .json, .txt and .html; name a folder that has public files only",
            folder.display(),
            file.display()
        )
    })
}
