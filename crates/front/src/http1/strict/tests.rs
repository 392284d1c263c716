use super::*;

const LIMITS: HeadLimits = HeadLimits { line: 200, field: 200, fields: 5, head: 1000 };

/// Sends `bytes` through a buffer in pieces of `size`. Returns the output, the violation, the number of heads, and
/// whether the position is between requests.
fn sift(bytes: &[u8], size: usize) -> (Vec<u8>, Option<Violation>, u32, bool) {
    let mut buffer = Buffer::new(LIMITS);
    let mut through = Vec::new();
    for piece in bytes.chunks(size) {
        let mut piece = piece.to_vec();
        let passed = buffer.take(&mut piece);
        through.extend_from_slice(&piece[..passed]);
        while buffer.give(7, |bytes| through.extend_from_slice(bytes)) > 0 {}
    }
    (through, buffer.violation(), buffer.heads(), buffer.is_between_requests())
}

/// The status with which `text` is refused; 200 if it is complete, 0 if not. Checks that the pieces do not matter, and
/// that the output is a prefix of `text`.
fn judge(text: &str) -> u16 {
    let whole = sift(text.as_bytes(), text.len());
    for size in [1, 2, 3, 7] {
        assert_eq!(sift(text.as_bytes(), size), whole, "{text:?} in pieces of {size}");
    }
    assert!(text.as_bytes().starts_with(&whole.0), "{text:?}");
    match whole.1 {
        Some(violation) => violation.status.as_u16(),
        None if whole.3 => 200,
        None => 0,
    }
}

#[test]
fn valid_bytes_pass_unchanged() {
    for text in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET / HTTP/1.0\r\n\r\n",
        "POST /a?b=%zz|{} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\n\r\n5;a=\"b\"\r\n\r\n\r\n\n\r\n0000\r\nT: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost:\t a \t\r\n\r\n",
        "GET http://a:80/b?c HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n",
        "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        assert_eq!(judge(text), 200, "{text:?}");
        assert_eq!(sift(text.as_bytes(), 1).0, text.as_bytes());
    }
}

#[test]
fn an_incomplete_head_waits() {
    for text in ["GET / HTTP/1.1\r\nHost: a\r\n", "\r\n", "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nx"] {
        assert_eq!(judge(text), 0, "{text:?}");
    }
}

#[test]
fn a_head_is_passed_on_whole_or_not_at_all() {
    let (through, violation, heads, _) = sift(b"GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nA: b\r\n C\r\n\r\n", 5);
    assert_eq!((&through[..], heads), (&b"GET /1 HTTP/1.1\r\n\r\n"[..], 1));
    assert!(violation.is_some_and(|violation| !violation.in_body));
}

#[test]
fn a_violation_of_the_grammar_is_refused() {
    let head = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
    let cases = [
        (head("Content-Length: 1\r\nContent-Length: 1"), 400),
        (head("Content-Length: 9223372036854775808"), 400),
        (head("Transfer-Encoding: gzip, chunked"), 501),
        (head("A: b\r\nB: b\r\nC: b\r\nD: b\r\nE: b"), 431),
        (head(&format!("A: {}", "b".repeat(200))), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "b".repeat(200)), 414),
        (format!("GET /{}", "b".repeat(300)), 414),
        ("GET / HTTP/2.1\r\n\r\n".to_owned(), 505),
        (format!("{} / HTTP/1.1\r\n\r\n", "A".repeat(33)), 501),
        ("\x16\x03\x01".to_owned(), 400),
        (head("Transfer-Encoding: chunked") + "1;" + &"a".repeat(5000), 400),
        (head("Transfer-Encoding: chunked") + "1;a=\"b\r\nx\r\n0\r\n\r\n", 400),
        (head("Transfer-Encoding: chunked") + &"1;aaaaaaaaaaa\r\nx\r\n".repeat(500), 400),
    ];
    for (text, expected) in cases {
        assert_eq!(judge(&text), expected, "{text:?}");
    }
}

/// Mutated requests: some bytes are changed, doubled or left out. The verdict must not depend on the pieces.
#[test]
fn judgement_does_not_depend_on_the_segments() {
    let seeds = [
        "GET /a?b HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\nGET http://b/ HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\nGET / HTTP/1\r\nOPTIONS * HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0a\r\n0123456789\r\n0\r\nT: u\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ];
    let marks = b"\r\n\0 :;,\t0aAxf\xff/*";
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let mut bytes = seeds[draw(seeds.len())].as_bytes().to_vec();
        for _ in 0..draw(4) {
            let (at, mark) = (draw(bytes.len()), marks[draw(marks.len())]);
            match draw(3) {
                0 => bytes[at] = mark,
                1 => bytes.insert(at, mark),
                _ => drop(bytes.remove(at)),
            }
        }
        let whole = sift(&bytes, bytes.len());
        assert_eq!(sift(&bytes, 1 + draw(9)), whole, "{:?}", bytes.escape_ascii().to_string());
        let again = sift(&whole.0, whole.0.len().max(1));
        assert_eq!((&again.0, again.1, again.2), (&whole.0, None, whole.2), "{:?}", bytes.escape_ascii().to_string());
    }
}

#[test]
fn a_version_after_1_1_is_read_as_that_however_it_arrives() {
    let text = b"GET /1.2 HTTP/1.2\r\nHost: a\r\n\r\nGET /b HTTP/1.9\r\nHost: a\r\n\r\n";
    for size in [1, 3, text.len()] {
        let (through, violation, heads, _) = sift(text, size);
        let expected = "GET /1.2 HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!((String::from_utf8_lossy(&through).as_ref(), violation, heads), (expected, None, 2));
    }
}

#[test]
fn fields_of_one_name_are_no_longer_together_than_one_may_be() {
    let head = |a: usize, b: usize| {
        format!("GET / HTTP/1.1\r\nHost: a\r\nX-A: {}\r\nx-a: {}\r\n\r\n", "a".repeat(a), "b".repeat(b))
    };
    assert_eq!((judge(&head(100, 100)), judge(&head(100, 101)), judge(&head(190, 190))), (200, 431, 431));
}
