//! The new folder: copies of the configuration's files with changed lines, the unit of systemd.

mod copies;
mod edit;
mod layout;
mod outline;
mod patch;
mod target;
pub mod unit;

pub use copies::{Copies, FileCopy, MODE_OF_SECRETS, OWN_FILES, mode_of};
pub use edit::LineEdit;
pub use layout::Layout;
pub use patch::{HTACCESS_PATCH, HtaccessCopy, patch};
pub use target::{NewFolder, fresh};

/// Name that the copies use for their own folder.
pub const FOLDER_NAME: &str = "CAMELEER_SITE";
