//! Where files are looked for besides their own name: a name spelled almost alike, the home of a user, a folder named
//! after the host.

pub mod spelling;
pub mod user_dir;
pub mod virtual_folders;
