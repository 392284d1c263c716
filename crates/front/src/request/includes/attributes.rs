//! Attributes of elements.

use std::borrow::Cow;

use super::values::{Fault, fault};
use ssi::entities;
use ssi::parser::Argument;

/// Arguments up to the first one without a value.
pub fn with_values(arguments: &[Argument]) -> impl Iterator<Item = (&[u8], &[u8])> {
    arguments.iter().map_while(|argument| Some((&*argument.name, argument.value.as_deref()?)))
}

pub fn decoded(value: &[u8]) -> Cow<'_, [u8]> {
    if value.contains(&b'&') { entities::decode(value).into() } else { value.into() }
}

/// The fault of an attribute that the element does not have.
pub fn unknown(name: &[u8]) -> Fault {
    fault(format!("unknown attribute \"{}\"", name.escape_ascii()))
}
