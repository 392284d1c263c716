//! Which scripts are the configuration's: clients choose the spelling of a URI, and code of the site could forge a
//! report.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::site::Site;
use crate::site::paths::{RequestedHost, plain};
use config::Handler;

/// Whether requests for the script `key` run the Perl in `file` by the configuration. A key is a host's name and the
/// URI; for mod_perl 2, a class of Registry, a space and the URI.
pub fn is_configured(site: &Site, key: &str, file: &str) -> bool {
    if let Some((class, path)) = key.split_once(' ').filter(|(class, _)| class.starts_with("ModPerl::")) {
        let is_known = ["ModPerl::Registry", "ModPerl::RegistryBB"].contains(&class);
        return is_known && (0..).zip(&site.config.hosts).any(|(number, _)| runs(site, number, path, file));
    }
    (0..).zip(&site.config.hosts).any(|(number, host)| {
        let name = host.server_name.as_deref().filter(|_| number != 0).unwrap_or("");
        key.strip_prefix(name).is_some_and(|path| runs(site, number, path, file))
    })
}

fn runs(site: &Site, host: u16, path: &str, file: &str) -> bool {
    if !path.starts_with('/') || plain(path.as_bytes()) != path.as_bytes() {
        return false;
    }
    let of = RequestedHost { host, served: None, document_root: None };
    let found = site.paths.translate(path.as_bytes(), None, &of);
    let is_here = Path::new(file).as_os_str().as_bytes() == found.filename;
    let handler = found.key.ok().and_then(|key| site.locations.handler_of(&key, file.as_bytes()).ok());
    is_here
        && handler
            .is_some_and(|handler| handler == Handler::PerlScript || handler == Handler::ModPerl || handler.is_cgi())
}
