//! What the server calls itself: to programs, in headers, below pages, in links.

use crate::config::model::identity::{CanonicalName, Signature, Tokens};
use crate::config::model::overrides::Class;
use crate::config::table::row::{ANYWHERE, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "ServerTokens",
        contexts: SERVER,
        takes: Takes::Word("Prod|Major|Minor|Min|OS|Full", |d, word| {
            d.config.tokens = Tokens::parse(word)?;
            Ok(())
        }),
        because: "clients need no version of ours: `Server:` is Cameleer, the API's mod_perl/1.31 where a site uses it, and what Apache->add_version_component added; SERVER_SOFTWARE has the version",
        about: "How much the `Server` header and SERVER_SOFTWARE tell: the name alone (Prod), parts of the version, the system (OS), or all \
            (Full): `Cameleer/0.1.0 (Unix) mod_perl/1.31` and what Apache->add_version_component added.",
        ..ROW
    },
    Row {
        name: "ServerSignature",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Word("On|Off|EMail", |d, word| {
            d.said().response.signature = Some(Signature::parse(word)?);
            Ok(())
        }),
        because: "Off, as in httpd: readers of an error page need no name of a program",
        about: "A last line below error pages and lists of folders that the server makes itself: the `Server` header's text, name and port; with \
            EMail the name is a link to ServerAdmin.",
        ..ROW
    },
    Row {
        name: "UseCanonicalName",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("On|Off|DNS", |d, word| {
            d.said().response.canonical_name = Some(CanonicalName::parse(word)?);
            Ok(())
        }),
        because: "Off: programs see the name that the client asked for",
        about: "Where SERVER_NAME and SERVER_PORT come from, which links to the server itself are made of. On: name and port of ServerName. Off: \
            name and port of the Host header. DNS: the name that our address has, the port of the Host header. What one does not say is taken \
            from ServerName, then from the connection.",
        ..ROW
    },
];
