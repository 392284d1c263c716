//! httpd's configuration language: parser of text to [`Directive`](tree::Directive)s, and parsers of values. This
//! module does not know the directives themselves.

pub mod defines;
pub mod envvars;
mod include;
pub mod lines;
mod macros;
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
