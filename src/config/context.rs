//! Where directives stand, and when what they say is merged.

/// A place where directives stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Context {
    /// Outside of every section.
    Server = 1,
    /// `<VirtualHost>`
    VirtualHost = 2,
    /// `<Directory>` and `<DirectoryMatch>`
    Directory = 4,
    /// `<Location>` and `<LocationMatch>`
    Location = 8,
    /// `<Files>` and `<FilesMatch>`
    Files = 16,
    /// A `.htaccess` file.
    Htaccess = 128,
}

impl Context {
    /// As a user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Context::Server => "the main server",
            Context::VirtualHost => "<VirtualHost>",
            Context::Directory => "<Directory>",
            Context::Location => "<Location>",
            Context::Files => "<Files>",
            Context::Htaccess => ".htaccess",
        }
    }
}

/// When a container is merged: the smaller first; among equals the main server's first, then in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(pub(super) u8, pub(super) usize);

impl Rank {
    /// What stands outside of every container.
    pub(super) const HOST: Rank = Rank(0, 0);
    /// `<DirectoryMatch>`
    pub const DIRECTORY_MATCH: Rank = Rank(0, usize::MAX);
    /// `<Location>` and `<LocationMatch>`
    pub const LOCATION: Rank = Rank(2, 0);

    /// `<Directory>` of so many path components: shortest first.
    pub fn directory(components: usize) -> Rank {
        Rank(0, components)
    }
}
