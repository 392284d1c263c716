//! `LogFormat`, `CustomLog`, `TransferLog`, `ErrorLog`. Formats are resolved last: a nickname may follow its use.

use super::draft::Draft;
use super::rules::setenv::Condition;
use super::{AccessLog, At, ConfigError, LogLevel, LogTarget};

/// The nicknames that httpd's own httpd.conf has defined since 1.3; here nobody needs to.
const FORMATS: &[(&str, &str)] = &[
    ("common", r#"%h %l %u %t "%r" %>s %b"#),
    ("combined", r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#),
    ("vhost_combined", r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i""#),
];

/// What was said about logs so far.
#[derive(Default)]
pub struct Logs {
    /// Host, nickname, format; the nickname is empty for TransferLog's format.
    formats: Vec<(u16, String, String)>,
    access: Vec<Access>,
}

struct Access {
    host: u16,
    target: LogTarget,
    /// A nickname or a format.
    format: String,
    condition: Option<Condition>,
    at: At,
}

/// `LogFormat format [nickname]`
pub fn log_format(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let nickname = args.get(1).cloned().unwrap_or_default();
    if nickname.contains('%') {
        return Err(format!("a nickname has no %: put the whole format in quotation marks (got \"{nickname}\")"));
    }
    draft.logs.formats.push((draft.host, nickname, args[0].clone()));
    Ok(())
}

/// `CustomLog target format [env=[!]name]`
pub fn custom_log(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let condition = args.get(2).map(|text| Condition::parse(text, &mut draft.patterns)).transpose()?;
    access_log(draft, args, args[1].clone(), condition)
}

/// `TransferLog target`
pub fn transfer_log(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    access_log(draft, args, String::new(), None)
}

fn access_log(draft: &mut Draft, args: &[String], format: String, condition: Option<Condition>) -> Result<(), String> {
    let target = target(draft, &args[0])?;
    draft.logs.access.push(Access { host: draft.host, target, format, condition, at: draft.at.clone() });
    Ok(())
}

/// `ErrorLog target`
pub fn error_log(draft: &mut Draft, text: &str) -> Result<(), String> {
    let target = target(draft, text)?;
    if draft.host == 0 {
        draft.config.error_log = target;
    } else {
        let logs = &mut draft.config.error_logs;
        let index = logs.iter().position(|known| *known == target).unwrap_or_else(|| {
            logs.push(target);
            logs.len() - 1
        });
        draft.host().error_log = Some(index);
    }
    Ok(())
}

/// `LogLevel level`
pub fn log_level(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    const LEVELS: &[(&str, LogLevel)] = &[
        ("emerg", LogLevel::Emerg),
        ("alert", LogLevel::Alert),
        ("crit", LogLevel::Crit),
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("notice", LogLevel::Notice),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
    ];
    for arg in args {
        let (module, word) = arg.split_once(':').map_or((None, arg.as_str()), |(module, word)| (Some(module), word));
        // httpd has trace1 to trace8 below debug.
        let name = if word.to_ascii_lowercase().starts_with("trace") { "debug" } else { word };
        let level = LEVELS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .ok_or_else(|| format!("expected emerg, alert, crit, error, warn, notice, info or debug, got \"{arg}\""))?;
        match module {
            Some(module) => {
                let levels = draft.host().module_levels.get_or_insert_default();
                for module in modules_of(module) {
                    levels.retain(|(known, _)| known != module);
                    levels.push(((*module).to_owned(), level.1));
                }
            }
            // As in httpd, a level for all replaces those that were said of single modules before.
            None => {
                draft.host().module_levels = Some(Vec::new());
                if draft.host == 0 {
                    draft.config.log_level = level.1;
                } else {
                    draft.host().log_level = Some(level.1);
                }
            }
        }
    }
    Ok(())
}

/// Those of ours that write what a module of httpd would: `ssl`, `ssl_module` and `mod_ssl.c` are one. A module whose work
/// writes no lines here has none.
fn modules_of(name: &str) -> &'static [&'static str] {
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("mod_").unwrap_or(&name);
    match name.strip_suffix("_module").or_else(|| name.strip_suffix(".c")).unwrap_or(name) {
        "ssl" => &["ssl"],
        "perl" | "modperl" => &["perl"],
        "config" | "so" => &["config"],
        "core" => &["front", "config", "master"],
        "http" | "front" => &["front"],
        "http2" => &["http2"],
        "master" | "prefork" | "mpm_prefork" | "mpm_event" | "mpm_worker" | "unixd" => &["master"],
        _ => &[],
    }
}

/// `-` is the terminal; `|command`, `||command` and `|$command` are piped logs.
fn target(draft: &Draft, text: &str) -> Result<LogTarget, String> {
    if let Some(command) = text.strip_prefix('|') {
        let command = command.trim_start_matches(['|', '$']).trim();
        return match command {
            "" => Err("expected a command after |".to_owned()),
            command => Ok(LogTarget::Pipe(command.to_owned())),
        };
    }
    match text {
        "-" => Ok(LogTarget::Standard),
        _ if text == "syslog" || text.starts_with("syslog:") => {
            Err("syslog is not supported yet: write \"|logger -t httpd\"".to_owned())
        }
        _ => Ok(LogTarget::File(draft.path(text))),
    }
}

/// Puts every access log into the configuration: each target once, formats resolved, and the main server's logs for
/// the hosts that have none.
pub fn finish(draft: &mut Draft) {
    let logs = std::mem::take(&mut draft.logs);
    for access in &logs.access {
        match logs.format(access) {
            Ok(format) => draft.add_access_log(access, format),
            Err(message) => draft.errors.push(ConfigError::at(&access.at, message)),
        }
    }
    let main = draft.config.hosts[0].access_logs.clone();
    for host in draft.config.hosts.iter_mut().filter(|host| host.access_logs.is_empty()) {
        host.access_logs.clone_from(&main);
    }
}

impl Logs {
    /// A nickname of the host, or of the main server, or ours; or the format itself.
    fn format(&self, access: &Access) -> Result<String, String> {
        let of = |host: u16| self.formats.iter().rfind(|(of, name, _)| *of == host && *name == access.format);
        if let Some((_, _, format)) = of(access.host).or_else(|| of(0)) {
            return Ok(format.clone());
        }
        let wanted = if access.format.is_empty() { "common" } else { &access.format };
        match FORMATS.iter().find(|(name, _)| *name == wanted) {
            Some((_, format)) => Ok((*format).to_owned()),
            None if wanted.contains('%') => Ok(wanted.to_owned()),
            None => Err(format!(
                "CustomLog: no LogFormat has the nickname \"{wanted}\": write `LogFormat \"…\" {wanted}`, or take common or combined"
            )),
        }
    }
}

impl Draft {
    fn add_access_log(&mut self, access: &Access, format: String) {
        let logs = &mut self.config.logs;
        let log = logs.iter().position(|known| *known == access.target).unwrap_or_else(|| {
            logs.push(access.target.clone());
            logs.len() - 1
        });
        self.config.hosts[usize::from(access.host)].access_logs.push(AccessLog {
            log,
            format,
            condition: access.condition.clone(),
        });
    }
}
