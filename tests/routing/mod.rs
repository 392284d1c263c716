//! Which settings and which handler a request gets.

/// `Action` and `Script`.
mod actions;
/// `%2F` in a path.
mod encoded_slashes;
/// `.htaccess` files.
mod htaccess;
/// Repeated slashes in a path.
mod merge_slashes;
/// `Redirect` and `AliasMatch`.
mod redirects;
/// `RewriteRule`, its kin and `.htaccess` files.
mod rewrite;
/// `<VirtualHost>`, `<Location>`, `<IfFile>` and what they hold.
mod sections;
/// Handlers by name, and names that nobody answers for.
mod set_handler;
