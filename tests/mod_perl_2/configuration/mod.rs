//! What a configuration of mod_perl 2 says: which API it means, what runs while it is read, its directives.

mod directives;
mod generation;
mod readings;
mod sections;

use super::{conf, serve, site};
