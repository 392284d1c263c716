//! `<Limit>` and `<LimitExcept>`: sets of methods.

use base::method::{INVALID, NUMBERED, number};

/// A set of methods. The bits are httpd 1.3's method numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Methods(u16);

/// A value that applies to some methods only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited<T> {
    /// Methods to which the value applies.
    pub methods: Methods,
    /// The value that applies to these methods.
    pub what: T,
}

/// Every method without a number.
const OTHER: u16 = 1 << INVALID;

impl Methods {
    /// Every method.
    pub const ALL: Methods = Methods(u16::MAX);
    /// The empty set, the start of unions.
    pub const NONE: Methods = Methods(0);

    /// The set of one method of a request. HEAD counts as GET.
    pub fn of(method: &str) -> Methods {
        Methods(1 << number(method.as_bytes()))
    }

    /// Whether the sets intersect.
    pub fn has(self, other: Methods) -> bool {
        self.0 & other.0 != 0
    }

    /// The `method_mask` of `$r->requires`: −1 for all methods, as in httpd.
    pub fn mask(self) -> i64 {
        if self == Methods::ALL { -1 } else { i64::from(self.0) }
    }

    /// Union.
    pub fn with(self, other: Methods) -> Methods {
        Methods(self.0 | other.0)
    }

    /// Difference.
    pub fn without(self, other: Methods) -> Methods {
        Methods(self.0 & !other.0)
    }

    /// Parses the arguments of `<Limit>`.
    pub fn listed(names: &[String]) -> Result<Methods, String> {
        names.iter().try_fold(Methods::NONE, |all, name| match Methods::of(name) {
            _ if name == "TRACE" => Err("TRACE cannot be limited; leave it out".to_owned()),
            Methods(OTHER) => Err(format!("expected methods like GET or POST, in capitals, got \"{name}\"")),
            one => Ok(all.with(one)),
        })
    }
}

impl std::fmt::Debug for Methods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = NUMBERED.split(' ').enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| name);
        match *self {
            Methods::ALL => f.write_str("*"),
            _ => f.write_str(&names.chain((self.0 & OTHER != 0).then_some("…")).collect::<Vec<_>>().join(",")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_counts_as_get_and_an_unknown_method_is_only_in_a_set_of_exceptions() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let reads = Methods::listed(&names(&["GET", "OPTIONS"])).unwrap();
        assert!(reads.has(Methods::of("HEAD")) && reads.has(Methods::of("OPTIONS")) && !reads.has(Methods::of("POST")));
        assert!(!reads.has(Methods::of("BREW")) && Methods::ALL.without(reads).has(Methods::of("BREW")));
        assert_eq!((reads.mask(), Methods::ALL.mask()), (0b10_0001, -1));
        assert!(Methods::listed(&names(&["get"])).is_err() && Methods::listed(&names(&["TRACE"])).is_err());
    }
}
