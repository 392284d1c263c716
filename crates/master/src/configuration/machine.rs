//! Accounts and folders that a configuration names and this machine lacks.

use std::path::Path;

use config::{At, Bundle, Config, ConfigError, Directive, LogTarget};
use sys::privileges;

use super::failures_folder;

/// Errors: a `User` or `Group` without an account, a `SpoolDirectory` that is no folder.
pub fn errors(config: &Config, bundle: &Bundle) -> Vec<ConfigError> {
    let user = privileges::account(config.user.as_deref(), None).err();
    let group = privileges::account(None, config.group.as_deref()).err();
    let accounts = [("User", user), ("Group", group)]
        .into_iter()
        .filter_map(|(name, error)| Some(ConfigError { at: last(bundle, name), message: format!("{:#}", error?) }));
    accounts.chain(wrong_spool_directory(config, bundle)).collect()
}

fn wrong_spool_directory(config: &Config, bundle: &Bundle) -> Option<ConfigError> {
    let folder = config.spooling.folder.as_ref().filter(|folder| !folder.is_dir())?;
    let message = format!("SpoolDirectory: {} is not a folder; create it, writable for User", folder.display());
    Some(ConfigError { at: last(bundle, "SpoolDirectory"), message })
}

/// Warnings of `check`: a `DocumentRoot` that is no folder, as httpd warns, a log whose folder is missing, which makes
/// a start fail, and a folder in which failures cannot be recorded.
pub fn warnings(config: &Config, bundle: &Bundle) -> Vec<ConfigError> {
    let directives = bundle.flat().filter_map(|directive| {
        let wrong = missing_folder(config, directive)?;
        Some(ConfigError { at: Some(directive.at.clone()), message: format!("{}: {wrong}", directive.name) })
    });
    let failures = failures_folder::wrong(config);
    let failures = failures.map(|message| ConfigError { at: last(bundle, "RecordFailures"), message });
    directives.chain(failures).collect()
}

/// The message about a directive whose folder is missing.
fn missing_folder(config: &Config, directive: &Directive) -> Option<String> {
    let path = config.server_root.join(directive.args.first()?);
    if directive.name.eq_ignore_ascii_case("DocumentRoot") {
        let is_root = config.hosts.iter().any(|host| host.document_root == path);
        return (is_root && !path.is_dir())
            .then(|| format!("{} is not a folder; create it, or correct the path", path.display()));
    }
    let names = ["ErrorLog", "CustomLog", "TransferLog"];
    if !names.iter().any(|name| directive.name.eq_ignore_ascii_case(name)) || !is_log(config, &path) {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.is_dir())?;
    Some(format!("the folder {} does not exist; create it, or correct the path", folder.display()))
}

fn is_log(config: &Config, path: &Path) -> bool {
    let is = |target: &LogTarget| matches!(target, LogTarget::File(file) if file == path);
    is(&config.error_log) || config.error_logs.iter().chain(&config.logs).any(is)
}

/// The position of the last directive with this name, which is the one that holds.
fn last(bundle: &Bundle, name: &str) -> Option<At> {
    bundle.flat().filter(|directive| directive.name.eq_ignore_ascii_case(name)).last().map(|one| one.at.clone())
}
