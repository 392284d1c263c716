//! Facts about the original request that a redirected request can read.

use super::RequestRec;
use super::cgi_program;
use super::environment::encoded;
use super::field::Text;
use super::table::Table;
use super::tables::Id;

/// The variables that a redirected request inherits, with `REDIRECT_` before their names.
/// MOD_PERL stays out: httpd's embedded Perl sets it in `%ENV` only.
pub(crate) fn variables(r: &mut RequestRec) -> Vec<u8> {
    encoded(renamed(r).iter())
}

/// The variables that an error page inherits. As in httpd, they have the method, which is GET for the page itself.
pub(crate) fn variables_of_error(r: &mut RequestRec) -> Vec<u8> {
    let mut renamed = renamed(r);
    renamed.set(b"REDIRECT_REQUEST_METHOD", r.known_text(Text::Method).unwrap_or_default());
    encoded(renamed.iter())
}

fn renamed(r: &mut RequestRec) -> Table {
    let mut renamed = Table::default();
    let mut add = |name: &[u8], value: &[u8]| renamed.add(&[b"REDIRECT_", name].concat(), value);
    if r.ran_program {
        cgi_program::variables(r).iter().for_each(|(name, value)| add(name, value));
    } else {
        let Some(variables) = r.table(Id::SubprocessEnv as u32) else { return renamed };
        let of_others = variables.iter().filter(|(name, _)| !name.starts_with(b"MOD_PERL"));
        of_others.for_each(|(name, value)| add(name, value));
    }
    renamed.set(b"REDIRECT_STATUS", r.status.to_string().as_bytes());
    renamed.set(b"REDIRECT_URL", r.known_text(Text::Uri).unwrap_or_default());
    for (name, value) in [
        (&b"REDIRECT_QUERY_STRING"[..], r.known_text(Text::Args)),
        (b"REDIRECT_ERROR_NOTES", r.tables.of(Id::Notes).get(b"error-notes")),
    ] {
        if let Some(value) = value {
            renamed.set(name, value);
        }
    }
    renamed
}
