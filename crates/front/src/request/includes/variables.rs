//! Variables of a page: those of the request, those of includes, and those that `set` makes. Names have no case, as in
//! httpd.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use config::response::variables::Variables;

/// Maximum memory for the variables of a page and the documents that it includes, in bytes.
pub const MAX_MEMORY: usize = 512 << 10;
/// Memory of a variable in addition to its name and value, in bytes.
const ENTRY: usize = 64;

/// Variables of a page and the documents that it includes.
#[derive(Default)]
pub struct PageVariables {
    known: BTreeMap<Vec<u8>, PageVariable>,
    memory: usize,
    /// The variables for programs, until one changes.
    of_program: OnceCell<Variables>,
}

struct PageVariable {
    name: Vec<u8>,
    value: PageValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageValue {
    /// Bytes as the request or `<!--#set` has them, unescaped.
    Text(Vec<u8>),
    /// `DATE_LOCAL`, formatted when it is first used.
    DateLocal,
    /// `DATE_GMT`, formatted when it is first used.
    DateGmt,
    /// `LAST_MODIFIED`, formatted when it is first used.
    LastModified,
    /// `USER_NAME`, looked up when it is first used.
    UserName,
}

/// The variables need more than [`MAX_MEMORY`].
#[derive(Debug, Clone, Copy)]
pub struct TooMany;

impl PageVariables {
    pub fn get(&self, name: &[u8]) -> Option<&PageValue> {
        self.known.get(&*key(name)).map(|variable| &variable.value)
    }

    pub fn set(&mut self, name: &[u8], value: PageValue) -> Result<(), TooMany> {
        let key = key(name);
        let freed = self.known.get(&*key).map_or(0, PageVariable::memory);
        let variable = PageVariable { name: name.to_vec(), value };
        let memory = self.memory - freed + variable.memory();
        if memory > MAX_MEMORY {
            return Err(TooMany);
        }
        self.memory = memory;
        self.known.insert(key.into_owned(), variable);
        self.of_program.take();
        Ok(())
    }

    /// Memory of all variables, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &PageValue)> {
        self.known.values().map(|variable| (variable.name.as_slice(), &variable.value))
    }

    /// The variables for a program. As in httpd, those that no element has computed are empty.
    pub fn of_program(&self) -> Variables {
        let compute = || {
            let mut variables = Variables::default();
            for (name, value) in self.iter() {
                let text = if let PageValue::Text(text) = value { text.as_slice() } else { b"" };
                variables.set(&String::from_utf8_lossy(name), Some(String::from_utf8_lossy(text).into_owned()));
            }
            variables
        };
        self.of_program.get_or_init(compute).clone()
    }
}

impl PageVariable {
    fn memory(&self) -> usize {
        let text = if let PageValue::Text(text) = &self.value { text.len() } else { 0 };
        ENTRY + 2 * self.name.len() + text
    }
}

fn key(name: &[u8]) -> Cow<'_, [u8]> {
    match name.iter().any(u8::is_ascii_lowercase) {
        true => Cow::Owned(name.to_ascii_uppercase()),
        false => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_room_for_a_bounded_number_of_variables() {
        let mut variables = PageVariables::default();
        let set = |variables: &mut PageVariables, name: &str, length: usize| {
            variables.set(name.as_bytes(), PageValue::Text(vec![b'x'; length])).is_ok()
        };
        assert!(set(&mut variables, "same", 400 << 10) && set(&mut variables, "SAME", 500 << 10));
        assert!(!set(&mut variables, "other", 64 << 10));
        assert!(set(&mut variables, "same", 1));
        let made = (0..1_000_000).take_while(|number| set(&mut variables, &number.to_string(), 0)).count();
        assert!((1_000..10_000).contains(&made), "{made}");
        assert!(variables.memory() <= MAX_MEMORY);
    }
}
