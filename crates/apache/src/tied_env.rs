//! Ties `%ENV` of mod_perl 2's `perl-script` handlers to `$r->subprocess_env`: changes to one appear in the
//! other (mod_perl's manual, Apache2::RequestRec, `subprocess_env`).

use libperl::EnvChanges;

use crate::request_rec::RequestRec;
use crate::request_rec::environment::{Api, api};
use crate::request_rec::table::Table;
use crate::request_rec::tables::Id;
use crate::request_stack::with;

/// Ties `%ENV` if the handler that is about to run needs a tied one.
pub fn tie(request: u64) {
    let ties =
        |r: &RequestRec| api() == Api::Two && r.place.setup_env && r.place.handler.as_deref() == Some("perl-script");
    if with(request, |r| ties(r)).unwrap_or(false) {
        libperl::env_tie();
    }
}

/// Copies `%ENV` into the table when the handler has returned: logs and internal requests use the table.
pub fn keep(request: u64) {
    bring(request, Id::SubprocessEnv as u32);
}

fn is_tied(request: u64, table: u32) -> bool {
    api() == Api::Two && table == Id::SubprocessEnv as u32 && crate::record_number() == request
}

/// Applies changes of `%ENV` to the table.
pub fn bring(request: u64, table: u32) {
    if !is_tied(request, table) {
        return;
    }
    let EnvChanges { is_whole, pairs } = libperl::env_changes();
    if !is_whole && pairs.is_empty() {
        return;
    }
    let _ = with(request, |r| {
        let Some(table) = r.table_mut(table) else { return };
        if is_whole {
            *table = Table::default();
        }
        for (name, value) in pairs {
            match value {
                Some(value) => table.set(&name, &value),
                None => table.unset(&name),
            }
        }
    });
}

/// Removes the table's names from `%ENV`, before the table is cleared.
pub fn clear(request: u64, table: u32) {
    if is_tied(request, table) {
        let names = |r: &mut RequestRec| Some(r.table(table)?.iter().map(|(name, _)| name.to_vec()).collect());
        let names: Vec<Vec<u8>> = with(request, names).ok().flatten().unwrap_or_default();
        names.iter().for_each(|name| libperl::env_follow(name, None));
    }
}

/// Applies a change of the table to `%ENV`.
pub fn show(request: u64, table: u32, name: &[u8]) {
    if is_tied(request, table) {
        let value = with(request, |r| r.table_value(table, name).map(<[u8]>::to_vec)).ok().flatten();
        libperl::env_follow(name, value.as_deref());
    }
}
