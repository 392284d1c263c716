//! Chunk extensions (RFC 9112, section 7.1.1): `;name`, `;name=word`, `;name="text"`. Their meaning is ignored, but
//! their grammar is checked: a server that guesses the end of an extension may take bytes of it for chunk data.

use super::field;

/// Whether `line`, which follows a chunk size, consists only of extensions.
pub fn are_in_order(mut line: &[u8]) -> bool {
    while !line.is_empty() {
        let Some(rest) = after_one(line) else { return false };
        line = rest;
    }
    true
}

fn after_one(line: &[u8]) -> Option<&[u8]> {
    let name = after_blanks(line).strip_prefix(b";")?;
    let rest = field::after_token(after_blanks(name))?;
    let Some(value) = after_blanks(rest).strip_prefix(b"=") else { return Some(rest) };
    match after_blanks(value) {
        [b'"', quoted @ ..] => after_quoted(quoted),
        word => field::after_token(word),
    }
}

fn after_blanks(mut line: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = line {
        line = rest;
    }
    line
}

/// The bytes after a quoted string's closing quote (RFC 9110, section 5.6.4). A backslash quotes the next byte.
fn after_quoted(mut line: &[u8]) -> Option<&[u8]> {
    loop {
        line = match line {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] if field::is_value(&[*byte]) => rest,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn extensions_are_of_the_grammar_or_refused() {
        let fine: [&[u8]; 10] = [
            b"",
            b";a",
            b";a=b;c",
            b";a=\"b;c\"",
            b";a=\"\"",
            b"; a = b ;\tc",
            b";a=\"\\\"\\\\\";b",
            b";a=\"\t\xff\\\xff\"",
            b";0='",
            b" ;a",
        ];
        let wrong: [&[u8]; 15] = [
            b"a",
            b";",
            b";;a",
            b";=",
            b";=b",
            b";a=",
            b";a b",
            b";a=b c",
            b";a ",
            b";\xff",
            b";a=\xff",
            b";a=\"b",
            b";a=\"b\\\"",
            b";a=\"b\"c",
            b";a=\"\x01\"",
        ];
        for (lines, expected) in [(&fine[..], true), (&wrong[..], false)] {
            for line in lines {
                assert_eq!(super::are_in_order(line), expected, "{}", line.escape_ascii());
            }
        }
    }
}
