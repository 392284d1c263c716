//! The unit of systemd: that of the package, with the paths and the account of this site.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use config::{Config, LogTarget};

const PACKAGED: &str = include_str!("../../../../pkg/systemd/cameleer.service");
/// Folders that systemd makes read-only for the unit.
const PROTECTED: [&str; 5] = ["/usr", "/etc", "/boot", "/home", "/root"];

/// The unit for a site whose main file is `main`. `program` is the path of cameleer.
pub fn unit(program: &Path, main: &Path, defines: &[String], config: &Config) -> String {
    let options: String = defines.iter().map(|name| format!(" -D {}", argument(name))).collect();
    let mut text = String::new();
    for line in PACKAGED.lines() {
        let changed = match line.split_once('=').map_or(line, |(name, _)| name) {
            "[Service]" => format!("{line}\n{}", account(config)),
            "ExecStart" => {
                format!("ExecStart={} serve -f {}{options}", path(program), argument(&main.to_string_lossy()))
            }
            "ExecReload" => line.replace("/usr/bin/cameleer", &path(program)),
            "NoNewPrivileges" => format!("# sudo, and sendmail of some mail servers, need NoNewPrivileges=no.\n{line}"),
            "ProtectSystem" => {
                "# Programs of the site may write where User may, but for /usr, /etc and /boot.\nProtectSystem=full"
                    .to_owned()
            }
            "PrivateTmp" => private_tmp(main, config),
            "ReadWritePaths" => writable(config),
            _ => line.to_owned(),
        };
        text.push_str(&changed);
        text.push('\n');
    }
    text
}

/// No `User=`: root opens ports and reads keys, then the server changes to the account of the configuration.
fn account(config: &Config) -> String {
    let (user, group) = (config.user.as_deref(), config.group.as_deref());
    match (user, group) {
        (Some(user), group) => format!(
            "# root opens the ports and reads the keys. The site runs as User {user}, Group {} of the configuration.",
            group.unwrap_or("of that user")
        ),
        (None, _) => "# The configuration names no User: the site runs as root.".to_owned(),
    }
}

/// Folders that must stay writable: those of logs, and documents below protected folders.
fn writable(config: &Config) -> String {
    let folders = log_folders(config).chain(documents(config).filter(|folder| is_protected(folder)));
    let words: BTreeSet<String> = folders.map(|folder| format!("-{}", path(&folder))).collect();
    format!("ReadWritePaths={}", words.into_iter().collect::<Vec<_>>().join(" "))
}

fn log_folders(config: &Config) -> impl Iterator<Item = PathBuf> {
    let targets = config.logs.iter().chain(&config.error_logs).chain([&config.error_log]);
    targets.filter_map(|target| match target {
        LogTarget::File(file) => file.parent().map(Path::to_owned),
        _ => None,
    })
}

fn documents(config: &Config) -> impl Iterator<Item = PathBuf> {
    config.hosts.iter().flat_map(|host| {
        let aliases = host.aliases.iter().map(|alias| alias.to.clone());
        let roots = host.virtual_folders.outer_folders().chain([host.document_root.clone()]);
        aliases.chain(roots).filter(|folder| folder.is_dir())
    })
}

fn is_protected(folder: &Path) -> bool {
    PROTECTED.iter().any(|protected| folder.starts_with(protected))
}

/// A site in /tmp would be invisible with a /tmp of its own.
fn private_tmp(main: &Path, config: &Config) -> String {
    let is_in_tmp = |folder: &Path| folder.starts_with("/tmp") || folder.starts_with("/var/tmp");
    match is_in_tmp(main) || documents(config).any(|folder| is_in_tmp(&folder)) {
        true => "PrivateTmp=no".to_owned(),
        false => "# Sockets in /tmp, for instance a database's, need PrivateTmp=no.\nPrivateTmp=yes".to_owned(),
    }
}

fn path(path: &Path) -> String {
    word(&path.to_string_lossy())
}

/// An argument of a command: there `$` begins a variable. In a program's path and in other lines `$` is a plain
/// character.
fn argument(text: &str) -> String {
    word(text).replace('$', "$$")
}

/// A word of a unit: `%` begins a specifier, blanks need quotation marks, a line break would end the line.
fn word(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    let numbered = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    let text: String = text.chars().map(numbered).collect();
    if text.contains([' ', '\t', ';', '\'']) { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_has_the_paths_and_the_account_of_the_site() {
        let mut config = Config { user: Some("www-data".into()), group: Some("www-data".into()), ..Config::default() };
        config.logs = vec![LogTarget::File("/var/log/my site/access.log".into())];
        config.error_log = LogTarget::File("/var/log/$a\n\x1bUser=root/error.log".into());
        let defines = ["SSL".to_owned(), "$X".to_owned()];
        let unit = unit(Path::new("/usr/bin/cameleer"), Path::new("/srv/100%/$HOME/a.conf"), &defines, &config);
        for line in [
            "ExecStart=/usr/bin/cameleer serve -f /srv/100%%/$$HOME/a.conf -D SSL -D $$X",
            "ReadWritePaths=-\"/var/log/my site\" -/var/log/$a\\u000a\\u001bUser=root",
            "ProtectSystem=full",
            "ProtectHome=read-only",
            "RestartPreventExitStatus=78",
            "WantedBy=multi-user.target",
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
        assert!(unit.contains("The site runs as User www-data, Group www-data"), "{unit}");
    }
}
