//! How long what belongs to a request lives, and what becomes of it when it is kept.

mod kept;
mod pools;

use super::{conf, serve, site};
