//! How much the rules of a place may do for one request: `SetEnvIf`, `Header`, expressions and rewriting together. It is counted in
//! bytes that they look at and write, which are the same on every machine. One rule could double what another has made, and
//! the thread that applies them has all other clients.
//!
//! Whoever applies rules calls [`Allowance::count`] and asks [`Allowance::is_used_up`] before the outcome is used: rules that were not
//! followed to their end may have been to keep somebody out.

use std::cell::Cell;

/// What rules may look at and write for a request, in bytes.
const WORK: usize = 8 << 20;
/// What may be stored for a request by one kind of rule, in bytes: its variables, the headers that programs see, those of the answer.
const STORED: usize = 512 << 10;
/// A value that rules make is no longer, in bytes.
const LONGEST: usize = 64 << 10;
/// What a rule counts for, in bytes.
pub const RULE: usize = 100;
/// What a piece of a value counts for, in bytes.
const PIECE: usize = 10;
/// What a header or a variable takes beside its bytes.
const ENTRY: usize = 64;

thread_local! {
    /// What is left for the request whose rules this thread applies; `None`: nobody counts.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What is left for one request.
#[derive(Debug)]
pub struct Allowance(Cell<usize>);

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance(Cell::new(WORK))
    }
}

impl Allowance {
    /// Does `work`, which counts.
    pub fn count<T>(&self, work: impl FnOnce() -> T) -> T {
        if LEFT.get().is_some() {
            return work();
        }
        LEFT.set(Some(self.0.get()));
        let done = work();
        self.0.set(LEFT.take().unwrap_or_default());
        done
    }

    /// Whether the rules wanted more than they may.
    pub fn is_used_up(&self) -> bool {
        LEFT.get().unwrap_or(self.0.get()) == 0
    }

    /// What is wrong then, for the log.
    pub fn complaint() -> String {
        format!(
            "the rules of this place want too much for one request: more than {} MB of work, values longer than {} KB, or more than {} KB \
             of variables or of headers; write fewer or simpler ones",
            WORK >> 20,
            LONGEST >> 10,
            STORED >> 10
        )
    }
}

/// Takes so many bytes; `false`: there are not so many left, and all that follows is in vain.
pub fn spend(bytes: usize) -> bool {
    let Some(left) = LEFT.get() else { return true };
    let left = left.saturating_sub(bytes);
    LEFT.set(Some(left));
    left > 0
}

/// Something is too large: nothing is left.
pub fn exceed() {
    spend(usize::MAX);
}

/// Adds a piece to a value that rules make; `false`: the value would be too long, or nothing is left.
pub fn push(value: &mut String, piece: &str) -> bool {
    if value.len() + piece.len() > LONGEST {
        exceed();
        return false;
    }
    value.push_str(piece);
    spend(piece.len() + PIECE)
}

/// What one kind of rule may store for a request.
#[derive(Debug)]
pub struct Store(usize);

impl Default for Store {
    fn default() -> Store {
        Store(STORED)
    }
}

impl Store {
    /// Takes the room of an entry; `false`: there is no more.
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
    fn all_work_of_a_request_counts_together_until_it_is_used_up() {
        let (one, other) = (Allowance::default(), Allowance::default());
        assert!(one.count(|| spend(WORK / 2)) && one.count(|| one.count(|| spend(WORK / 4))));
        assert!(!one.is_used_up());
        assert!(!one.count(|| spend(WORK / 2)) && one.is_used_up());
        assert!(!one.count(|| spend(1)) && !other.is_used_up());
        assert!(spend(usize::MAX), "nobody counts");
    }

    #[test]
    fn a_value_that_is_too_long_uses_up_all() {
        let allowance = Allowance::default();
        let mut value = String::new();
        assert!(allowance.count(|| push(&mut value, &"a".repeat(LONGEST))));
        assert!(!allowance.count(|| push(&mut value, "a")) && allowance.is_used_up());
        assert_eq!(value.len(), LONGEST);
    }

    #[test]
    fn what_is_stored_has_a_limit() {
        let allowance = Allowance::default();
        let stored = allowance.count(|| {
            let mut store = Store::default();
            (0..100_000).take_while(|_| store.has_room(1)).count()
        });
        assert_eq!(stored, STORED / (ENTRY + 1));
        assert!(allowance.is_used_up());
    }
}
