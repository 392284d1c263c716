//! Error logs and access logs.

use crate::draft::{CustomLog, Draft};
use crate::model::response::setenv::EnvCondition;
use crate::model::server::{LogTarget, SyslogTarget};
use crate::table::row::{HOSTS, MANY, Row, SERVER, rows, word, words};
use base::log::LogLevel;

pub(super) static ROWS: &[Row] = rows![
    "core.c",
    word("ErrorLog", HOSTS, "file|\"|command\"|syslog[:facility[:tag]]|-", error_log)
        .default("-", "terminals, systemd and containers collect standard error"),
    "Where errors are logged: a file, the standard input of a command, `-` for standard error, or syslog, to which a \
     message goes with its LogLevel and without its time. `/dev/stderr` and `/dev/stdout` are the streams of the server's \
     start. A command's own output goes there too, while the server is in the foreground. The facility is `local7` and the tag `cameleer` if there is none.",
    words("LogLevel", HOSTS, "[module:]level…", 1..=MANY, log_level).default("warn", "httpd's default"),
    "Minimum severity of logged messages: emerg, alert, crit, error, warn, notice, info, debug, or trace1 to trace8. \
     `ssl:info` sets it for one module: core, http, http2, ssl, perl, config, mpm_prefork, rewrite (httpd's names). Only \
     rewrite logs anything below debug: `rewrite:trace3` logs each step of a RewriteRule. Other modules log nothing here.",
    words("ErrorLogFormat", SERVER, "json|format…", 1..=MANY, error_log_format)
        .because("fail2ban and logwatch read httpd's format"),
    "`json`: each line of the error logs is a JSON object with the field names of JSON access logs. Other formats are \
     ignored, with a warning.",
    words("LogFormat", HOSTS, "format [nickname]", 1..=2, log_format)
        .of("mod_log_config.c")
        .because("common, combined and vhost_combined (httpd's usual formats) and json are predefined"),
    "A format for access logs, with a nickname for CustomLog. Without a nickname it is the format of TransferLog.",
    words("CustomLog", HOSTS, "file|\"|command\"|- format|nickname", 2..=3, custom_log)
        .of("mod_log_config.c")
        .because("a log without rotation fills the disk"),
    "An access log; `-` is standard output. A virtual host without one uses the access logs of the main server.",
    words("TransferLog", HOSTS, "file|\"|command\"|-", 1..=1, transfer_log)
        .of("mod_log_config.c")
        .because("see CustomLog"),
    "An access log in the format of the last LogFormat without a nickname, or common.",
];

/// `LogFormat format [nickname]`
fn log_format(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let nickname = args.get(1).cloned().unwrap_or_default();
    if nickname.contains('%') {
        return Err(format!(
            "a nickname must not contain %; put the whole format in quotation marks (got \"{nickname}\")"
        ));
    }
    draft.logs.formats.push((draft.position.host, nickname, args[0].clone()));
    Ok(())
}

/// `CustomLog target format [env=[!]name]`
fn custom_log(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let condition = args.get(2).map(|text| EnvCondition::parse(text, &mut draft.patterns)).transpose()?;
    access_log(draft, args, args[1].clone(), condition)
}

/// `TransferLog target`
fn transfer_log(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    access_log(draft, args, String::new(), None)
}

fn access_log(
    draft: &mut Draft,
    args: &[String],
    format: String,
    condition: Option<EnvCondition>,
) -> Result<(), String> {
    let target = target(draft, &args[0])?;
    draft.logs.access.push(CustomLog { host: draft.position.host, target, format, condition, at: draft.at.clone() });
    Ok(())
}

/// `ErrorLog target`
fn error_log(draft: &mut Draft, text: &str) -> Result<(), String> {
    let target = match SyslogTarget::parse(text) {
        Some(of_syslog) => LogTarget::Syslog(of_syslog?),
        None => target(draft, text)?,
    };
    if draft.position.host == 0 {
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

/// `ErrorLogFormat json`
fn error_log_format(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.config.error_log_json = matches!(args, [format] if format.eq_ignore_ascii_case("json"));
    if !draft.config.error_log_json {
        draft.warn("is ignored except for `json`: lines keep httpd's usual format");
    }
    Ok(())
}

/// `LogLevel level`
fn log_level(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    for arg in args {
        let (module, word) = arg.split_once(':').map_or((None, arg.as_str()), |(module, word)| (Some(module), word));
        let level = LogLevel::named(word).ok_or_else(|| {
            format!("expected emerg, alert, crit, error, warn, notice, info, debug or trace1 to trace8, got \"{arg}\"")
        })?;
        match module {
            Some(module) => {
                let levels = draft.host().module_levels.get_or_insert_default();
                for module in modules_of(module) {
                    levels.retain(|(known, _)| known != module);
                    levels.push(((*module).to_owned(), level));
                }
            }
            // As in httpd, a level for all modules replaces earlier levels of single modules.
            None => {
                draft.host().module_levels = Some(Vec::new());
                if draft.position.host == 0 {
                    draft.config.log_level = level;
                } else {
                    draft.host().log_level = Some(level);
                }
            }
        }
    }
    Ok(())
}

/// Log modules of Cameleer that correspond to a module of httpd. `ssl`, `ssl_module` and `mod_ssl.c` name the same
/// module. Empty: the module has no messages in Cameleer.
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
        "rewrite" => &["rewrite"],
        "master" | "prefork" | "mpm_prefork" | "mpm_event" | "mpm_worker" | "unixd" => &["master"],
        _ => &[],
    }
}

/// `-` is the standard stream; `|command`, `||command` and `|$command` are piped logs.
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
            Err("only ErrorLog knows syslog, as in httpd; write \"|logger -t httpd -p local7.info\"".to_owned())
        }
        _ => Ok(LogTarget::File(draft.path(text))),
    }
}
