use super::*;

const TYPE: &[u8] = b"multipart/form-data; boundary=AaB";

/// Formats the parts as `name(file):data`, then `.` at the end or the error.
fn shown(body: &str, size: usize) -> String {
    let mut multipart = Multipart::new(TYPE).expect("a boundary");
    let mut out = String::new();
    for piece in body.as_bytes().chunks(size) {
        multipart.feed(piece);
        while let Some(event) = multipart.event() {
            match event {
                MultipartEvent::Part(part) => {
                    let file = part.filename.map(|file| format!("({})", file.escape_ascii())).unwrap_or_default();
                    out += &format!("{}{file}:", part.name.escape_ascii());
                }
                MultipartEvent::Data(data) => out += &data.escape_ascii().to_string(),
                MultipartEvent::PartEnd => out.push(' '),
                MultipartEvent::End => out.push('.'),
                MultipartEvent::Bad(reason) => out += reason,
            }
        }
    }
    out
}

fn part(disposition: &str, data: &str) -> String {
    format!("--AaB\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{data}\r\n")
}

#[test]
fn a_body_means_the_same_in_pieces_of_any_size() {
    let named = "Content-Disposition: form-data; name=a\r\n\r\n";
    // The first line end of a header is that of the delimiter.
    let longest = format!("--AaB\r\nX: {}\r\n{named}", "x".repeat(MAX_HEADER + 4 - 2 - 3 - 2 - named.len()));
    let plain = part("name=a", "1") + &part("name=\"b c\"", "") + "--AaB--\r\nepilogue";
    let cases = [
        (plain, "a:1 b c: ."),
        (format!("preamble\r\n{}--AaB--", part("name=\"x\"", "\r\n--Aa\r\n-")), "x:\\r\\n--Aa\\r\\n- ."),
        (part("name=f; filename=\"C:\\a\\\"b.txt\"", "data") + "--AaB--", "f(C:\\\\a\\\"b.txt):data ."),
        (part("name=f; filename=\"\"", "") + "--AaB  \r\nX: y\r\n\r\n", "f(): a part has no name"),
        ("--AaB\r\n\r\n".into(), "a part has no name"),
        ("--AaBcd\r\n\r\n".into(), "a boundary's line has other text"),
        (part("name=a", "cut off here"), "a:cut off "),
        ("".into(), ""),
        (format!("--AaB\r\n{}\r\n\r\n", "x".repeat(MAX_HEADER + 1)), "a part's header is longer than 16 KiB"),
        (longest.clone() + "1\r\n--AaB--", "a:1 ."),
        (format!("--AaB{}\r\n{named}", "\t".repeat(MAX_PADDING)), "a:"),
        (format!("--AaB{}\r\n{named}", "\t".repeat(MAX_PADDING + 1)), "a boundary's line has other text"),
    ];
    for (body, expected) in &cases {
        for size in [1, 2, 3, 7, 1000, 100_000] {
            assert_eq!(shown(body, size), *expected, "pieces of {size}: {}", &body[..body.len().min(200)]);
        }
    }
}

#[test]
fn the_end_of_a_body_shows_whether_it_is_whole() {
    for (body, expected) in [(part("name=a", "1") + "--AaB--", true), (part("name=a", "1"), false)] {
        let mut multipart = Multipart::new(TYPE).expect("a boundary");
        multipart.feed(body.as_bytes());
        while multipart.event().is_some() {}
        assert_eq!(multipart.is_whole(), expected, "{body}");
    }
}

#[test]
fn too_many_parts_are_an_error() {
    let body = part("name=a", "").repeat(MAX_FIELDS + 1);
    assert!(shown(&body, 65536).ends_with("there are more than 10000 parts"));
}

#[test]
fn a_header_parameter_may_be_quoted() {
    let cases = [
        ("multipart/form-data; boundary=x", Some("x")),
        ("multipart/form-data; charset=utf-8; Boundary=\"a b\"; z", Some("a b")),
        ("multipart/form-data, boundary=x", Some("x")),
        ("multipart/form-data; boundary=", Some("")),
        ("multipart/form-data; boundary", None),
        ("multipart/form-data", None),
    ];
    for (header, expected) in cases {
        let found = parameter(header.as_bytes(), b"boundary").map(|value| value.escape_ascii().to_string());
        assert_eq!(found.as_deref(), expected, "{header}");
    }
    assert!(Multipart::new(b"multipart/form-data; boundary=").is_none());
}
