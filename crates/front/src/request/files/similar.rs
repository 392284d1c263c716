//! `Options MultiViews`: the names in a folder that may stand for a missing one.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::generation::View;
use crate::routing::Route;
use files::mime::unknown_parts;
use files::open::{Links, PathWithLinks, root};

/// Maximum number of files that are compared for one request: each costs a lookup of its settings and an open file.
pub const MAX_VARIANTS: usize = 100;

/// Names, and whether there are more of them, or more names in the folder, than are compared.
pub type SimilarNames = (Vec<String>, bool);

/// The names in `folder` that begin with `name` and a dot, in the order of their bytes. `None`: there are none.
pub fn similar(generation: &View, route: &Route, folder: &Path, name: &str) -> io::Result<Option<SimilarNames>> {
    let root = root(&generation.config, route.host, folder);
    let way = PathWithLinks { root, path: folder, links: Links::of(route.settings.options) };
    let names = match generation.opener.names(way) {
        Ok(names) => names,
        // The path continues behind a file, which is found without negotiation.
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(error),
    };
    let start = [name.as_bytes(), b"."].concat();
    let mut all = names.beginning_with(&start).filter_map(|name| String::from_utf8(name.to_vec()).ok());
    let similar: Vec<String> = all.by_ref().take(MAX_VARIANTS).collect();
    let is_cut = names.is_cut || all.next().is_some();
    Ok((!similar.is_empty()).then_some((similar, is_cut)))
}

/// Whether MultiViews may find a file for this name in the folder of `route`.
pub fn may_find(generation: &View, route: &Route, folder: &Path, name: &str) -> bool {
    if !route.settings.options.multi_views || name.contains('/') {
        return false;
    }
    let Ok(Some((names, _))) = similar(generation, route, folder, name) else { return false };
    let is_known = |similar: &String| {
        unknown_parts(&generation.config, &route.settings, similar).is_some_and(|parts| are_asked(&parts, name))
    };
    names.iter().any(is_known)
}

/// Whether the requested name contains these parts of a file's name, which negotiation does not know, in this order.
pub fn are_asked(parts: &[&str], name: &str) -> bool {
    let mut requested = name.split('.');
    parts.iter().all(|part| requested.any(|known| known == *part))
}
