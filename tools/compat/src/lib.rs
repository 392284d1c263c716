//! Support for the parts of a mod_perl 1.x site: `cameleer check --compat`, and the compatibility page.
//!
//! [`rows`] is the table of supported features, each with its test. `survey` reads a site without running its code:
//! directives from the parsed configuration, calls from the text of its Perl. `programs` and `htaccess` search the
//! folders of a site for CGI programs and `.htaccess` files.

#![forbid(unsafe_code)]

pub mod htaccess;
pub mod programs;
pub mod rows;

mod calls;
mod generation_2;
mod methods_2;
mod perl_text;
mod sources;
mod survey;

pub use survey::{Finding, Light, missing_modules, survey};
