//! Finds where Perl's values lie in memory, and by which names a programmer knows them.
//!
//! A value belongs to the variable or sub that names it; an unnamed value to the nearest named one that leads
//! to it, or else to its class.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_void};

use libperl_sys as sys;

use crate::Interpreter;

/// A range of memory that belongs to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueSpan {
    /// Start address.
    pub start: usize,
    /// Length in bytes.
    pub length: usize,
    /// Index of the owner in [`Owned::names`].
    pub owner: u32,
    /// Whether the range is the head of a value: a pointer to the body, 4 bytes each of references and flags,
    /// and the contents.
    pub is_head: bool,
}

/// Ranges of memory and their owners.
#[derive(Debug, Default)]
pub struct Owned {
    /// Owners as a programmer writes them: `My::Cache %CACHE`, `My::Page sub handler`, `My::Page::handler my
    /// $text`.
    pub names: Vec<String>,
    /// Sorted by address; ranges do not overlap.
    pub spans: Vec<ValueSpan>,
}

type Value = *const c_void;

impl Interpreter {
    /// Finds the owners of the ranges for which `wanted(address, length)` is true. Perl's memory is not written to.
    pub fn owned(&self, wanted: &dyn Fn(usize, usize) -> bool) -> Owned {
        let owned = Owned::default();
        let mut walk = Walk { owned, owners: HashMap::new(), to_do: VecDeque::new(), owner: 0, wanted };
        let values = values();
        walk.begin_with(names(&values));
        walk.follow();
        walk.leftovers(&values);
        walk.owner = walk.new_owner("(Perl's stacks)".to_owned());
        // SAFETY: no Perl code runs now; the hooks are used only during the call.
        unsafe { sys::cml_spans_of_stacks(&walk.hooks()) }
        set_apart(&mut walk.owned.spans);
        walk.owned
    }
}

struct Named {
    value: Value,
    name: String,
    rank: Rank,
}

/// Precedence among names of one value: variables before code, which may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Variable,
    Lexical,
    Outer,
    Code,
    Also,
    Table,
}

/// All values of the interpreter.
fn values() -> Vec<Value> {
    extern "C" fn tell(to: *mut c_void, value: Value) {
        // SAFETY: `values` lends it for the call.
        unsafe { &mut *to.cast::<Vec<Value>>() }.push(value);
    }
    let mut values: Vec<Value> = Vec::new();
    // SAFETY: no Perl code runs now; `values` is used only during the call.
    unsafe { sys::cml_each_value(tell, (&raw mut values).cast()) }
    values
}

#[derive(Default)]
struct Naming {
    package: String,
    /// Name of the sub with its package.
    sub: Option<String>,
    named: Vec<Named>,
}

fn names(values: &[Value]) -> Vec<Named> {
    let mut naming = Naming::default();
    let hooks = sys::Names { to: (&raw mut naming).cast(), within, name };
    for value in values {
        // SAFETY: `cml_each_value` passed the value and no Perl code ran since; the hooks are used only during the
        // call.
        unsafe { sys::cml_names_by(*value, &hooks) }
    }
    naming.named
}

extern "C" fn within(to: *mut c_void, package: *const c_char, length: usize, sub: *const c_char, sub_length: usize) {
    // SAFETY: `names` lends it for the call.
    let naming = unsafe { &mut *to.cast::<Naming>() };
    naming.package = text(package, length);
    naming.sub = (!sub.is_null()).then(|| format!("{}::{}", naming.package, text(sub, sub_length)));
}

extern "C" fn name(to: *mut c_void, value: Value, sigil: c_char, kind: sys::Naming, name: sys::Bytes) {
    // SAFETY: `names` lends it for the call.
    let naming = unsafe { &mut *to.cast::<Naming>() };
    let (package, name) = (&naming.package, text(name.bytes, name.length));
    let sigil = char::from(sigil as u8);
    let (rank, name) = match (kind, sigil) {
        (_, ':') => (Rank::Table, format!("{name} (symbol table)")),
        (_, '*') => (Rank::Table, format!("{package} (symbol table)")),
        (OWN, '&') => (Rank::Code, format!("{package} sub {name}")),
        (_, '&') => (Rank::Also, format!("{package} sub in {name}")),
        (OWN, _) => (Rank::Variable, format!("{package} {sigil}{name}")),
        (LEXICAL, _) => (Rank::Lexical, format!("{} my {sigil}{name}", naming.sub.as_ref().unwrap_or(package))),
        (OUTER, _) => (Rank::Outer, format!("{package} my {sigil}{name}")),
        _ => (Rank::Also, format!("{package} {sigil}{name}")),
    };
    naming.named.push(Named { value, name, rank });
}

const OWN: sys::Naming = 0;
const LEXICAL: sys::Naming = 1;
const OUTER: sys::Naming = 2;

fn text(bytes: *const c_char, length: usize) -> String {
    // SAFETY: the shim passes that many bytes, valid during the call.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }).into_owned()
}

/// A breadth-first walk from value to value.
struct Walk<'a> {
    owned: Owned,
    owners: HashMap<Value, u32>,
    /// Values that were found but not visited. Breadth first, so that a value gets the nearest of several
    /// owners.
    to_do: VecDeque<(Value, u32)>,
    /// The owner of the value that is being visited.
    owner: u32,
    wanted: &'a dyn Fn(usize, usize) -> bool,
}

impl Walk<'_> {
    fn new_owner(&mut self, name: String) -> u32 {
        self.owned.names.push(name);
        (self.owned.names.len() - 1) as u32
    }

    /// Starts with the named values. Several values may share a name, such as a symbol table and its globs.
    fn begin_with(&mut self, mut named: Vec<Named>) {
        named.sort_by_key(|named| named.rank);
        let mut owners: HashMap<String, u32> = HashMap::new();
        for Named { value, name, .. } in named {
            let known = owners.get(&name).copied();
            let owner = known.unwrap_or_else(|| self.new_owner(name.clone()));
            owners.insert(name, owner);
            self.take(value, owner);
        }
    }

    /// Assigns a value to an owner, unless it has one.
    fn take(&mut self, value: Value, owner: u32) {
        if let Entry::Vacant(entry) = self.owners.entry(value) {
            entry.insert(owner);
            self.to_do.push_back((value, owner));
        }
    }

    /// Visits values until no new one is found.
    fn follow(&mut self) {
        while let Some((value, owner)) = self.to_do.pop_front() {
            self.owner = owner;
            let first = self.owned.spans.len();
            // SAFETY: the value lives, since no Perl code runs now; the hooks are used only during the call.
            unsafe { sys::cml_spans_of(value, &self.hooks()) }
            if let Some(head) = self.owned.spans.get_mut(first).filter(|span| span.start == value as usize) {
                head.is_head = true;
            }
        }
    }

    /// Assigns values that no name leads to.
    fn leftovers(&mut self, values: &[Value]) {
        let mut kinds: HashMap<String, u32> = HashMap::new();
        for value in values {
            if self.owners.contains_key(value) {
                continue;
            }
            let kind = kind_of(*value);
            let known = kinds.get(&kind).copied();
            let owner = known.unwrap_or_else(|| self.new_owner(format!("(no variable) {kind}")));
            kinds.insert(kind, owner);
            self.take(*value, owner);
            self.follow();
        }
    }

    fn hooks(&mut self) -> sys::Spans {
        sys::Spans { to: std::ptr::from_mut(self).cast(), span, child }
    }
}

extern "C" fn span(to: *mut c_void, start: *const c_void, length: usize) {
    // SAFETY: `Walk::hooks` lends it for the call.
    let walk = unsafe { &mut *to.cast::<Walk<'_>>() };
    let start = start as usize;
    if (walk.wanted)(start, length) {
        walk.owned.spans.push(ValueSpan { start, length, owner: walk.owner, is_head: false });
    }
}

extern "C" fn child(to: *mut c_void, value: Value) {
    // SAFETY: as for `span`.
    let walk = unsafe { &mut *to.cast::<Walk<'_>>() };
    walk.take(value, walk.owner);
}

/// Sorts the ranges, and ends each where the next begins: closures share operators, and some lengths are
/// estimates.
fn set_apart(spans: &mut Vec<ValueSpan>) {
    spans.sort_by_key(|span| span.start);
    spans.dedup_by_key(|span| span.start);
    let mut next = usize::MAX;
    for span in spans.iter_mut().rev() {
        span.length = span.length.min(next - span.start);
        next = span.start;
    }
}

fn kind_of(value: Value) -> String {
    extern "C" fn tell(to: *mut c_void, name: *const c_char, length: usize) {
        // SAFETY: `kind_of` lends it for the call.
        *unsafe { &mut *to.cast::<String>() } = text(name, length);
    }
    let mut kind = String::new();
    // SAFETY: the value lives, since no Perl code runs now; `kind` is used only during the call.
    unsafe { sys::cml_kind_of(value, tell, (&raw mut kind).cast()) }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_ranges_are_cut() {
        let span = |start, length, owner| ValueSpan { start, length, owner, is_head: false };
        let mut spans = vec![span(500, usize::MAX - 500, 3), span(100, 50, 1), span(100, 10, 2), span(120, 10, 4)];
        set_apart(&mut spans);
        assert_eq!(spans, [span(100, 20, 1), span(120, 10, 4), span(500, usize::MAX - 500, 3)]);
    }
}
