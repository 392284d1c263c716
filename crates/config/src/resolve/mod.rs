//! Resolution of a request: its host, its file, the sections and `.htaccess` files that apply, and the merged settings.

pub mod added;
mod branches;
pub mod htaccess;
mod merge;
mod translate;
mod virtual_host;
mod warm_up;

pub use translate::Mapping;
pub use virtual_host::{AddressProtocol, without_port};
