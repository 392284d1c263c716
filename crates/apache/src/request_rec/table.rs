/// `Apache::Table`: names and values in order, a name possibly more than once, its case ignored.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Table {
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.all(name).next()
    }

    pub fn all(&self, name: &[u8]) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..])
    }

    /// The entry at a position.
    pub fn entry(&self, at: usize) -> Option<(&[u8], &[u8])> {
        self.entries.get(at).map(|(name, value)| (&name[..], &value[..]))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(name, value)| (&name[..], &value[..]))
    }

    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.entries.push((name.to_vec(), value.to_vec()));
    }

    /// [`Table::add`] of strings that nobody else needs.
    pub fn push(&mut self, name: Vec<u8>, value: Vec<u8>) {
        self.entries.push((name, value));
    }

    /// Replaces the first entry of that name where it stands, and drops the others.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        let Some(at) = self.position(name) else { return self.add(name, value) };
        self.entries[at] = (name.to_vec(), value.to_vec());
        let mut index = 0;
        self.entries.retain(|(n, _)| {
            index += 1;
            index <= at + 1 || !n.eq_ignore_ascii_case(name)
        });
    }

    /// Appends to the first entry of that name: `old, new`.
    pub fn merge(&mut self, name: &[u8], value: &[u8]) {
        let Some(at) = self.position(name) else { return self.add(name, value) };
        let old = &mut self.entries[at].1;
        old.extend_from_slice(b", ");
        old.extend_from_slice(value);
    }

    pub fn unset(&mut self, name: &[u8]) {
        self.entries.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        self.entries.iter().position(|(n, _)| n.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Step = (&'static str, &'static str, &'static str);

    fn after(steps: &[Step]) -> String {
        let mut table = Table::default();
        for (verb, name, value) in steps {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            match *verb {
                "add" => table.add(name, value),
                "set" => table.set(name, value),
                "merge" => table.merge(name, value),
                "unset" => table.unset(name),
                _ => table.clear(),
            }
        }
        let shown: Vec<_> = table.iter().map(|(n, v)| format!("{}={}", n.escape_ascii(), v.escape_ascii())).collect();
        shown.join(" ")
    }

    #[test]
    fn names_keep_their_order_and_ignore_case() {
        let cases: [(&[Step], &str); 7] = [
            (&[("add", "A", "1"), ("add", "b", "2"), ("add", "a", "3")], "A=1 b=2 a=3"),
            (&[("add", "A", "1"), ("add", "b", "2"), ("add", "a", "3"), ("set", "a", "9")], "a=9 b=2"),
            (&[("set", "x", "1")], "x=1"),
            (&[("add", "A", "1"), ("merge", "a", "2")], "A=1, 2"),
            (&[("merge", "a", "2")], "a=2"),
            (&[("add", "A", "1"), ("add", "b", "2"), ("unset", "a", "")], "b=2"),
            (&[("add", "A", "1"), ("clear", "", "")], ""),
        ];
        for (steps, expected) in cases {
            assert_eq!(after(steps), expected, "{steps:?}");
        }
    }
}
