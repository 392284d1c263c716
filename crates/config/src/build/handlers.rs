//! Unknown handler names. Requests for them fail, so `check` reports them.

use crate::draft::Draft;
use crate::syntax::tree::ConfigError;

/// Warns of each handler that is neither built in nor defined by an `Action`.
pub fn check(draft: &mut Draft) {
    let config = &mut draft.config;
    for (at, directive, name) in &draft.named_handlers {
        let has_action = config.sections.iter().any(|section| section.own.response.actions.of(name).is_some());
        if !has_action {
            let advice = advice(&name.to_ascii_lowercase());
            let message = format!("{directive}: unknown handler {name}, requests for it are answered 500; {advice}");
            config.warnings.push(ConfigError::at(at, message));
        }
    }
}

/// Advice for a handler name in lower case.
fn advice(name: &str) -> &'static str {
    match name {
        _ if name.starts_with("proxy:") || name == "proxy-server" => {
            "SetHandler passes files to FastCGI applications alone; write proxy:unix:/socket|fcgi://localhost or proxy:fcgi://host:port, \
             or use ProxyPass for other backends"
        }
        _ if name.contains("php") => {
            "PHP runs in PHP-FPM; write SetHandler \"proxy:unix:/run/php/php-fpm.sock|fcgi://localhost\""
        }
        "imap-file" | "type-map" | "isapi-isa" | "ldap-status" => "use a Perl handler",
        _ => "correct the name, use a Perl handler, or define a script for it with Action",
    }
}
