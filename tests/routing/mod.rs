//! The settings and the handler of a request.

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
/// `RewriteRule`, related directives, and `.htaccess` files.
mod rewrite;
/// `<VirtualHost>`, `<Location>`, `<IfFile>` and the directives in them.
mod sections;
/// `SetHandler`, and names without a handler.
mod set_handler;
