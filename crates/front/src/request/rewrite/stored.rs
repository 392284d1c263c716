//! Results of rules that depend on nothing but path and query. They are stored with the route, so that the rules of a
//! place run once for a path, and not for each request.

use std::cell::RefCell;

use crate::routing::{Route, StoredRewrite};
use config::response::rewrite::{Rewrite, Rewritten, RuleInput};

/// Maximum length of a stored input, in bytes: clients choose it, and each route has one.
const MAX_BYTES: usize = 1024;

/// The stored result for this input.
pub fn recall(route: &Route, rules: &Rewrite, start: &RuleInput) -> Option<Rewritten> {
    let stored = slot(route, rules).borrow();
    stored.as_ref().filter(|stored| stored.start == *start).map(|stored| stored.made.clone())
}

/// The stored result for a file name whose end in the path is not known, if it does not matter.
pub fn recall_undivided(route: &Route, rules: &Rewrite, whole: &RuleInput) -> Option<Rewritten> {
    let is_whole = |path: &str, info: &str| whole.path.strip_prefix(path).is_some_and(|rest| rest == info);
    let is_of = |start: &RuleInput| {
        is_whole(&start.path, &start.path_info)
            && start.query == whole.query
            && start.is_subrequest == whole.is_subrequest
    };
    let stored = slot(route, rules).borrow();
    stored.as_ref().filter(|stored| !stored.made.divided && is_of(&stored.start)).map(|stored| stored.made.clone())
}

/// Stores a result in place of the last one, unless another request with this input may have another result.
pub fn store(route: &Route, rules: &Rewrite, start: RuleInput, made: &Rewritten) {
    let length = start.path.len() + start.path_info.len() + start.query.as_ref().map_or(0, String::len);
    if !made.varies && made.trace.is_empty() && length <= MAX_BYTES {
        slot(route, rules).replace(Some(StoredRewrite { start, made: made.clone() }));
    }
}

/// A route is subject to the rules of one host and of one folder.
fn slot<'a>(route: &'a Route, rules: &Rewrite) -> &'a RefCell<Option<StoredRewrite>> {
    if rules.folder.is_some() { &route.memo.rewritten_in_folder } else { &route.memo.rewritten_by_host }
}
