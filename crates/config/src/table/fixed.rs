//! Directives whose settings cannot depend on a condition of `<If>`.

/// Why a directive is not allowed in `<If>`. `None`: it is allowed if it is in a container.
pub fn refusal(name: &str) -> Option<&'static str> {
    let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix));
    if begins("Proxy") {
        return Some(
            "the backend is chosen before the condition is evaluated; write RewriteCond expr and a rule with [P]",
        );
    }
    if is(&["Perl", "PerlModule", "PerlRequire", "PerlConfigRequire", "PerlLoadModule", "PsgiApp", "PsgiEval"]) {
        return Some("code is loaded at the start, before there are requests");
    }
    if is(&["PerlPool", "PerlInterpScope", "PerlOpmask"]) {
        return Some("processes are chosen before there are requests");
    }
    if is(&["Files", "FilesMatch"]) {
        return Some("write the <If> in this section");
    }
    if is(&["AllowOverride", "AllowOverrideList", "UseCanonicalName", "Alias"]) {
        return Some("the directive takes effect before the condition is evaluated");
    }
    None
}
