//! Apache's language: text to [`Directive`](tree::Directive)s, and how the words in it are written. What they mean is
//! not known here.

mod defines;
pub mod envvars;
mod include;
mod lines;
pub mod meter;
pub mod modules;
pub mod parse;
pub mod pattern;
mod preprocess;
pub mod regular;
mod section_stack;
pub mod source;
pub mod tree;
pub mod value;
mod value_files;
mod version;
pub mod wildcard;
pub mod words;
pub mod work;
