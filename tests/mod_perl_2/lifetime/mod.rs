//! The lifetime of objects that belong to a request, and their behaviour when a program stores them longer.

mod kept;
mod pools;

use super::{conf, serve, site};
