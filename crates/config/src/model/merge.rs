//! Merging of settings. Each setting is declared once, with its type and its merge rule: [`settings!`] generates the
//! struct and its merge. The rows of the table define its contexts, syntax and default.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Declares settings as `name: type, rule;`. The `Debug` output lists only settings that differ from their defaults.
///
/// - `place struct`: settings of one section and merged settings have the same type. `then` ends the merge.
/// - `host struct`: settings of a virtual host, which inherits missing values from the main server.
/// - `section struct … merged struct …`: `name: type in a section => merged type, rule;`, after fields of only one of
///   them.
macro_rules! settings {
    ($(#[$meta:meta])* place struct $Name:ident $(, then $then:path)? {
        $($(#[$doc:meta])* $vis:vis $name:ident: $type:ty, $rule:path;)*
    }) => {
        $(#[$meta])*
        pub struct $Name { $($(#[$doc])* $vis $name: $type,)* }
        settings! { debug $Name: $($name)* }

        impl $Name {
            /// Merges the settings of an inner section.
            pub fn merge(&mut self, inner: &$Name) {
                $($rule(&mut self.$name, &inner.$name);)*
                $($then(self, inner);)?
            }
        }
    };
    ($(#[$meta:meta])* host struct $Name:ident $(, then $then:path)? { $($fields:tt)* }) => {
        settings! { $(#[$meta])* place struct $Name $(, then $then)? { $($fields)* } }

        impl $Name {
            /// Takes missing values from `outer`.
            pub fn inherit(&mut self, outer: &$Name) {
                let own = std::mem::replace(self, outer.clone());
                self.merge(&own);
            }
        }
    };
    (
        $(#[$partial_meta:meta])* section struct $Partial:ident { $($(#[$s_doc:meta])* $s_name:ident: $s_type:ty;)* }
        $(#[$meta:meta])* merged struct $Merged:ident { $($(#[$m_doc:meta])* $m_name:ident: $m_type:ty;)* }
        $($(#[$doc:meta])* $name:ident: $partial:ty => $merged:ty, $rule:path;)*
    ) => {
        $(#[$partial_meta])*
        pub struct $Partial { $($(#[$s_doc])* pub $s_name: $s_type,)* $($(#[$doc])* pub $name: $partial,)* }
        settings! { debug $Partial: $($s_name)* $($name)* }

        $(#[$meta])*
        pub struct $Merged { $($(#[$m_doc])* pub $m_name: $m_type,)* $($(#[$doc])* pub $name: $merged,)* }
        settings! { debug $Merged: $($m_name)* $($name)* }

        impl $Merged {
            /// Merges the settings of an inner section.
            pub fn merge(&mut self, inner: &$Partial) {
                $($rule(&mut self.$name, &inner.$name);)*
            }
        }
    };
    (debug $Name:ident: $($name:ident)*) => {
        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (default, mut shown) = ($Name::default(), f.debug_struct(stringify!($Name)));
                $(if $crate::model::merge::differ(&self.$name, &default.$name) {
                    shown.field(stringify!($name), &self.$name);
                })*
                shown.finish()
            }
        }
    };
}
pub(crate) use settings;

/// Whether the `Debug` output of two values differs.
pub fn differ(one: &dyn Debug, other: &dyn Debug) -> bool {
    format!("{one:?}") != format!("{other:?}")
}

/// The inner value, if set, replaces the outer value, which always exists.
pub fn replace<T: Clone>(outer: &mut T, inner: &Option<T>) {
    if let Some(inner) = inner {
        outer.clone_from(inner);
    }
}

/// The inner value, if set, replaces the outer value, which may be missing.
pub fn keep<T: Clone>(outer: &mut Option<T>, inner: &Option<T>) {
    if inner.is_some() {
        outer.clone_from(inner);
    }
}

/// The inner list, unless empty, replaces the outer list.
pub fn unless_empty<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    if !inner.is_empty() {
        *outer = inner.to_vec();
    }
}

/// The inner list is appended.
pub fn append<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    outer.extend_from_slice(inner);
}

/// The inner list is prepended.
pub fn prepend<T: Clone>(outer: &mut Vec<T>, inner: &[T]) {
    outer.splice(0..0, inner.iter().cloned());
}

/// The inner value of a key replaces the outer value.
pub fn by_key<K: Ord + Clone, V: Clone>(outer: &mut BTreeMap<K, V>, inner: &BTreeMap<K, V>) {
    outer.extend(inner.iter().map(|(key, value)| (key.clone(), value.clone())));
}

/// The inner value replaces the outer value in any case.
pub fn always<T: Clone>(outer: &mut T, inner: &T) {
    outer.clone_from(inner);
}

/// No-op for fields that are merged by other code.
pub fn apart<O, I>(_: &mut O, _: &I) {}
