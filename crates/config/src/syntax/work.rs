//! Limit of work that the rules of a place may do for one request: `SetEnvIf`, `Header`, expressions and rewriting
//! together. Work is counted in bytes read and written, which does not depend on the machine. Without a limit each rule
//! could double the output of another, and block the thread for its other clients.
//!
//! A caller that applies rules uses [`Allowance::count`], and checks [`Allowance::is_used_up`] before it uses the
//! result: rules that were not completed may have been access control.

use std::cell::{Cell, RefCell};

/// Maximum work for a request, in bytes.
const WORK: usize = 8 << 20;
/// Maximum memory for a request by one kind of rule, in bytes: its variables, the request headers, or the response
/// headers.
const STORED: usize = 512 << 10;
/// Maximum length of a value that rules produce, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 << 10;
/// Work for one rule, in bytes.
pub const RULE: usize = 100;
/// Work for one piece of a value, in bytes.
const PIECE: usize = 10;
/// Memory of a header or a variable in addition to its text, in bytes.
const ENTRY: usize = 64;

thread_local! {
    /// Remaining work for the current request of this thread; `None`: work is not counted.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// Message of the first rule of the current request that failed by itself.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Remaining work for one request.
#[derive(Debug)]
pub struct Allowance(Cell<usize>);

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance(Cell::new(WORK))
    }
}

impl Allowance {
    /// Runs `work` and counts it.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> T {
        if LEFT.get().is_some() {
            return work();
        }
        LEFT.set(Some(self.0.get()));
        FAILURE.take();
        let done = work();
        self.0.set(LEFT.take().unwrap_or_default());
        done
    }

    /// Whether the rules exceeded the limit.
    pub fn is_used_up(&self) -> bool {
        LEFT.get().unwrap_or(self.0.get()) == 0
    }

    /// The message for the error log about the work that this thread has counted last.
    pub fn message() -> String {
        failure().unwrap_or_else(Allowance::total)
    }

    /// The message about the limits, without a rule.
    pub fn total() -> String {
        format!(
            "the rules of this place exceed the limits for one request: {} MB of work, {} KB for a value, {} KB \
             for variables or headers; write fewer or simpler rules",
            WORK >> 20,
            MAX_VALUE_BYTES >> 10,
            STORED >> 10
        )
    }
}

/// Counts work. Returns `false` if the limit is exceeded, and further work is useless.
pub fn spend(bytes: usize) -> bool {
    let Some(left) = LEFT.get() else { return true };
    let left = left.saturating_sub(bytes);
    LEFT.set(Some(left));
    left > 0
}

/// Uses up all remaining work, because something is too large.
pub fn exceed() {
    spend(usize::MAX);
}

/// Uses up all remaining work, because a rule has no result. `message` is the line for the error log.
pub fn fail(message: impl FnOnce() -> String) {
    if LEFT.get().is_some() {
        FAILURE.with_borrow_mut(|failure| {
            failure.get_or_insert_with(message);
        });
        exceed();
    }
}

/// The message of the rule that has failed, if the last work of this thread ended so. Returned once.
pub fn failure() -> Option<String> {
    FAILURE.take()
}

/// Counts a value of this length. Returns `false` if it would be too long, or the limit is exceeded.
pub fn fits(length: usize) -> bool {
    if length > MAX_VALUE_BYTES {
        exceed();
        return false;
    }
    spend(length + PIECE)
}

/// Appends a piece to a value that rules produce. Returns `false` if the value would be too long, or the limit is
/// exceeded.
pub fn push(value: &mut String, piece: &str) -> bool {
    if value.len() + piece.len() > MAX_VALUE_BYTES {
        exceed();
        return false;
    }
    value.push_str(piece);
    spend(piece.len() + PIECE)
}

/// Remaining memory for one kind of rule in a request, in bytes.
#[derive(Debug)]
pub struct WorkStore(usize);

impl Default for WorkStore {
    fn default() -> WorkStore {
        WorkStore(STORED)
    }
}

impl WorkStore {
    /// Reserves memory for an entry. Returns `false` if the limit is exceeded.
    pub fn has_room(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes + ENTRY);
        match left {
            Some(left) => self.0 = left,
            None => exceed(),
        }
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_request_adds_up_to_the_limit() {
        let (one, other) = (Allowance::default(), Allowance::default());
        assert!(one.count(|| spend(WORK / 2)) && one.count(|| one.count(|| spend(WORK / 4))));
        assert!(!one.is_used_up());
        assert!(!one.count(|| spend(WORK / 2)) && one.is_used_up());
        assert!(!one.count(|| spend(1)) && !other.is_used_up());
        assert!(spend(usize::MAX), "outside of a request work is not counted");
    }

    #[test]
    fn a_value_that_is_too_long_uses_up_the_limit() {
        let allowance = Allowance::default();
        let mut value = String::new();
        assert!(allowance.count(|| push(&mut value, &"a".repeat(MAX_VALUE_BYTES))));
        assert!(!allowance.count(|| push(&mut value, "a")) && allowance.is_used_up());
        assert_eq!(value.len(), MAX_VALUE_BYTES);
    }

    #[test]
    fn a_rule_without_a_result_uses_up_the_limit_and_is_named() {
        let allowance = Allowance::default();
        fail(|| unreachable!("outside of a request there is no limit"));
        allowance.count(|| ["first", "second"].map(|name| fail(|| name.to_owned())));
        assert!(allowance.is_used_up());
        assert_eq!(Allowance::message(), "first");
        assert!(Allowance::message().contains("MB of work"));
    }

    #[test]
    fn stored_entries_are_limited() {
        let allowance = Allowance::default();
        let stored = allowance.count(|| {
            let mut store = WorkStore::default();
            (0..100_000).take_while(|_| store.has_room(1)).count()
        });
        assert_eq!(stored, STORED / (ENTRY + 1));
        assert!(allowance.is_used_up());
    }
}
