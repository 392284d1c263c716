//! Directives about content: files, folders, types, headers, redirects, filters, includes, caching.

pub(super) mod actions;
pub(super) mod caching;
pub(super) mod files;
pub(super) mod filter_chain;
pub(super) mod filters;
pub(super) mod folders;
pub(super) mod headers;
pub(super) mod image_maps;
pub(super) mod includes;
pub(super) mod listings;
pub(super) mod negotiation;
pub(super) mod proxy;
pub(super) mod redirects;
pub(super) mod rewriting;
pub(super) mod tracking;
pub(super) mod types;
pub(crate) mod user_dirs;
pub(super) mod variables;
pub(super) mod virtual_folders;
