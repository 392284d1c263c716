//! Where the values of a map lead.

/// The request for a map.
#[derive(Debug, Clone, Copy)]
pub struct MapPlace<'a> {
    /// The path of the map, encoded as in a URL.
    pub path: &'a str,
    /// Scheme, host and port of the server.
    pub origin: &'a str,
    /// The page with the image.
    pub referer: Option<&'a str>,
    /// `ImapBase`
    pub base: &'a str,
}

impl MapPlace<'_> {
    /// The URL that values are relative to, unless the map has another one.
    pub fn base(&self) -> Result<String, String> {
        self.url(self.base, None)
    }

    /// The URL of a value. The words `nocontent` and `error` stay.
    pub fn url(&self, value: &str, base: Option<&str>) -> Result<String, String> {
        let value = match value.to_ascii_lowercase().as_str() {
            "map" | "menu" => return Ok(format!("{}{}", self.origin, self.path)),
            "nocontent" | "error" => return Ok(value.to_owned()),
            "referer" => match self.referer {
                Some(referer) if !referer.is_empty() => return Ok(referer.to_owned()),
                _ => "",
            },
            _ => value,
        };
        if value.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with(':') {
            return Ok(value.to_owned());
        }
        match base {
            Some(base) if !base.is_empty() => combined(base, value),
            _ if value.is_empty() => Ok(format!("{}/", self.origin)),
            _ => Ok(value.to_owned()),
        }
    }
}

/// A value behind the folder of a URL, or behind its host. `..` leaves a folder, and never the host.
fn combined(base: &str, value: &str) -> Result<String, String> {
    let host_from = base.find("//").map_or(0, |at| at + 2);
    let path_from = base.get(host_from..).and_then(|rest| rest.find('/')).map(|at| host_from + at);
    let (host, path) = match path_from {
        Some(at) => base.split_at(at),
        None => (base, ""),
    };
    if value.starts_with('/') {
        return Ok(format!("{host}{value}"));
    }
    let mut folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut rest = value;
    while rest == ".." || rest.starts_with("../") {
        rest = rest.get(3..).unwrap_or_default();
        folder = match folder.rsplit_once('/') {
            Some((outer, _)) => outer,
            None => return Err(format!("\"{value}\" leads above the folders of {base}")),
        };
    }
    Ok(format!("{host}{folder}/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_relative_to_the_base() {
        for (base, value, expected) in [
            ("http://x/a/b.map", "c", Some("http://x/a/c")),
            ("http://x/a/b.map", "/c", Some("http://x/c")),
            ("http://x/a/b/", "../c", Some("http://x/a/c")),
            ("http://x/a/b/", "..", Some("http://x/a/")),
            ("http://x/a/b/", "../../c", Some("http://x/c")),
            ("http://x/a/", "../../c", None),
            ("http://x", "c", Some("http://x/c")),
        ] {
            assert_eq!(combined(base, value).ok().as_deref(), expected, "{base} {value}");
        }
    }
}
