//! `ProxyPassReverse…`: addresses in a backend's response become this server's.

/// A line of `ProxyPassReverse`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReverseMap {
    /// The path on this server.
    pub here: String,
    /// The URL of the backend, or the beginning of a path there.
    pub there: String,
}

/// The URL path on this server of a URL that a backend names; `None` if no line is for it.
pub fn reversed(maps: &[ReverseMap], url: &str) -> Option<String> {
    maps.iter().find_map(|map| {
        let rest = url.get(map.there.len()..).filter(|_| starts_with(url, &map.there))?;
        Some(format!("{}{rest}", map.here))
    })
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// A `Set-Cookie` value with the domain and the path of this server; `None` if it stays as it is.
pub fn cookie(value: &str, domains: &[(String, String)], paths: &[(String, String)]) -> Option<String> {
    let mut changed = false;
    let parts = value.split(';').map(|part| {
        let Some((name, value)) = part.split_once('=') else { return part.to_owned() };
        let (name_of, attribute) = (name.trim(), value.trim());
        let new = if name_of.eq_ignore_ascii_case("domain") {
            domains.iter().find(|(there, _)| there.eq_ignore_ascii_case(attribute)).map(|(_, here)| here.clone())
        } else if name_of.eq_ignore_ascii_case("path") {
            // As in httpd, the whole path is replaced.
            paths.iter().find(|(there, _)| attribute.starts_with(there.as_str())).map(|(_, here)| here.clone())
        } else {
            None
        };
        match new {
            Some(new) => {
                changed = true;
                format!("{name}={new}")
            }
            None => part.to_owned(),
        }
    });
    let cookie = parts.collect::<Vec<_>>().join(";");
    changed.then_some(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_for_a_url_gives_its_path_here() {
        let map = |here: &str, there: &str| ReverseMap { here: here.to_owned(), there: there.to_owned() };
        let maps = [map("/a/", "http://one:81/b/"), map("/", "http://one:81/")];
        assert_eq!(reversed(&maps, "HTTP://ONE:81/b/c?d"), Some("/a/c?d".to_owned()));
        assert_eq!(reversed(&maps, "http://one:81/x"), Some("/x".to_owned()));
        assert_eq!(reversed(&maps, "http://two/"), None);
        assert_eq!(reversed(&maps, "ht"), None);
    }

    #[test]
    fn cookies_get_the_domain_and_path_of_this_server() {
        let pair = |there: &str, here: &str| vec![(there.to_owned(), here.to_owned())];
        let (domains, paths) = (pair("backend.example", "public.example"), pair("/app", "/"));
        let here = cookie("a=path=/app; Path=/app/x; Domain=backend.example; Secure", &domains, &paths);
        assert_eq!(here.as_deref(), Some("a=path=/app; Path=/; Domain=public.example; Secure"));
        assert_eq!(cookie("a=b; Path=/other", &domains, &paths), None);
    }
}
