//! A mod_perl 2 configuration: which API it selects, the code that runs while it is read, its directives.

mod directives;
mod generation;
mod readings;
mod sections;

use super::{conf, serve, site};
