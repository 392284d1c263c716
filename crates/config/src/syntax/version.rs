//! `<IfVersion>` (httpd manual, mod_version): conditions on the version of httpd.

use crate::syntax::pattern::{Budget, Case};
use crate::syntax::section_stack::SectionFate;

/// The version of httpd whose configuration language is implemented.
const SPOKEN: [u32; 3] = [2, 4, 66];

/// Evaluates `<IfVersion [[!]operator] version>`.
pub(super) fn condition(args: &[String]) -> Result<SectionFate, String> {
    let (operator, version) = match args {
        [version] => ("=", version),
        [operator, version] => (operator.as_str(), version),
        _ => return Err("<IfVersion>: expected an operator and a version, as in <IfVersion >= 2.4>".to_owned()),
    };
    let (is_negated, operator) = operator.strip_prefix('!').map_or((false, operator), |rest| (true, rest));
    let holds = holds(operator, version)?;
    Ok(if holds != is_negated { SectionFate::Dissolved } else { SectionFate::Skipped })
}

fn holds(operator: &str, version: &str) -> Result<bool, String> {
    let spoken = SPOKEN.map(|part| part.to_string()).join(".");
    let expression = match operator {
        "~" => Some(version),
        "=" | "==" => version.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')),
        _ => None,
    };
    if let Some(expression) = expression {
        let pattern = Budget::of_the_administrator().compile(expression, Case::Exact);
        return Ok(pattern.map_err(|error| format!("<IfVersion>: {error}"))?.is_match(&spoken));
    }
    let wanted =
        parts(version).ok_or_else(|| format!("<IfVersion>: invalid version {version:?}; write for instance 2.4.1"))?;
    let order = SPOKEN.cmp(&wanted);
    match operator {
        "=" | "==" => Ok(order.is_eq()),
        ">" => Ok(order.is_gt()),
        ">=" => Ok(order.is_ge()),
        "<" => Ok(order.is_lt()),
        "<=" => Ok(order.is_le()),
        _ => Err(format!(
            "<IfVersion>: expected =, ==, >, >=, <, <= or ~, optionally with a ! before it, got {operator:?}"
        )),
    }
}

/// Parses a version. Missing parts are 0.
fn parts(version: &str) -> Option<[u32; 3]> {
    let mut parts = [0; 3];
    for (at, digits) in version.split('.').enumerate() {
        *parts.get_mut(at)? = digits.parse().ok()?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(args: &str) -> Result<bool, String> {
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        condition(&args).map(|fate| matches!(fate, SectionFate::Dissolved))
    }

    #[test]
    fn a_section_for_httpd_2_4_is_read() {
        for args in [">= 2.4", "> 2.4.1", "< 2.5", "<= 3", "!< 2.4", "~ ^2\\.4\\.", "= /^2/", "!= 2.4", ">= 2.4.0"] {
            assert_eq!(is_read(args), Ok(true), "{args}");
        }
        for args in ["< 2.4", ">= 2.5", "2.4.0", "== 2.2", "!>= 2.4", "~ ^2\\.2", "!= /^2/"] {
            assert_eq!(is_read(args), Ok(false), "{args}");
        }
    }

    #[test]
    fn an_invalid_version_is_an_error() {
        for args in ["", ">= two", "=> 2.4", ">= 2.4.1.1", "~ (", "> 2 4", ">= 99999999999"] {
            assert!(is_read(args).is_err(), "{args}");
        }
    }
}
