//! Request headers that the server has changed. As in httpd, addresses added by trusted proxies are removed from lists
//! before rules, programs and logs read the header.

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// Names and new values. `None`: the header was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedHeaders(Vec<(HeaderName, Option<HeaderValue>)>);

impl ChangedHeaders {
    /// Creates a set of changes; a value of `None` removes the header.
    pub fn new(changes: impl IntoIterator<Item = (HeaderName, Option<HeaderValue>)>) -> ChangedHeaders {
        ChangedHeaders(changes.into_iter().collect())
    }

    /// The changes that make `after` of `before`. Several fields of a changed header become one.
    pub fn between(before: &HeaderMap, after: &HeaderMap) -> ChangedHeaders {
        let names = after.keys().chain(before.keys().filter(|name| !after.contains_key(*name)));
        let changed = names.filter(|name| !before.get_all(*name).iter().eq(after.get_all(*name)));
        ChangedHeaders::new(changed.map(|name| (name.clone(), joined(after, name))))
    }

    /// These changes and another one.
    pub fn and(mut self, change: (HeaderName, Option<HeaderValue>)) -> ChangedHeaders {
        self.0.retain(|(name, _)| *name != change.0);
        self.0.push(change);
        self
    }

    fn change(&self, name: &str) -> Option<&(HeaderName, Option<HeaderValue>)> {
        self.0.iter().find(|(changed, _)| changed.as_str().eq_ignore_ascii_case(name))
    }

    /// Values of a header after the changes; `sent` are the client's headers.
    pub fn values<'a>(&'a self, sent: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a HeaderValue> {
        let change = self.change(name);
        let as_sent = change.is_none().then(|| sent.get_all(name).iter());
        change.and_then(|(_, value)| value.as_ref()).into_iter().chain(as_sent.into_iter().flatten())
    }

    pub fn all<'a>(&'a self, sent: &'a HeaderMap) -> impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)> {
        let as_sent = sent.iter().filter(|(name, _)| self.change(name.as_str()).is_none());
        as_sent.chain(self.0.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))))
    }

    /// Applies the changes to `headers`.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.0 {
            match value {
                Some(value) => drop(headers.insert(name, value.clone())),
                None => drop(headers.remove(name)),
            }
        }
    }
}

fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let values: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    if values.is_empty() { None } else { HeaderValue::from_bytes(&values.join(&b", "[..])).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_between_two_heads_make_one_of_the_other() {
        let header = |name: &str, value: &str| (name.parse().expect("a name"), value.parse().expect("a value"));
        let before: HeaderMap = [header("a", "1"), header("b", "2"), header("c", "3")].into_iter().collect();
        let after: HeaderMap = [header("a", "1"), header("c", "4"), header("d", "5")].into_iter().collect();
        let mut made = before.clone();
        ChangedHeaders::between(&before, &after).apply(&mut made);
        assert_eq!(made, after);
    }

    #[test]
    fn every_reader_finds_the_same_headers() {
        let header = |name: &str, value: &str| (name.parse().expect("a name"), value.parse().expect("a value"));
        let mut sent: HeaderMap = [header("a", "1"), header("b", "2"), header("c", "3")].into_iter().collect();
        sent.append("a", "4".parse().expect("a value"));
        let new = |name: &str, value: Option<&str>| {
            (name.parse().expect("a name"), value.map(|value| value.parse().expect("a value")))
        };
        let changed = ChangedHeaders::new([new("a", Some("5")), new("b", None), new("d", Some("6"))]);
        let values =
            |name: &str| changed.values(&sent, name).map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>();
        for (name, value) in [("A", "5"), ("c", "3"), ("d", "6")] {
            assert_eq!(values(name), [value.as_bytes()], "{name}");
        }
        assert!(values("b").is_empty() && values("e").is_empty());
        let mut applied = sent.clone();
        changed.apply(&mut applied);
        let mut all: Vec<_> = changed.all(&sent).collect();
        let mut expected: Vec<_> = applied.iter().collect();
        all.sort_by_key(|(name, _)| name.as_str());
        expected.sort_by_key(|(name, _)| name.as_str());
        assert_eq!(all, expected);
    }
}
