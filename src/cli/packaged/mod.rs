//! Files of packages, printed from the description of the command line: man pages, and completions for shells.

pub mod completions;
pub mod man;
