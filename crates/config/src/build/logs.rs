//! `LogFormat`, `CustomLog`, `TransferLog`, `ErrorLog`. Formats are resolved last, because a nickname may follow its
//! use.

use crate::draft::{CustomLog, Draft, LogDirectives};
use crate::model::host::AccessLog;
use crate::syntax::tree::ConfigError;

/// Predefined nicknames: those of httpd's own httpd.conf since 1.3, and `json`.
const FORMATS: &[(&str, &str)] = &[
    ("common", r#"%h %l %u %t "%r" %>s %b"#),
    ("combined", r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#),
    ("vhost_combined", r#"%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i""#),
    ("json", "%{cameleer:json}x"),
];

/// Adds all access logs to the configuration: destinations without duplicates, formats resolved. Hosts without an
/// access log get the main server's.
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

impl LogDirectives {
    /// The format of a nickname of the host, of the main server or predefined, or the format itself.
    fn format(&self, access: &CustomLog) -> Result<String, String> {
        let of = |host: u16| self.formats.iter().rfind(|(of, name, _)| *of == host && *name == access.format);
        if let Some((_, _, format)) = of(access.host).or_else(|| of(0)) {
            return Ok(format.clone());
        }
        let wanted = if access.format.is_empty() { "common" } else { &access.format };
        match FORMATS.iter().find(|(name, _)| *name == wanted) {
            Some((_, format)) => Ok((*format).to_owned()),
            None if wanted.contains('%') => Ok(wanted.to_owned()),
            None => Err(format!(
                "CustomLog: no LogFormat has the nickname \"{wanted}\"; write `LogFormat \"…\" {wanted}`, or use common or combined"
            )),
        }
    }
}

impl Draft {
    fn add_access_log(&mut self, access: &CustomLog, format: String) {
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
