//! `Apache::Table`: an ordered list of names and values.

use super::table_index::Index;

/// `Apache::Table`: names and values in order, a name possibly more than once, its case ignored.
#[derive(Debug, Default, Clone)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// Only long tables have an index: comparing a few entries is faster.
    index: Option<Index>,
}

#[derive(Debug, Clone)]
struct Entry {
    /// Grows from entry to entry; unlike a position, it never changes when others are removed.
    id: u64,
    name: Vec<u8>,
    value: Vec<u8>,
}

/// A table with more entries has an index.
const LONG: usize = 128;

impl Table {
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.position(name).map(|at| &self.entries[at].value[..])
    }

    /// The entry at a position.
    pub fn entry(&self, at: usize) -> Option<(&[u8], &[u8])> {
        self.entries.get(at).map(Entry::pair)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(Entry::pair)
    }

    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.push(name.to_vec(), value.to_vec());
    }

    /// [`Table::add`] for owned strings.
    pub fn push(&mut self, name: Vec<u8>, value: Vec<u8>) {
        let id = self.entries.last().map_or(0, |last| last.id + 1);
        if let Some(index) = &mut self.index {
            index.add(&name, id);
        }
        self.entries.push(Entry { id, name, value });
        if self.index.is_none() && self.entries.len() > LONG {
            self.index = Some(Index::of(self.entries.iter().map(|entry| (&entry.name[..], entry.id))));
        }
    }

    /// Replaces the first entry with that name, and drops the others.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        let Some(at) = self.position(name) else { return self.add(name, value) };
        let first = &mut self.entries[at];
        (first.name, first.value) = (name.to_vec(), value.to_vec());
        if self.index.as_mut().is_none_or(|index| index.leave_first(name)) {
            self.remove(name, at + 1);
        }
    }

    /// Appends to the first entry of that name: `old, new`.
    pub fn merge(&mut self, name: &[u8], value: &[u8]) {
        let Some(at) = self.position(name) else { return self.add(name, value) };
        let old = &mut self.entries[at].value;
        old.extend_from_slice(b", ");
        old.extend_from_slice(value);
    }

    pub fn unset(&mut self, name: &[u8]) {
        let Some(at) = self.position(name) else { return };
        self.entries.remove(at);
        if self.index.as_mut().is_none_or(|index| index.remove(name)) {
            self.remove(name, at);
        }
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.index = None;
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        match &self.index {
            Some(index) => self.entries.binary_search_by_key(&index.first(name)?, |entry| entry.id).ok(),
            None => self.entries.iter().position(|entry| entry.is(name)),
        }
    }

    /// Removes the entries of that name from position `from` on.
    fn remove(&mut self, name: &[u8], from: usize) {
        self.entries.extract_if(from.., |entry| entry.is(name)).for_each(drop);
    }
}

impl Entry {
    fn pair(&self) -> (&[u8], &[u8]) {
        (&self.name, &self.value)
    }

    fn is(&self, name: &[u8]) -> bool {
        self.name.eq_ignore_ascii_case(name)
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
    fn names_ignore_case_and_fields_stay_in_order() {
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

    /// A table without an index, with the same content, is the reference.
    #[test]
    fn an_index_changes_nothing_but_the_time() {
        let (mut long, mut plain) = (Table::default(), Table::default());
        let mut dice = 7_u32;
        for step in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let name = format!("{}{}", ["n", "N"][dice as usize >> 9 & 1], dice >> 12 & 255).into_bytes();
            let value = step.to_string().into_bytes();
            for table in [&mut long, &mut plain] {
                match dice >> 29 {
                    0..3 => table.add(&name, &value),
                    3..5 => table.set(&name, &value),
                    5 => table.merge(&name, &value),
                    _ => table.unset(&name),
                }
            }
            plain.index = None;
            assert_eq!(long.get(&name), plain.get(&name), "step {step}");
            assert!(long.iter().eq(plain.iter()), "step {step}");
        }
        assert!(long.index.is_some());
    }
}
