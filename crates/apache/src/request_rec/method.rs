/// Methods and their numbers in httpd 1.3; `HEAD` counts as `GET`.
const METHODS: [(&[u8], i64); 17] = [
    (b"GET", 0),
    (b"HEAD", 0),
    (b"PUT", 1),
    (b"POST", 2),
    (b"DELETE", 3),
    (b"CONNECT", 4),
    (b"OPTIONS", 5),
    (b"TRACE", 6),
    (b"PATCH", 7),
    (b"PROPFIND", 8),
    (b"PROPPATCH", 9),
    (b"MKCOL", 10),
    (b"COPY", 11),
    (b"MOVE", 12),
    (b"LOCK", 13),
    (b"UNLOCK", 14),
    (b"INVALID", 15),
];

/// `M_INVALID` for a method without a number.
pub(crate) fn number(method: &[u8]) -> i64 {
    METHODS.iter().find(|(name, _)| *name == method).map_or(15, |(_, number)| *number)
}
