//! CGI programs that a worker with Perl starts, because Perl code takes part in the request or `CgiMode` wants the
//! script in the worker or its fork. `forked` is that fork.

mod forked;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libperl::Interrupted;

use super::folders::is_the_servers;
use super::phases::{DECLINED, OK};
use crate::location::ResolvedLocation;
use crate::program::child::Child;
use crate::program::relay::{self, Deadline, TransferEnd};
use crate::program::{arguments, lost, refused, started, too_late};
use crate::site::Site;
use config::program::CgiMode;

/// Time that a late script has to report its position, in ms.
const LAST_WORDS: u16 = 2000;

impl Site {
    /// Answers with the output of a process. `None` if the file is a script that runs in the worker.
    pub(super) fn run_program(&self, location: &ResolvedLocation, request: u64) -> Option<i32> {
        if is_the_servers(self, request, location) {
            return Some(DECLINED);
        }
        let name = apache::filename(request);
        let file = Path::new(OsStr::from_bytes(&name));
        match location.settings.program.mode {
            CgiMode::Persistent if !self.kinds.is_program(file) => None,
            CgiMode::Fork if !self.kinds.is_program(file) => Some(self.run_in_process(location, request, file, true)),
            _ => Some(self.run_in_process(location, request, file, false)),
        }
    }

    /// After the first run of a script in this worker: if the script can answer no second request there, the kernel
    /// runs it from now on. One such script answers by its BEGIN blocks or by the modules that it uses; another has a
    /// loop of FastCGI requests.
    pub(super) fn learn_kind(&self, request: u64) {
        let name = apache::filename(request);
        let file = Path::new(OsStr::from_bytes(&name));
        if !self.kinds.has_run(file) {
            return;
        }
        let reason = match self.perl.call_for_text(c"Apache::Registry::Compile::needs_processes", "").as_deref() {
            Ok("prints") => "prints its response while it is compiled",
            Ok("fastcgi") => "has a loop of FastCGI requests, which ends after one",
            _ => return,
        };
        self.kinds.becomes_program(file);
        let text =
            format!("{}: {reason}, so it runs as a program from now on; set CgiMode program for it", file.display());
        apache::log_line(apache::Level::Warn, &text);
    }

    fn run_in_process(&self, location: &ResolvedLocation, request: u64, file: &Path, forks: bool) -> i32 {
        if let Some(status) = refused(&location.settings, request, file) {
            return status;
        }
        let forks = forks && self.is_compiled(file);
        let begun = match forks {
            true => self.fork_script(request, file),
            false => Child::start(file, arguments(request), &location.settings.program),
        };
        let mut child = match started(begun, file) {
            Ok(child) => child,
            Err(status) => return status,
        };
        match relay::all(&mut child, request, Deadline::Signalled) {
            TransferEnd::Whole | TransferEnd::Unheard => OK,
            TransferEnd::TooLate => {
                if forks {
                    child.is_late(apache::requested(request).number);
                    relay::last_words(&mut child, LAST_WORDS);
                }
                self.calls.conclude_interrupted(request, Interrupted::Died(too_late(file)))
            }
            TransferEnd::Lost(error) => self.calls.conclude_interrupted(request, Interrupted::Died(lost(file, &error))),
        }
    }
}
