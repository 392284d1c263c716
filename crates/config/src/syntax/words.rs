//! Splitting of a line into words, with httpd's quoting rules (`ap_getword_conf`).

/// Splits a line into unquoted words. An unclosed quotation mark is an error.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let word;
        (word, rest) = match first {
            '"' | '\'' => quoted(&rest[1..], first)?,
            _ => bare(rest),
        };
        words.push(word);
        rest = rest.trim_start();
    }
    Ok(words)
}

/// Splits `Require [not] expr …`: the expression is one word and retains its quotation marks.
pub fn split_requirement(line: &str) -> Result<Vec<String>, String> {
    let mut rest = line.trim();
    let mut words = Vec::new();
    for expected in [["require", "require"], ["not", "expr"], ["expr", "expr"]] {
        let (word, behind) = bare(rest);
        if !expected.contains(&word.to_ascii_lowercase().as_str()) {
            break;
        }
        rest = behind.trim_start();
        words.push(word);
        let is_expression = words.last().is_some_and(|word| word.eq_ignore_ascii_case("expr"));
        if is_expression && !rest.is_empty() && !rest.starts_with('"') {
            words.push(rest.to_owned());
            return Ok(words);
        }
    }
    words.extend(split(rest)?);
    Ok(words)
}

/// Splits a line into its name and the rest, which retains its quotation marks.
pub fn split_whole(line: &str) -> Vec<String> {
    let (name, rest) = bare(line.trim());
    let rest = rest.trim_start();
    if rest.is_empty() { vec![name] } else { vec![name, rest.to_owned()] }
}

/// Splits a rewrite directive: a backslash escapes a space and is retained for the regular expression.
pub fn split_rule(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let mark = Some(first).filter(|c| matches!(c, '"' | '\''));
        let text = if mark.is_some() { &rest[1..] } else { rest };
        let mut escaped = false;
        let is_end = |c: char| {
            let ends = !escaped && mark.map_or(c.is_whitespace(), |mark| c == mark);
            escaped = c == '\\' && !escaped;
            ends
        };
        let end = match (text.find(is_end), mark) {
            (Some(end), _) => end,
            (None, None) => text.len(),
            (None, Some(mark)) => return Err(unclosed(mark, text)),
        };
        words.push(text[..end].to_owned());
        rest = text[end + mark.map_or(0, char::len_utf8)..].trim_start();
    }
    Ok(words)
}

/// Splits a line whose last word may begin with an unclosed quotation mark.
pub fn split_old(line: &str) -> Vec<String> {
    split(line).or_else(|_| split(&format!("{line}\""))).unwrap_or_else(|_| vec![line.to_owned()])
}

/// A word in quotation marks, which [`split`] reads as this word.
pub fn quote(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text up to the closing mark. Only the mark itself and the backslash can be escaped: `\n` is unchanged.
fn quoted(text: &str, mark: char) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == mark {
            return Ok((word, &text[at + 1..]));
        }
        let escaped = (c == '\\').then(|| chars.next_if(|&(_, next)| next == mark || next == '\\')).flatten();
        word.push(escaped.map_or(c, |(_, next)| next));
    }
    Err(unclosed(mark, text))
}

fn unclosed(mark: char, text: &str) -> String {
    format!("the {mark} before `{text}` is never closed; close it on the same line, or end the line with \\")
}

/// The text up to the next space. A quotation mark inside is an ordinary character, two backslashes are one.
fn bare(text: &str) -> (String, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text[..end].replace("\\\\", "\\"), &text[end..])
}

#[cfg(test)]
mod tests {
    fn check(line: &str, words: &[&str]) {
        assert_eq!(super::split(line).unwrap(), words, "{line}");
    }

    #[test]
    fn an_unquoted_expression_contains_its_quotation_marks() {
        for (line, words) in [
            ("Require expr %{HTTP_HOST} == 'a b'", &["Require", "expr", "%{HTTP_HOST} == 'a b'"][..]),
            ("require Not Expr  'a' == 'b' ", &["require", "Not", "Expr", "'a' == 'b'"]),
            (r#"Require expr "%{HTTP_HOST} == 'a'""#, &["Require", "expr", "%{HTTP_HOST} == 'a'"]),
            ("Require user expr 'b c' d", &["Require", "user", "expr", "b c", "d"]),
            ("Require not user 'b c'", &["Require", "not", "user", "b c"]),
            ("Require expr", &["Require", "expr"]),
            ("Require", &["Require"]),
        ] {
            assert_eq!(super::split_requirement(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn a_whole_argument_contains_its_quotation_marks() {
        assert_eq!(super::split_whole(" SSLRequire  %{X} eq \"a b\" "), ["SSLRequire", "%{X} eq \"a b\""]);
        assert_eq!(super::split_whole("SSLRequire"), ["SSLRequire"]);
    }

    #[test]
    fn words_are_quoted_as_in_httpd() {
        check(r"a  b", &["a", "b"]);
        check(r#""a b" 'c d'"#, &["a b", "c d"]);
        check(r#""a \"b\" c\\d\n""#, &[r#"a "b" c\d\n"#]);
        check(r#"'it\'s "so"'"#, &[r#"it's "so""#]);
        check(r#"o'brien a\\b a\b"#, &["o'brien", r"a\b", r"a\b"]);
        check(r#""x"y """#, &["x", "y", ""]);
    }

    #[test]
    fn a_rewrite_rule_contains_its_backslashes() {
        for (line, words) in [
            (
                r"RewriteCond %{THE_REQUEST} ^GET\ /a\\b\ HTTP [NC]",
                &["RewriteCond", "%{THE_REQUEST}", r"^GET\ /a\\b\ HTTP", "[NC]"][..],
            ),
            (r#"RewriteRule "^/a b" '/x\'y' [L]"#, &["RewriteRule", "^/a b", r"/x\'y", "[L]"]),
            (r#"RewriteCond %{X} """#, &["RewriteCond", "%{X}", ""]),
        ] {
            assert_eq!(super::split_rule(line).unwrap(), words, "{line}");
        }
        assert!(super::split_rule(r#"RewriteRule "a b"#).is_err());
    }

    #[test]
    fn the_text_of_an_error_document_may_begin_with_a_lone_quotation_mark() {
        for line in [r#"ErrorDocument 404 "It's gone"#, r#"ErrorDocument 404 "It's gone""#] {
            assert_eq!(super::split_old(line), ["ErrorDocument", "404", "It's gone"]);
        }
    }

    #[test]
    fn an_unclosed_quotation_mark_is_an_error() {
        assert!(super::split(r#"a "b c"#).is_err());
    }
}
