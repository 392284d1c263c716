//! Tokens of legacy expressions.

use super::{Invalid, MAX_TOKENS, Operator};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Word(Vec<u8>),
    Pattern(Vec<u8>),
    And,
    Or,
    Not,
    Access,
    Open,
    Close,
    Compare(Operator),
}

/// The tokens of an expression. The error: there are more than [`MAX_TOKENS`].
pub fn tokens(text: &[u8]) -> Result<Vec<Token>, Invalid> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_ascii_start());
    while let Some((first, after)) = rest.split_first() {
        let is_after_access = tokens.last() == Some(&Token::Access);
        let (token, behind) = match sign(rest) {
            Some((token, length)) => (token, rest.get(length..).unwrap_or_default()),
            None => match first {
                b'\'' => text_until(after, b'\'')
                    .map_or((Token::Word(Vec::new()), &[][..]), |(text, behind)| (Token::Word(text), behind)),
                b'/' if !is_after_access => text_until(after, b'/')
                    .map_or((Token::Pattern(Vec::new()), &[][..]), |(text, behind)| (Token::Pattern(text), behind)),
                _ => {
                    let (text, behind) = plain(rest);
                    (Token::Word(text), behind)
                }
            },
        };
        tokens.push(token);
        if tokens.len() > MAX_TOKENS {
            return Err(Invalid);
        }
        rest = behind.trim_ascii_start();
    }
    Ok(tokens)
}

/// An operator at the start of the text, and its length.
fn sign(text: &[u8]) -> Option<(Token, usize)> {
    const SIGNS: [(&[u8], Token); 13] = [
        (b"==", Token::Compare(Operator::Equal)),
        (b"=", Token::Compare(Operator::Equal)),
        (b"!=", Token::Compare(Operator::Unequal)),
        (b"<=", Token::Compare(Operator::LessOrEqual)),
        (b"<", Token::Compare(Operator::Less)),
        (b">=", Token::Compare(Operator::GreaterOrEqual)),
        (b">", Token::Compare(Operator::Greater)),
        (b"!", Token::Not),
        (b"&&", Token::And),
        (b"||", Token::Or),
        (b"(", Token::Open),
        (b")", Token::Close),
        (b"-A", Token::Access),
    ];
    let (sign, token) = SIGNS.iter().find(|(sign, _)| text.starts_with(sign))?;
    Some((token.clone(), sign.len()))
}

/// The text up to `end`, without backslashes before characters, and the text behind. `None`: there is no end.
fn text_until(text: &[u8], end: u8) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => value.push(*bytes.next()?),
            byte if *byte == end => return Some((value, bytes.as_slice())),
            byte => value.push(*byte),
        }
    }
    None
}

/// A text without quotes, which ends before a blank or an operator.
fn plain(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        let is_first = rest.len() == text.len();
        match byte {
            b'\\' => {
                value.extend(after.first());
                rest = after.get(1..).unwrap_or_default();
                continue;
            }
            b'(' | b')' | b'=' | b'!' | b'<' | b'>' => break,
            b'|' | b'&' if after.first() == Some(byte) && !is_first => break,
            byte if byte.is_ascii_whitespace() || *byte == 0x0b => break,
            byte => value.push(*byte),
        }
        rest = after;
    }
    (value, rest)
}
