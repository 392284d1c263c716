//! Mapping of URL paths to files, and selection of sections.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::model::config::Config;
use crate::model::context::{Scope, ends_at_segment, rest_below};
use crate::model::host::{Alias, AliasFrom};
use crate::model::identity::CanonicalName;
use crate::model::response::PlaceAlias;
use crate::model::response::lookup::virtual_folders::ServedName;
use crate::model::settings::Section;
use crate::resolve::virtual_host::without_port;

/// Result of mapping a URL path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The file, or one of its parents if the path continues; a final slash of the path is retained.
    pub filename: PathBuf,
    /// Whether the path is below a `ScriptAlias`.
    pub script_alias: bool,
}

impl Config {
    /// Maps a normalised path: decoded, without `.`, `..` and empty segments. `served` is needed only where
    /// [`Config::has_virtual_folders`].
    pub fn translate(&self, host: u16, path: &str, served: Option<&ServedName>) -> Mapping {
        if let Some(alias) = self.aliased(host, path) {
            return alias;
        }
        let it = &self.hosts[usize::from(host)];
        if it.virtual_folders.are_on() {
            let usual = self.served_name(host, "", 80, "127.0.0.1");
            if let Some((filename, script_alias)) = it.virtual_folders.file(path, served.unwrap_or(&usual)) {
                return Mapping { filename, script_alias };
            }
        }
        Mapping { filename: join(&it.document_root, path), script_alias: false }
    }

    /// As [`Config::translate`], with a document root that a program has set for the request.
    pub fn translate_below(&self, host: u16, path: &str, document_root: &Path) -> Mapping {
        let usual = || Mapping { filename: join(document_root, path), script_alias: false };
        self.aliased(host, path).unwrap_or_else(usual)
    }

    /// Whether folders of this host are named after the name or address of a request.
    pub fn has_virtual_folders(&self, host: u16) -> bool {
        self.hosts.get(usize::from(host)).is_some_and(|host| host.virtual_folders.are_on())
    }

    /// The name and port of a request with this `Host` header, by the host's `UseCanonicalName`; `usual_port` is that
    /// of the scheme.
    pub fn served_name(&self, host: u16, host_header: &str, usual_port: u16, address: &str) -> ServedName {
        let canonical = self.canonical_name(host);
        let server = self.hosts.get(usize::from(host));
        let known = server.and_then(|host| host.server_name.clone());
        let asked = without_port(host_header);
        let port = host_header.strip_prefix(asked).and_then(|rest| rest.strip_prefix(':')?.parse().ok());
        let requested_name = Some(asked.to_owned()).filter(|name| !name.is_empty());
        let (name, port) = match canonical {
            CanonicalName::Off => (requested_name.or(known), port),
            CanonicalName::On => (known.or(requested_name), None),
            CanonicalName::Dns => (known.or(requested_name), port),
        };
        let port = port.or_else(|| server?.server_port).unwrap_or(usual_port);
        ServedName { name: name.unwrap_or_else(|| address.to_owned()), port, address: address.to_owned() }
    }

    /// `Timeout` of a host: maximum wait for a client, or for a backend without a timeout of its own.
    pub fn timeout_of(&self, host: u16) -> Duration {
        self.hosts.get(usize::from(host)).and_then(|host| host.timeout).unwrap_or(self.timeouts.client)
    }

    /// The folder of a host that contains the file, where folders are named after hosts; or else its `DocumentRoot`.
    pub fn document_root_of<'a>(&'a self, host: u16, file: &'a Path) -> &'a Path {
        let Some(host) = self.hosts.get(usize::from(host)) else { return Path::new("/") };
        host.virtual_folders.root_of(file).unwrap_or(&host.document_root)
    }

    /// `UseCanonicalName` outside of containers.
    fn canonical_name(&self, host: u16) -> CanonicalName {
        let mut bases = self.sections_of_host(host).into_iter().rev();
        let configured = bases.find_map(|base| self.sections.get(usize::from(base))?.own.response.canonical_name);
        configured.unwrap_or_default()
    }

    fn aliased(&self, host: u16, path: &str) -> Option<Mapping> {
        let of_host = || {
            let (alias, filename) = self.alias_of(host, path)?;
            Some(Mapping { filename, script_alias: alias.script })
        };
        self.alias_of_place(host, path).or_else(of_host)
    }

    /// The `Alias` of the innermost `<Location>` for a path that has one.
    fn alias_of_place(&self, host: u16, path: &str) -> Option<Mapping> {
        let containers = self.hosts.get(usize::from(host))?.containers.iter().rev();
        let mut found = containers.filter_map(|index| {
            let section = self.sections.get(usize::from(*index))?;
            let PlaceAlias { to, script } = section.own.response.place_alias.as_ref()?;
            let rest = match &section.scope {
                Scope::Location(prefix) if self.preserves_path(host, section) => rest_below(prefix, path)?,
                scope => MatchedRequest::new(path, Path::new("")).is_in(scope).then_some("")?,
            };
            let filename = if rest.is_empty() { to.clone() } else { beside(to, rest) };
            Some(Mapping { filename, script_alias: *script })
        });
        found.next()
    }

    /// `AliasPreservePath` of a section, or else of its host.
    fn preserves_path(&self, host: u16, section: &Section) -> bool {
        let bases = self.sections_of_host(host).into_iter().rev();
        let of_host = bases.filter_map(|base| self.sections.get(usize::from(base)));
        let mut all = std::iter::once(section).chain(of_host);
        all.find_map(|section| section.own.response.alias_preserve_path) == Some(true)
    }

    /// The alias for a path, and the file to which it maps the path.
    pub fn alias_of(&self, host: u16, path: &str) -> Option<(&Alias, PathBuf)> {
        let aliases = self.hosts.get(usize::from(host))?.aliases.iter();
        aliases.filter_map(|alias| Some((alias, alias.file(path)?))).next()
    }

    /// Sections of a request in merge order. The `filename` of a folder ends with a slash.
    pub fn sections(&self, host: u16, path: &str, filename: &Path) -> Vec<u16> {
        self.sections_of(host, &MatchedRequest::new(path, filename))
    }

    /// Sections for `MergeSlashes Off`: those for URL paths also see the path as sent. Sections that match the
    /// path without repeated slashes apply in any case.
    pub fn sections_as_sent(&self, host: u16, path: &str, sent: &str, filename: &Path) -> Vec<u16> {
        self.sections_of(host, &MatchedRequest { sent: Some(sent), ..MatchedRequest::new(path, filename) })
    }

    /// Sections for a path that is no file. As in httpd, `<Files>` matches its last segment.
    pub fn sections_without_file(&self, host: u16, path: &str) -> Vec<u16> {
        self.sections_of(host, &MatchedRequest::without_file(path))
    }

    /// Sections of a request that is passed to the backend with this URL.
    pub fn sections_of_backend(&self, host: u16, path: &str, sent: Option<&str>, url: &str) -> Vec<u16> {
        let no_file = MatchedRequest::new(path, Path::new(""));
        self.sections_of(host, &MatchedRequest { backend: Some(url), sent, ..no_file })
    }

    /// Sections outside of containers.
    pub fn sections_of_host(&self, host: u16) -> Vec<u16> {
        let mut all = vec![self.hosts[0].base];
        if host != 0 {
            all.push(self.hosts[usize::from(host)].base);
        }
        all
    }

    fn sections_of(&self, host: u16, request: &MatchedRequest<'_>) -> Vec<u16> {
        let mut all = self.sections_of_host(host);
        let containers = self.hosts[usize::from(host)].containers.iter();
        all.extend(containers.filter(|index| self.applies(**index, request)));
        all
    }

    fn applies(&self, index: u16, request: &MatchedRequest<'_>) -> bool {
        let Section { scope, inside, .. } = &self.sections[usize::from(index)];
        request.is_in(scope) && inside.is_none_or(|outer| self.applies(outer, request))
    }
}

impl Alias {
    fn file(&self, path: &str) -> Option<PathBuf> {
        match &self.from {
            AliasFrom::Prefix(prefix) => Some(beside(&self.to, rest_below(prefix, path)?)),
            AliasFrom::Match(regex) => {
                let to = self.to.to_str()?;
                let file = regex.find(path)?.expand(to, &str::to_owned, usize::MAX);
                let file = PathBuf::from(file.unwrap_or_else(|cut| cut));
                // Text matched by `^/x(.*)` for `/srv/x/$1` must not add `..`.
                (parents(&file) == parents(&self.to)).then_some(file)
            }
        }
    }
}

fn parents(path: &Path) -> usize {
    path.components().filter(|part| *part == Component::ParentDir).count()
}

/// As in httpd, the rest of the path is appended directly to the file name of the alias, without an extra slash.
fn beside(to: &Path, rest: &str) -> PathBuf {
    if to.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return join(to, rest);
    }
    let mut file = to.as_os_str().to_owned();
    file.push(rest);
    file.into()
}

fn join(folder: &Path, rest: &str) -> PathBuf {
    match rest.trim_start_matches('/') {
        "" if rest.is_empty() => folder.to_owned(),
        rest => folder.join(rest),
    }
}

/// Properties of a request that sections match.
pub(super) struct MatchedRequest<'a> {
    path: &'a str,
    /// The path with repeated slashes, if `MergeSlashes` is off.
    sent: Option<&'a str>,
    filename: &'a Path,
    /// `filename` as text.
    text: &'a str,
    /// Last component of `filename`; empty for a folder.
    name: &'a str,
    /// URL of the backend that gets the request. A proxied request has no file.
    backend: Option<&'a str>,
}

impl<'a> MatchedRequest<'a> {
    pub fn new(path: &'a str, filename: &'a Path) -> Self {
        let text = filename.to_str().unwrap_or_default();
        let name = text.rsplit('/').next().unwrap_or_default();
        MatchedRequest { path, sent: None, filename, text, name, backend: None }
    }

    fn without_file(path: &'a str) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        MatchedRequest { path, sent: None, filename: Path::new(""), text: "", name, backend: None }
    }

    fn paths(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.path).chain(self.sent)
    }

    pub fn is_in(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Host => true,
            Scope::Directory(folder) | Scope::Program(folder, _) => self.filename.starts_with(folder),
            // As httpd 2.4: the expression is matched against the whole file path, not the folder.
            Scope::DirectoryMatch(regex) => !self.text.is_empty() && regex.is_match(self.text),
            Scope::Files(regex) => !self.name.is_empty() && regex.is_match(self.name),
            Scope::Location(prefix) => self
                .paths()
                .any(|path| path.strip_prefix(prefix.as_str()).is_some_and(|rest| ends_at_segment(prefix, rest))),
            Scope::LocationMatch(regex) => self.paths().any(|path| regex.is_match(path)),
            Scope::Backend(regex) => self.backend.is_some_and(|url| regex.is_match(url)),
            // Conditions are evaluated later, see `branches`.
            Scope::If(_) => false,
        }
    }
}
