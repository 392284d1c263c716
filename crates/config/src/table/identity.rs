//! How the server identifies itself: to programs, in headers, on error pages, in links.

use crate::model::identity::{CanonicalName, Signature, Tokens};
use crate::table::row::{ANY, FILE_INFO, Row, SERVER, rows, word};

pub(super) static ROWS: &[Row] = rows![
    "core.c",
    word("ServerTokens", SERVER, "Prod|Major|Minor|Min|OS|Full", |d, word| {
        d.config.tokens = Tokens::parse(word)?;
        Ok(())
    })
    .because(
        "clients do not need the version of Cameleer. `Server:` is Cameleer, the API's mod_perl/1.31 where a site \
             uses it, and the text of Apache->add_version_component; SERVER_SOFTWARE has the version"
    ),
    "How much the `Server` header and SERVER_SOFTWARE reveal: only the name (Prod), parts of the version, the system \
     (OS), or everything (Full): `Cameleer/0.1.0 (Unix) mod_perl/1.31` and the text of Apache->add_version_component.",
    word("ServerSignature", ANY, "On|Off|EMail", |d, word| {
        d.settings().response.signature = Some(Signature::parse(word)?);
        Ok(())
    })
    .because("Off, as in httpd: readers of an error page do not need the name of the server program"),
    "A last line on generated error pages and folder listings: the text of the `Server` header, the server name and \
     the port. With EMail, the server name is a link to ServerAdmin.",
    word("UseCanonicalName", FILE_INFO, "On|Off|DNS", |d, word| {
        d.settings().response.canonical_name = Some(CanonicalName::parse(word)?);
        Ok(())
    })
    .because("Off: programs see the host name that the client requested"),
    "The source of SERVER_NAME and SERVER_PORT, from which links to the server itself are made. On: name and port of \
     ServerName. Off: name and port of the Host header. DNS: the host name of the local address, the port of the Host \
     header. A missing part is taken from ServerName, then from the connection.",
];
