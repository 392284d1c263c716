//! Handlers that nobody answers for: requests for them are errors, which an administrator learns from `check`.

use crate::config::draft::Draft;
use crate::config::syntax::tree::ConfigError;

/// Warns of each handler that is neither the server's own nor named by an `Action`.
pub fn check(draft: &mut Draft) {
    let config = &mut draft.config;
    for (at, directive, name) in &draft.named_handlers {
        let has_action = config.sections.iter().any(|section| section.said.response.actions.of(name).is_some());
        if !has_action {
            let advice = advice(&name.to_ascii_lowercase());
            let message = format!("{directive}: there is no {name} here, requests for it are answered 500: {advice}");
            config.warnings.push(ConfigError::at(at, message));
        }
    }
}

/// What to do instead, for a name in lower case.
fn advice(name: &str) -> &'static str {
    match name {
        "server-parsed" => "server-side includes are not supported: print the page in Perl",
        _ if name.starts_with("proxy:") || name == "proxy-server" => {
            "put a proxy in front, or let a Perl program ask the other server"
        }
        _ if name.contains("php") => {
            "PHP is not run here: put a server that runs it beside this one, and a proxy in front"
        }
        "imap-file" | "type-map" | "isapi-isa" | "ldap-status" => "let a Perl handler answer",
        _ => "correct the name, let a Perl handler answer, or name a script for it with Action",
    }
}
