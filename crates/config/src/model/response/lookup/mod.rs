//! Where files are looked for besides their own name: a name spelled almost alike, the home of a user.

pub mod spelling;
pub mod user_dir;
