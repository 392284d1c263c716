//! What a process that has Perl tells about itself, when somebody asks for it and it has no request.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use wire::control::Inspection;

use super::site::Site;
use crate::log;

/// Writes it, as JSON, into `into`. What goes wrong is a line in the log.
pub fn tell(site: &Site, what: Inspection, into: OwnedFd) {
    let function = match what {
        Inspection::Loaded => c"Cameleer::Inspection::loaded",
    };
    let told = site.perl.require_module("Cameleer::Inspection").and_then(|()| site.perl.ask(function, ""));
    let written = match told {
        Ok(text) => File::from(into).write_all(text.as_bytes()).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = written {
        log::error("perl", format_args!("cannot tell {what:?}: {error}"));
    }
}
