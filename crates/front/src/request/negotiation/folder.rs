//! `Options MultiViews`: the files of a folder whose names begin with a name that is missing.

use std::path::PathBuf;
use std::rc::Rc;

use http::StatusCode;

use super::quality::PROGRAM;
use super::variant::Variant;
use crate::generation::View;
use crate::request::files::lookup::{missing_name, refusal};
use crate::request::files::similar::{are_asked, similar};
use crate::routing::{FoundFile, NotYet, Route};
use config::Handler;
use files::mime::{describe, unknown_parts};
use files::open::{Links, PathWithLinks, root};

/// A missing name, and the names in its folder that may stand for it.
pub struct Candidates {
    folder: PathBuf,
    pub name: String,
    /// The path up to the folder's slash.
    folder_path: Vec<u8>,
    /// The path behind the missing name.
    pub path_info: Vec<u8>,
    /// The names, in the order of their bytes.
    pub names: Vec<String>,
    /// Whether there are more candidates, or more names in the folder, than are compared.
    pub is_cut: bool,
}

impl Candidates {
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// URL path of the folder, and the name that a candidate has there.
    pub fn path(&self, name: &str) -> Vec<u8> {
        [&self.folder_path[..], name.as_bytes()].concat()
    }
}

/// The candidates for the first missing name in the file name of `route`; `None` if nothing is missing, or no other
/// name begins with it.
pub fn find(generation: &View, route: &Route) -> Result<Option<Candidates>, NotYet> {
    let Some(missing) = missing_name(generation, route) else { return Ok(None) };
    let found = similar(generation, route, missing.folder, missing.name).map_err(refusal)?;
    Ok(found.map(|(names, is_cut)| Candidates {
        folder: missing.folder.to_owned(),
        name: missing.name.to_owned(),
        folder_path: missing.folder_path.to_vec(),
        path_info: missing.path_info.to_vec(),
        names,
        is_cut,
    }))
}

/// The variant of a candidate; `None` if its name has unknown extensions, or it is not a file that may be opened here.
pub fn variant(
    generation: &View,
    route: &Rc<Route>,
    missing: &Candidates,
    name: &str,
) -> Result<Option<Variant>, NotYet> {
    let (config, file, path) = (&generation.config, missing.file(name), missing.path(name));
    let found = FoundFile { path: &path, filename: &file, script_length: path.len() };
    let found = generation.routes.refine(config, route, found)?;
    let is_known = unknown_parts(config, &found.settings, name).is_some_and(|parts| are_asked(&parts, &missing.name));
    if !is_known || found.refusal.is_some() {
        return Ok(None);
    }
    let way =
        PathWithLinks { root: root(config, route.host, &file), path: &file, links: Links::of(found.settings.options) };
    let opened = match generation.opener.open(way).map_err(refusal) {
        Ok(opened) if opened.kind.is_file() => opened,
        Err(refusal) if refusal.status == StatusCode::SERVICE_UNAVAILABLE => return Err(refusal.into()),
        _ => return Ok(None),
    };
    let mut variant = Variant { name: name.to_owned(), length: Some(opened.size), ..Variant::default() };
    Ok(variant.describe_file(generation, &found).then(|| Variant { route: Some(found), ..variant }))
}

impl Variant {
    /// Sets type, languages and encoding by the name of the route's file. False: no rule applies to the file.
    fn describe_file(&mut self, generation: &View, route: &Route) -> bool {
        let described = describe(&generation.config, &route.settings, &route.filename);
        let mime = described.mime.or_else(|| route.settings.default_type.clone());
        let program = || (route.settings.handler != Handler::Default).then(|| PROGRAM.to_owned());
        let Some(mime) = mime.or_else(program) else { return false };
        match described.charset {
            Some(charset) => self.describe(&format!("{mime}; charset={charset}")),
            None => self.describe(&mime),
        }
        self.add_languages(&described.language.unwrap_or_default());
        self.encoding = described.encoding.unwrap_or_default();
        true
    }
}
