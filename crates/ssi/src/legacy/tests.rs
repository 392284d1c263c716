use super::*;
use crate::substitute::{Undefined, substitute};

struct Page;

impl LegacySource for Page {
    fn substituted(&mut self, text: &[u8]) -> Result<Vec<u8>, Invalid> {
        let mut look = |name: &[u8]| match name {
            b"a" => Some(b"test1".to_vec()),
            b"b" => Some(b"test2".to_vec()),
            _ => None,
        };
        substitute(text, Undefined::Empty, &mut look).map_err(|_| Invalid)
    }

    fn matches(&mut self, pattern: &[u8], text: &[u8]) -> Result<bool, Invalid> {
        Ok(text.starts_with(pattern))
    }

    fn is_accessible(&mut self, url: &[u8]) -> Result<bool, Invalid> {
        Ok(url != b"/denied/x")
    }
}

fn holds(text: &str) -> Result<bool, Invalid> {
    LegacyExpr::parse(text.as_bytes())?.holds(&mut Page)
}

#[test]
fn expressions_evaluate_as_in_httpd() {
    for (text, expected) in [
        ("", false),
        ("$a", true),
        ("$none", false),
        ("word", true),
        ("$a = test1", true),
        ("$a == test2", false),
        ("100 < 20", true),
        ("($a <= test1) && ($b > test1) && ($b >= test2)", true),
        ("! $none", true),
        ("$a = test1 && $b = test2", true),
        ("word || word && $none", true),
        ("$none && word || word", false),
        ("$a = /test/", true),
        ("$a != /x/", true),
        ("'/a/b' = /\\/a/", true),
        ("one   two = 'one two'", true),
        ("'one   two' = one two", false),
        ("'$a-${b}' = test1-test2", true),
        ("-A /x", true),
        ("-A /denied/x", false),
        ("$none && ($a =", false),
        ("()", true),
    ] {
        assert_eq!(holds(text), Ok(expected), "{text}");
    }
}

#[test]
fn an_invalid_expression_is_an_error() {
    let deep = "(".repeat(60) + "x" + &")".repeat(60);
    let long = "x ".repeat(MAX_TOKENS + 1);
    for text in ["v('a') = test1", "($a", "$a =", "$a)", "/x/", "! $a = test1", "&& x", "x &&", "-A", &deep, &long] {
        assert_eq!(holds(text), Err(Invalid), "{text}");
    }
}
