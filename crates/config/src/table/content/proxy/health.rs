//! Active checks of a balancer's members: `hcmethod` and the like, `ProxyHCExpr`, `ProxyHCTemplate`.

use crate::draft::Draft;
use crate::model::proxy::balancer::{HealthCheck, HealthCheckMethod, HealthCondition};
use crate::syntax::value::{duration, number};

/// `ProxyHCExpr name {expression}`
pub fn condition(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, words @ ..] = args else { return Ok(()) };
    let text = words.join(" ");
    let bare = text.trim().trim_start_matches('{').trim_end_matches('}').trim();
    let parsed = parse(bare).ok_or_else(|| {
        format!(
            "expected {{%{{REQUEST_STATUS}} =~ /regex/}} or {{hc('body') =~ /regex/}}, also with !~, got \"{text}\""
        )
    });
    let (of_body, negated, regex) = parsed?;
    let pattern = draft.pattern(regex)?;
    let condition = HealthCondition { of_body, negated, pattern };
    draft.balancers.checks.conditions.insert(name.to_ascii_lowercase(), condition);
    Ok(())
}

/// Whether the body is meant, whether the comparison is negated, and the expression.
fn parse(text: &str) -> Option<(bool, bool, &str)> {
    let (of_body, rest) = match text.strip_prefix("%{REQUEST_STATUS}") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("hc('body')").or_else(|| text.strip_prefix("hc(\"body\")"))?),
    };
    let rest = rest.trim_start();
    let (negated, rest) = match rest.strip_prefix("=~") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("!~")?),
    };
    Some((of_body, negated, rest.trim().strip_prefix('/')?.strip_suffix('/')?))
}

/// `ProxyHCTemplate name parameter=value…`
pub fn template(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [name, words @ ..] = args else { return Ok(()) };
    let pairs = words.iter().map(|word| {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("expected parameter=value, got \"{word}\""))?;
        let key = key.to_ascii_lowercase();
        let mut trial = None;
        match key != "hctemplate" && parameter(draft, &mut trial, &key, value)? {
            true => Ok((key, value.to_owned())),
            false => Err(format!(
                "{key} is no parameter of a health check; use hcmethod, hcinterval, hcpasses, hcfails, hcuri or hcexpr"
            )),
        }
    });
    let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
    draft.balancers.checks.templates.insert(name.to_ascii_lowercase(), pairs);
    Ok(())
}

/// Applies a parameter of checks; false for others.
pub fn parameter(draft: &Draft, check: &mut Option<HealthCheck>, key: &str, value: &str) -> Result<bool, String> {
    if key == "hctemplate" {
        let name = value.to_ascii_lowercase();
        let template = draft.balancers.checks.templates.get(&name);
        let template =
            template.ok_or_else(|| format!("hctemplate: no ProxyHCTemplate {value} stands before this line"))?;
        for (key, value) in template {
            parameter(draft, check, key, value)?;
        }
        return Ok(true);
    }
    if !key.starts_with("hc") {
        return Ok(false);
    }
    if key == "hcmethod" && value.eq_ignore_ascii_case("none") {
        *check = None;
        return Ok(true);
    }
    apply(draft, check.get_or_insert_default(), key, value).map_err(|why| format!("{key}: {why}"))
}

fn apply(draft: &Draft, check: &mut HealthCheck, key: &str, value: &str) -> Result<bool, String> {
    match key {
        "hcmethod" => check.method = method(value)?,
        "hcinterval" => check.interval = duration(value)?,
        "hcpasses" => check.passes = number(value, &(1..=1000))? as u32,
        "hcfails" => check.fails = number(value, &(1..=1000))? as u32,
        "hcuri" if value.starts_with('/') => check.uri = Some(value.to_owned()),
        "hcuri" => return Err(format!("expected a path that begins with /, got \"{value}\"")),
        "hcexpr" => {
            let known = draft.balancers.checks.conditions.get(&value.to_ascii_lowercase());
            check.condition = Some(known.ok_or(format!("no ProxyHCExpr {value} stands before this line"))?.clone());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn method(name: &str) -> Result<HealthCheckMethod, String> {
    match name.to_ascii_uppercase().as_str() {
        "TCP" => Ok(HealthCheckMethod::Tcp),
        "OPTIONS" | "OPTIONS11" => Ok(HealthCheckMethod::Options),
        "HEAD" | "HEAD11" => Ok(HealthCheckMethod::Head),
        "GET" | "GET11" => Ok(HealthCheckMethod::Get),
        _ => Err(format!("expected NONE, TCP, OPTIONS, HEAD or GET, got \"{name}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_compares_the_status_or_the_body() {
        assert_eq!(parse("%{REQUEST_STATUS} =~ /^[234]/"), Some((false, false, "^[234]")));
        assert_eq!(parse("hc('body') !~ /down/"), Some((true, true, "down")));
        assert_eq!(parse("%{TIME_HOUR} -gt 5"), None);
    }
}
