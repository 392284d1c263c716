//! Warnings about files that mod_fastcgi's directives name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use config::proxy::BackendAddress;
use config::{Config, ConfigError, Handler, Section};

/// Warnings about programs that cannot be executed, and sockets that others may replace.
pub fn warnings(config: &Config) -> Vec<ConfigError> {
    config.sections.iter().filter_map(warning).collect()
}

fn warning(section: &Section) -> Option<ConfigError> {
    let message = match (&section.own.fcgid.server, &section.own.handler) {
        (Some(server), _) => format!("FastCgiServer: {}: {}", server.file.display(), why_not(&server.file)?),
        (None, Some(Handler::Backend(backend))) if section.own.fcgi.external.is_some() => {
            let BackendAddress::Unix(socket) = &backend.url.address else { return None };
            let folder = socket.parent().filter(|folder| is_open(folder))?;
            format!(
                "FastCgiExternalServer: {}: all users may write to {}, and so put a socket of theirs in its place; move it to a \
                 folder that only the application's user may write to",
                socket.display(),
                folder.display()
            )
        }
        _ => return None,
    };
    Some(ConfigError::at(&section.at, message))
}

/// Why a program cannot be executed.
fn why_not(file: &Path) -> Option<String> {
    let found = match fs::metadata(file) {
        Ok(found) => found,
        Err(error) => return Some(format!("{error}; correct the path, or install the program")),
    };
    let may_run = found.is_file() && found.permissions().mode() & 0o111 != 0;
    (!may_run).then(|| "the file is no executable program; set its mode with chmod +x".to_owned())
}

fn is_open(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.permissions().mode() & 0o002 != 0)
}
