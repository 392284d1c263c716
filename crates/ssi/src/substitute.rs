//! Variables in values: `$name`, `${name}` and `\$`.

/// Longest value after substitution, in bytes.
pub const MAX_VALUE: usize = 64 << 10;

/// Replacement of a variable that is not defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// Nothing takes the place of the reference.
    Empty,
    /// The reference stays as written, because a shell replaces it.
    Stays,
}

/// The value is longer than [`MAX_VALUE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueTooLong;

/// The text with its variables replaced. A brace without an end ends the text, as in httpd.
pub fn substitute(
    text: &[u8],
    undefined: Undefined,
    look: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, ValueTooLong> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\\', b'$', rest) {
        let (plain, from) = rest.split_at(at);
        value.extend_from_slice(plain);
        let (sign, after) = (from.first().copied().unwrap_or_default(), from.get(1..).unwrap_or_default());
        if sign == b'\\' {
            let is_escape = after.first() == Some(&b'$');
            value.push(if is_escape { b'$' } else { b'\\' });
            rest = after.get(usize::from(is_escape)..).unwrap_or_default();
            continue;
        }
        let Some((name, behind)) = name(after) else {
            rest = &[];
            break;
        };
        rest = behind;
        let written = || from.get(..from.len() - behind.len()).unwrap_or_default().to_vec();
        let found = match name {
            b"" => Some(written()),
            name => look(name).or_else(|| (undefined == Undefined::Stays).then(written)),
        };
        value.extend(found.unwrap_or_default());
        if value.len() > MAX_VALUE {
            return Err(ValueTooLong);
        }
    }
    value.extend_from_slice(rest);
    if value.len() > MAX_VALUE { Err(ValueTooLong) } else { Ok(value) }
}

/// The name after a dollar sign, possibly in braces, and the text behind it. An empty name: the dollar sign stands for
/// itself. `None`: a brace has no end.
fn name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(inner) = text.strip_prefix(b"{") {
        let (name, behind) = inner.split_at_checked(memchr::memchr(b'}', inner)?)?;
        // `${}` is no variable: the dollar sign is copied here, and the braces follow as text.
        return if name.is_empty() { Some((name, text)) } else { Some((name, behind.get(1..)?)) };
    }
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    text.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, undefined: Undefined) -> String {
        let mut look = |name: &[u8]| (name == b"cur").then(|| b"current".to_vec());
        String::from_utf8(substitute(text.as_bytes(), undefined, &mut look).expect("short")).expect("text")
    }

    #[test]
    fn variables_are_replaced_as_in_httpd() {
        for (text, expected) in [
            ("it is $cur", "it is current"),
            ("\\$cur \\n", "$cur \\n"),
            ("${cur}_$cur-", "current_current-"),
            ("a${none}b$none", "ab"),
            ("5 $ and $", "5 $ and $"),
            ("a${cur", "a"),
            ("${}$$cur", "${}$current"),
        ] {
            assert_eq!(value(text, Undefined::Empty), expected, "{text}");
        }
        assert_eq!(value("echo $none ${none} $cur", Undefined::Stays), "echo $none ${none} current");
    }

    #[test]
    fn a_value_that_multiplies_itself_ends_at_the_limit() {
        let text = "$x".repeat(1000);
        let mut look = |_: &[u8]| Some(vec![b'x'; 60_000]);
        assert_eq!(substitute(text.as_bytes(), Undefined::Empty, &mut look), Err(ValueTooLong));
        assert_eq!(substitute(&vec![b'a'; MAX_VALUE + 1], Undefined::Empty, &mut look), Err(ValueTooLong));
    }
}
