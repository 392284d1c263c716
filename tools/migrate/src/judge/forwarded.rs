//! mod_rpaf: the client's address from a header of a proxy. Without it, every client has the address of the proxy.

use config::Directive;

use super::applications::words;
use super::ledger::LineVerdict;
use crate::write::LineEdit;

/// The header that mod_rpaf reads unless another is set.
const HEADER: &str = "X-Forwarded-For";
/// Directives of mod_extract_forwarded that decide which proxies are trusted.
const OF_EXTRACT_FORWARDED: &[&str] = &["meforder", "mefaccept", "mefrefuse"];

/// The verdict about a line of mod_rpaf; `None` for other lines. `tree` is the whole old configuration.
pub fn line(line: &Directive, tree: &[Directive]) -> Option<LineVerdict> {
    if OF_EXTRACT_FORWARDED.contains(&line.name.to_ascii_lowercase().as_str()) {
        return Some(stays(line, "write RemoteIPHeader and RemoteIPInternalProxy with the trusted proxies"));
    }
    let kind = kind(line)?;
    // A host may have its own setting, and a macro its own parameters.
    if !tree.iter().any(|one| one.at == line.at && one.name == line.name) {
        return Some(stays(line, "write RemoteIPHeader and RemoteIPInternalProxy here"));
    }
    let is_on = is_on(line);
    Some(match kind.as_str() {
        "proxyips" => proxies(line, tree),
        "enable" | "header" => changed(line, "RemoteIPHeader and RemoteIPInternalProxy do the same"),
        _ if !is_on => changed(line, "is off"),
        "sethostname" => open(line, "let the proxy send the Host header of the client"),
        "sethttps" | "setport" => open(line, "write RemoteIPProtoHeader with the proxy's header for the protocol"),
        _ => stays(line, "write Require ip with the addresses of the proxies for each place"),
    })
}

/// `RPAF_ProxyIPs` and `RPAFproxy_ips` are `proxyips`.
fn kind(line: &Directive) -> Option<String> {
    let kind = line.name.to_ascii_lowercase().strip_prefix("rpaf")?.replace('_', "");
    let known = ["enable", "proxyips", "header", "sethostname", "sethttps", "setport", "forbidifnotproxy"];
    known.contains(&kind.as_str()).then_some(kind)
}

fn is_on(line: &Directive) -> bool {
    words(&line.args).first().is_some_and(|arg| arg.eq_ignore_ascii_case("on"))
}

/// The proxies are trusted only where the module was turned on.
fn proxies(line: &Directive, tree: &[Directive]) -> LineVerdict {
    let last = |name: &str| tree.iter().rfind(|one| kind(one).is_some_and(|kind| kind == name));
    if !last("enable").is_some_and(is_on) {
        return changed(line, "the module was not turned on");
    }
    let header = last("header").and_then(|line| words(&line.args).into_iter().next());
    let header = header.as_deref().unwrap_or(HEADER);
    let addresses = words(&line.args);
    let is_name = header.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_address = |arg: &String| arg.chars().all(|c| c.is_ascii_hexdigit() || ".:/".contains(c));
    if !is_name || addresses.is_empty() || !addresses.iter().all(is_address) {
        return stays(line, "write RemoteIPHeader and RemoteIPInternalProxy with the trusted proxies");
    }
    let lines = vec![format!("RemoteIPHeader {header}"), format!("RemoteIPInternalProxy {}", addresses.join(" "))];
    let sentence = format!("{}: is RemoteIPHeader and RemoteIPInternalProxy now", line.name);
    LineVerdict::changed(&line.at, sentence, LineEdit::Replace(lines))
}

fn changed(line: &Directive, why: &str) -> LineVerdict {
    LineVerdict::changed(&line.at, format!("{}: {why}", line.name), LineEdit::Comment)
}

fn open(line: &Directive, what: &str) -> LineVerdict {
    let sentence = format!("{}: mod_rpaf is not part of Cameleer: {what}", line.name);
    LineVerdict::open(&line.at, sentence, Some(LineEdit::Comment))
}

fn stays(line: &Directive, what: &str) -> LineVerdict {
    LineVerdict { edit: Some(LineEdit::Note), ..open(line, what) }
}

#[cfg(test)]
mod tests {
    use config::At;

    use super::*;

    fn tree(text: &str) -> Vec<Directive> {
        let line = |(number, line): (u32, &str)| {
            let (name, args) = line.split_once(' ').unwrap_or_default();
            let (name, args) = (name.to_owned(), vec![args.to_owned()]);
            Directive { name, args, at: At { file: "/a".into(), line: number }, section: None }
        };
        (1..).zip(text.lines()).map(line).collect()
    }

    #[test]
    fn the_proxies_are_trusted_as_before() {
        let edit = |text: &str| line(&tree(text)[0], &tree(text)).and_then(|verdict| verdict.edit);
        let both = ["RemoteIPHeader X-Real-IP", "RemoteIPInternalProxy 127.0.0.1 ::1"].map(str::to_owned).to_vec();
        let proxies = "RPAFproxy_ips 127.0.0.1 ::1\nRPAFenable On\nRPAFheader X-Real-IP\n";
        assert_eq!(edit(proxies), Some(LineEdit::Replace(both)));
        assert_eq!(edit("RPAF_ProxyIPs 127.0.0.1\nRPAF_Enable Off"), Some(LineEdit::Comment));
        assert_eq!(edit("RPAF_ProxyIPs proxy.example\nRPAF_Enable On"), Some(LineEdit::Note));
        assert_eq!(edit("RPAF_ForbidIfNotProxy On"), Some(LineEdit::Note));
        assert_eq!(edit("RPAFsethostname On"), Some(LineEdit::Comment));
        assert_eq!(edit("MEFaccept 127.0.0.1"), Some(LineEdit::Note));
        assert_eq!(edit("RemoteIPHeader X"), None);
        let of_host = line(&tree("RPAF_Enable On")[0], &[]).and_then(|verdict| verdict.edit);
        assert_eq!(of_host, Some(LineEdit::Note));
    }
}
