//! Tables of a request: `headers_in`, `notes` and the others.

use std::ffi::c_int;

use super::{ApacheText, Out, STALE, UNKNOWN_VERB, XsText, give, status};
use crate::request_rec::table::Table;
use crate::request_stack::with;
use crate::tied_env;

#[unsafe(no_mangle)]
extern "C" fn apache_table_new(r: u64, table: Out<'_, u32>) -> c_int {
    give(table, with(r, |r| r.tables.new_table()))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_get(r: u64, table: u32, name: XsText<'_>, value: Out<'_, ApacheText>) -> c_int {
    tied_env::bring(r, table);
    give(value, with(r, |r| ApacheText::of_option(r.table_value(table, name.bytes()))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_entry(
    r: u64,
    table: u32,
    at: usize,
    name: Out<'_, ApacheText>,
    value: Out<'_, ApacheText>,
) -> c_int {
    tied_env::bring(r, table);
    let entry = with(r, |r| match r.table(table).and_then(|table| table.entry(at)) {
        Some((name, value)) => (ApacheText::of(name), ApacheText::of(value)),
        None => (ApacheText::UNDEF, ApacheText::UNDEF),
    });
    entry.map_or(STALE, |(n, v)| give(name, Ok(n)) | give(value, Ok(v)))
}

#[unsafe(no_mangle)]
extern "C" fn apache_table_change(r: u64, table: u32, verb: u32, name: XsText<'_>, value: XsText<'_>) -> c_int {
    let Some(verb) = Verb::from_number(verb) else { return UNKNOWN_VERB };
    let (name, value) = (name.bytes(), value.bytes());
    tied_env::bring(r, table);
    if verb == Verb::Clear {
        tied_env::clear(r, table);
    }
    let changed = status(with(r, |r| r.table_mut(table).map(|table| change(table, verb, name, value))));
    tied_env::show(r, table, name);
    changed
}

/// `APACHE_TABLE_…` of `apache.h`, in the same order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Set,
    Add,
    Merge,
    Unset,
    Clear,
}

impl Verb {
    fn from_number(number: u32) -> Option<Verb> {
        [Verb::Set, Verb::Add, Verb::Merge, Verb::Unset, Verb::Clear].get(number as usize).copied()
    }
}

fn change(table: &mut Table, verb: Verb, name: &[u8], value: &[u8]) {
    match verb {
        Verb::Set => table.set(name, value),
        Verb::Add => table.add(name, value),
        Verb::Merge => table.merge(name, value),
        Verb::Unset => table.unset(name),
        Verb::Clear => table.clear(),
    }
}
