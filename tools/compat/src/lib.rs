//! What of a mod_perl 1.x site runs here: `cameleer check --compat`, and the compatibility page.
//!
//! [`rows`] is the one table of promises, each with the test that drives it. `survey` reads a site without running any
//! of it: directives from the parsed configuration, calls from the text of its Perl.

#![forbid(unsafe_code)]

pub mod rows;

mod calls;
mod generation_2;
mod methods_2;
mod perl_text;
mod sources;
mod survey;

pub use survey::{Finding, Light, survey};
