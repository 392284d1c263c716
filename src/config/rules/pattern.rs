//! What a regular expression found, put into a text: `$0` to `$9`; `\$` is a dollar sign.

use regex::{Captures, Regex, RegexBuilder};

/// `template` with the groups of `found`, each passed through `escape`.
pub fn expand(template: &str, found: &Captures<'_>, escape: &dyn Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        let group = if c == '$' { rest.peek().and_then(|digit| digit.to_digit(10)) } else { None };
        if let Some(group) = group {
            rest.next();
            out.push_str(&found.get(group as usize).map_or_else(String::new, |part| escape(part.as_str())));
        } else if c == '\\' && rest.peek() == Some(&'$') {
            out.extend(rest.next());
        } else {
            out.push(c);
        }
    }
    out
}

/// Compiles an expression that takes letters of either case.
pub fn either_case(source: &str) -> Result<Regex, String> {
    // The plain expression says what is wrong in the user's words.
    super::super::wildcard::compile(source)?;
    RegexBuilder::new(source).case_insensitive(true).build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stand_where_the_template_names_them() {
        let regex = Regex::new("^/a/(.*)/(b)?").expect("a pattern");
        let found = regex.captures("/a/x y/").expect("it matches");
        let escape = |text: &str| text.replace(' ', "%20");
        for (template, expected) in
            [("/n/$1&$2?$9", "/n/x%20y&?"), (r"\$1 $x $", "$1 $x $"), ("$0", "/a/x%20y/"), ("ü$1", "üx%20y")]
        {
            assert_eq!(expand(template, &found, &escape), expected, "{template}");
        }
    }
}
