//! Messages as server-sent events (HTML standard, section 9.2).

use bytes::Bytes;

/// A comment, which clients skip.
pub const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// The event with this message as its data. A line break of any kind begins another line of data.
pub fn event(message: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(message.len() + 8);
    let mut rest = Some(message);
    while let Some(text) = rest {
        let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (line, after) = text.split_at(end.unwrap_or(text.len()));
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..));
    }
    event.push(b'\n');
    event.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_message_is_a_line_of_data() {
        for (message, expected) in [
            ("one", "data: one\n\n"),
            ("", "data: \n\n"),
            ("a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n"),
            ("end\n", "data: end\ndata: \n\n"),
            ("\r\r\n", "data: \ndata: \ndata: \n\n"),
            ("id: 7", "data: id: 7\n\n"),
        ] {
            assert_eq!(event(message.as_bytes()), expected, "{message:?}");
        }
    }
}
