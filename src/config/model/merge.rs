//! How settings are merged. Each is declared once, with its type and its rule: [`settings!`] makes the struct and the merge
//! of it. Where it may stand, how it is written and its default say the rows of the table.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Declares settings, `name: type, rule;` each. As text they are those that differ from their defaults.
///
/// - `place struct`: what a section says and what all of them come to have one shape. `then` ends the merge.
/// - `host struct`: likewise, of a virtual host, which inherits what it does not say from the main server.
/// - `said struct … merged struct …`: `name: type in a section => type for a request, rule;`, after what only one has.
macro_rules! settings {
    ($(#[$meta:meta])* place struct $Name:ident $(, then $then:path)? {
        $($(#[$doc:meta])* $vis:vis $name:ident: $type:ty, $rule:path;)*
    }) => {
        $(#[$meta])*
        pub struct $Name { $($(#[$doc])* $vis $name: $type,)* }
        settings! { debug $Name: $($name)* }

        impl $Name {
            /// Merges what an inner section says.
            pub fn merge(&mut self, inner: &$Name) {
                $($rule(&mut self.$name, &inner.$name);)*
                $($then(self, inner);)?
            }
        }
    };
    ($(#[$meta:meta])* host struct $Name:ident $(, then $then:path)? { $($fields:tt)* }) => {
        settings! { $(#[$meta])* place struct $Name $(, then $then)? { $($fields)* } }

        impl $Name {
            /// Takes what it does not say itself from `outer`.
            pub fn inherit(&mut self, outer: &$Name) {
                let own = std::mem::replace(self, outer.clone());
                self.merge(&own);
            }
        }
    };
    (
        $(#[$said_meta:meta])* said struct $Partial:ident { $($(#[$s_doc:meta])* $s_name:ident: $s_type:ty;)* }
        $(#[$meta:meta])* merged struct $Merged:ident { $($(#[$m_doc:meta])* $m_name:ident: $m_type:ty;)* }
        $($(#[$doc:meta])* $name:ident: $said:ty => $merged:ty, $rule:path;)*
    ) => {
        $(#[$said_meta])*
        pub struct $Partial { $($(#[$s_doc])* pub $s_name: $s_type,)* $($(#[$doc])* pub $name: $said,)* }
        settings! { debug $Partial: $($s_name)* $($name)* }

        $(#[$meta])*
        pub struct $Merged { $($(#[$m_doc])* pub $m_name: $m_type,)* $($(#[$doc])* pub $name: $merged,)* }
        settings! { debug $Merged: $($m_name)* $($name)* }

        impl $Merged {
            /// Merges what an inner section says.
            pub fn merge(&mut self, said: &$Partial) {
                $($rule(&mut self.$name, &said.$name);)*
            }
        }
    };
    (debug $Name:ident: $($name:ident)*) => {
        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (default, mut shown) = ($Name::default(), f.debug_struct(stringify!($Name)));
                $(if $crate::config::model::merge::differ(&self.$name, &default.$name) {
                    shown.field(stringify!($name), &self.$name);
                })*
                shown.finish()
            }
        }
    };
}
pub(in crate::config) use settings;

/// Whether two values look different.
pub fn differ(one: &dyn Debug, other: &dyn Debug) -> bool {
    format!("{one:?}") != format!("{other:?}")
}

/// What is said takes the place of what was; there is always a value.
pub fn replace<T: Clone>(outer: &mut T, inner: &Option<T>) {
    if let Some(inner) = inner {
        outer.clone_from(inner);
    }
}

/// What is said takes the place of what was; there may be none.
pub fn keep<T: Clone>(outer: &mut Option<T>, inner: &Option<T>) {
    if inner.is_some() {
        outer.clone_from(inner);
    }
}

/// A list that is said takes the place of what was.
pub fn unless_empty<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    if !inner.is_empty() {
        *outer = inner.to_vec();
    }
}

/// What is said comes behind what was.
pub fn append<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    outer.extend_from_slice(inner);
}

/// What is said comes before what was.
pub fn prepend<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    outer.splice(0..0, inner.iter().cloned());
}

/// What is said of a key takes the place of what was said of it.
pub fn by_key<K: Ord + Clone, V: Clone>(outer: &mut BTreeMap<K, V>, inner: &BTreeMap<K, V>) {
    outer.extend(inner.iter().map(|(key, value)| (key.clone(), value.clone())));
}

/// Merged by a function of its own.
pub fn apart<O, I>(_: &mut O, _: &I) {}
