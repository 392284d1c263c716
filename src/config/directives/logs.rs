//! Logs.

use super::super::logs;
use super::{Effect, HOSTS, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ErrorLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("file|\"|command\"|-", logs::error_log),
        default: Some("-"),
        because: "the terminal, systemd and containers collect standard error",
        effect: Effect::Reload,
        about: "Where errors are logged: a file, the standard input of a command, or `-` for standard error.",
    },
    Row {
        name: "LogLevel",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("[module:]level…", 1..=MANY, logs::log_level),
        default: Some("warn"),
        because: "httpd's",
        effect: Effect::Reload,
        about: "What is worth a line: emerg, alert, crit, error, warn, notice, info or debug, and all before it. `ssl:info` says it of one module: core, http, http2, ssl, perl, config, mpm_prefork (by httpd's names); others write no lines here.",
    },
    Row {
        name: "LogFormat",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("format [nickname]", 1..=2, logs::log_format),
        default: None,
        because: "common, combined and vhost_combined are known, with httpd's usual formats",
        effect: Effect::Reload,
        about: "A format for access logs, with a nickname for CustomLog; without one it is TransferLog's.",
    },
    Row {
        name: "CustomLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file|\"|command\"|- format|nickname", 2..=3, logs::custom_log),
        default: None,
        because: "a log that nobody rotates fills the disk",
        effect: Effect::Reload,
        about: "An access log; `-` is standard output. A virtual host without one uses those of the main server.",
    },
    Row {
        name: "TransferLog",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file|\"|command\"|-", 1..=1, logs::transfer_log),
        default: None,
        because: "see CustomLog",
        effect: Effect::Reload,
        about: "An access log in the format of the last LogFormat without nickname, or common.",
    },
];
