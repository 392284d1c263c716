//! PROXY headers: a header is read to its end and no further, and every input has an end. Extensions are few, short and
//! printable variables.
#![no_main]

use std::hint::black_box;

use front::proxy_header::{SourceAddress, ParseStatus, parse};
use front::proxy_tlv;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| _ = black_box(read(bytes)));
    let Some((header, sender)) = read(bytes) else { return };
    let is_line = header.starts_with(b"PROXY ");
    assert!(is_line || header.starts_with(b"\r\n\r\n\0\r\nQUIT\n"));
    assert!(!is_line || (header.len() <= 107 && header.ends_with(b"\r\n")));
    if let (true, Some(client)) = (is_line, sender) {
        let line = String::from_utf8_lossy(header);
        let family = if client.is_ipv4() { "TCP4" } else { "TCP6" };
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        assert_eq!((words.len(), words[1]), (6, family));
        assert_eq!(words[4].parse(), Ok(client.port()));
    }
});

/// Reads a header as the front does; returns it with the addresses in it.
fn read(bytes: &[u8]) -> Option<(&[u8], SourceAddress)> {
    let mut length = 0;
    loop {
        let header = bytes.get(..length)?;
        match parse(header) {
            ParseStatus::Read(more) => {
                assert!(more > 0);
                length += more;
            }
            ParseStatus::Done(sender) => {
                let variables = proxy_tlv::read(header).unwrap_or_default();
                assert!(variables.len() <= 10);
                assert!(variables.iter().all(|(_, value)| value.len() <= 255 && !value.contains(char::is_control)));
                return Some((header, sender));
            }
            ParseStatus::Wrong => return None,
        }
    }
}
