//! The settings and the handler of a request.

/// `Action` and `Script`.
mod actions;
/// `<If>`, `<ElseIf>`, `<Else>`.
mod branches;
/// `%2F` in a path.
mod encoded_slashes;
/// Expressions: their functions, their questions, their limits.
mod expressions;
/// `.htaccess` files.
mod htaccess;
/// Programs of `RewriteMap`.
mod map_databases;
mod map_programs;
/// Repeated slashes in a path.
mod merge_slashes;
/// Regular expressions of the main configuration.
mod patterns;
/// `Redirect` and `AliasMatch`.
mod redirects;
/// `RewriteRule`, related directives, and `.htaccess` files.
mod rewrite;
/// `RewriteRule` beside httpd, by a table of cases.
mod rewrite_table;
/// Variables of rules.
mod rewrite_variables;
/// `<VirtualHost>`, `<Location>`, `<IfFile>` and the directives in them.
mod sections;
/// `SetHandler`, and names without a handler.
mod set_handler;
/// Results of rewrite rules that are stored with a route.
mod stored_rules;
/// `VirtualDocumentRoot` and `VirtualScriptAlias`.
mod virtual_folders;
