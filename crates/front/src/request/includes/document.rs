//! A document of a page: the page itself, or one that it includes.

use std::rc::Rc;

use http::request::Parts;

use super::facts::PageFile;
use crate::request::context::RequestContext;
use crate::routing::{Route, bytes};

pub struct Document {
    /// Context of the request, or of the subrequest that includes the document.
    pub context: Rc<RequestContext>,
    /// The head after internal redirects.
    pub head: Parts,
    pub route: Rc<Route>,
    /// Facts about the document's file.
    pub file: PageFile,
}

impl Document {
    /// The name of the document's file, without PATH_INFO.
    pub fn filename(&self) -> &[u8] {
        let name = bytes(&self.route.filename);
        // The name of a file that was found on disk has no PATH_INFO, but may end with the same text.
        if self.route.resolved {
            return name;
        }
        name.strip_suffix(self.split_path().1).unwrap_or(name)
    }

    /// The path of the document, and PATH_INFO behind it.
    pub fn split_path(&self) -> (&[u8], &[u8]) {
        let path = &self.route.path;
        let length = self.route.script_length.map_or(path.len(), |length| length as usize);
        path.split_at_checked(length).unwrap_or((path, b""))
    }
}
