//! `DBDParams` of PostgreSQL: libpq's `name=value …` or URL. The client's library does not know all words about TLS, so
//! these are taken out before it reads the rest.

/// Parameters without those about TLS.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PgParams {
    /// The other parameters, as written.
    pub rest: String,
    pub sslmode: Option<String>,
    pub sslrootcert: Option<String>,
}

impl PgParams {
    /// Divides parameters. Wrong ones stay in `rest`, where the library refuses them.
    pub fn parse(text: &str) -> PgParams {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        if is_url { PgParams::of_url(text) } else { PgParams::of_words(text) }
    }

    fn take(&mut self, name: &str, value: &str) -> bool {
        let taken = match name {
            "sslmode" => &mut self.sslmode,
            "sslrootcert" => &mut self.sslrootcert,
            _ => return false,
        };
        *taken = Some(value.to_owned());
        true
    }

    fn of_url(text: &str) -> PgParams {
        let (place, query) = text.split_once('?').unwrap_or((text, ""));
        let mut params = PgParams::default();
        let mut others: Vec<&str> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !params.take(name, &value.replace("%2F", "/").replace("%2f", "/")) {
                others.push(pair);
            }
        }
        params.rest = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
        params
    }

    fn of_words(text: &str) -> PgParams {
        let mut params = PgParams::default();
        let mut left = text.trim_start();
        while let Some((name, after)) = left.split_once('=') {
            let after = after.trim_start();
            let (value, length) = value(after);
            let whole = left.len() - after.len() + length;
            let (pair, next) = left.split_at(whole);
            if !params.take(name.trim(), &value) {
                params.rest.push_str(pair);
                params.rest.push(' ');
            }
            left = next.trim_start();
        }
        params.rest.push_str(left);
        params.rest.truncate(params.rest.trim_end().len());
        params
    }
}

/// The value at the begin of a text, and its length with quotation marks: `'a b'`, or up to a blank.
fn value(text: &str) -> (String, usize) {
    let is_quoted = text.starts_with('\'');
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, c) in text.char_indices().skip(usize::from(is_quoted)) {
        match c {
            _ if is_escaped => {
                value.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '\'' if is_quoted => return (value, at + 1),
            c if !is_quoted && c.is_whitespace() => return (value, at),
            c => value.push(c),
        }
    }
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_about_tls_are_taken_out() {
        for (text, rest, sslmode, sslrootcert) in [
            ("host=db dbname=a", "host=db dbname=a", None, None),
            ("host = db sslmode = verify-full dbname=a", "host = db dbname=a", Some("verify-full"), None),
            ("sslrootcert='/a b/c\\'d.pem' host=db", "host=db", None, Some("/a b/c'd.pem")),
            ("password='x sslmode=disable' sslmode=require", "password='x sslmode=disable'", Some("require"), None),
            ("host=db junk", "host=db junk", None, None),
            (
                "postgresql://u@db/a?sslmode=verify-ca&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=2",
                "postgresql://u@db/a?connect_timeout=2",
                Some("verify-ca"),
                Some("/etc/ca.pem"),
            ),
            ("postgres://db?sslmode=require", "postgres://db", Some("require"), None),
        ] {
            let found = PgParams::parse(text);
            let found = (found.rest.as_str(), found.sslmode.as_deref(), found.sslrootcert.as_deref());
            assert_eq!(found, (rest, sslmode, sslrootcert), "{text}");
        }
    }
}
