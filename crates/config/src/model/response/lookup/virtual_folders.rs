//! Folders named after the host of a request: `VirtualDocumentRoot`, `VirtualScriptAlias` (httpd manual,
//! mod_vhost_alias).

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Maximum number of bytes of a name that is inserted; DNS has no longer ones.
const MAX_NAME_BYTES: usize = 255;
/// Stands for a part that a name does not have, as in httpd.
const MISSING: &str = "_";

/// The folders of a host.
#[derive(Debug, Clone, Default)]
pub struct VirtualFolders {
    /// `VirtualDocumentRoot`, `VirtualDocumentRootIP`; `None`: the main server's.
    pub documents: Option<VirtualFolder>,
    /// `VirtualScriptAlias`, `VirtualScriptAliasIP`; `None`: the main server's.
    pub scripts: Option<VirtualFolder>,
}

/// Value of a directive of mod_vhost_alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VirtualFolder {
    /// `none`
    Off,
    /// A path with parts of the name.
    Named(FolderPattern),
}

/// The name, port and address that a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedName {
    /// Name by `UseCanonicalName`.
    pub name: String,
    /// Port by `UseCanonicalName`.
    pub port: u16,
    /// Local address of the connection.
    pub address: String,
}

/// A path with `%` and parts of a name or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderPattern {
    /// Whether the parts are those of the connection's local address.
    pub by_address: bool,
    /// The components behind the first `/`.
    components: Vec<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `%p`
    Port,
    /// `%N` and `%N.M`
    Part {
        part: Place,
        character: Place,
    },
}

/// `2`, `-2`, `2+` or `-2+`; 0 is everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    number: usize,
    from_the_end: bool,
    /// With all that follow, or all before if counted from the end.
    with_others: bool,
}

impl VirtualFolders {
    /// Takes missing values from the main server.
    pub fn inherit(&mut self, main: &VirtualFolders) {
        for (own, main) in [(&mut self.documents, &main.documents), (&mut self.scripts, &main.scripts)] {
            if own.is_none() {
                own.clone_from(main);
            }
        }
    }

    /// Whether any folder is named after the host.
    pub fn are_on(&self) -> bool {
        self.patterns().next().is_some()
    }

    /// Whether programs of a folder run by their place.
    pub fn have_scripts(&self) -> bool {
        matches!(self.scripts, Some(VirtualFolder::Named(_)))
    }

    /// The file of a path, and whether it is a program; `None`: other rules map the path.
    pub fn file(&self, path: &str, served: &ServedName) -> Option<(PathBuf, bool)> {
        let script = path.strip_prefix("/cgi-bin/");
        let (pattern, rest, is_script) = match (&self.scripts, script, &self.documents) {
            (Some(VirtualFolder::Named(pattern)), Some(rest), _) => (pattern, rest, true),
            (_, _, Some(VirtualFolder::Named(pattern))) => (pattern, path, false),
            _ => return None,
        };
        Some((pattern.folder(served).join(rest.trim_start_matches('/')), is_script))
    }

    /// The folder of a host that contains the file.
    pub fn root_of<'a>(&self, file: &'a Path) -> Option<&'a Path> {
        self.patterns().find_map(|pattern| pattern.root_of(file))
    }

    /// The part of a file's path that no host name has made.
    pub fn fixed_root_of<'a>(&self, file: &'a Path) -> Option<&'a Path> {
        let pattern = self.patterns().find(|pattern| pattern.root_of(file).is_some())?;
        let behind = file.components().count().checked_sub(pattern.outer_folder().components().count())?;
        file.components().as_path().ancestors().nth(behind)
    }

    /// The folders that contain those of all hosts.
    pub fn outer_folders(&self) -> impl Iterator<Item = PathBuf> {
        self.patterns().map(FolderPattern::outer_folder)
    }

    fn patterns(&self) -> impl Iterator<Item = &FolderPattern> {
        [&self.documents, &self.scripts].into_iter().filter_map(|folder| match folder {
            Some(VirtualFolder::Named(pattern)) => Some(pattern),
            _ => None,
        })
    }
}

impl FolderPattern {
    /// Parses a path such as `/srv/%-2/%1`.
    pub fn parse(text: &str, by_address: bool) -> Result<FolderPattern, String> {
        let Some(relative) = text.strip_prefix('/') else {
            return Err(format!("expected none or a path that begins with /, got \"{text}\""));
        };
        let names = relative.split('/').filter(|name| !matches!(*name, "" | "."));
        let components: Vec<_> = names.map(pieces).collect::<Result<_, _>>()?;
        Ok(FolderPattern { by_address, components })
    }

    /// The folder for a name. A name that is no host name counts as one without parts.
    fn folder(&self, served: &ServedName) -> PathBuf {
        let name = if self.by_address { &served.address } else { &served.name };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let name = if is_harmless(&name) { name.as_str() } else { "" };
        let mut folder = PathBuf::from("/");
        for pieces in &self.components {
            let component: String = pieces.iter().map(|piece| piece.text(name, served.port)).collect();
            // Single characters of a name may be dots.
            let is_name = matches!(Path::new(&component).components().next(), Some(Component::Normal(_)));
            folder.push(if is_name || pieces.iter().all(Piece::is_text) { &component } else { MISSING });
        }
        folder
    }

    /// The part of the path that is the same for all names.
    fn outer_folder(&self) -> PathBuf {
        let fixed = self.components.iter().map_while(|pieces| match &pieces[..] {
            [Piece::Text(text)] => Some(text),
            _ => None,
        });
        PathBuf::from("/").join(fixed.collect::<PathBuf>())
    }

    /// The first components of `file`, if the pattern may have made them.
    fn root_of<'a>(&self, file: &'a Path) -> Option<&'a Path> {
        let mut rest = file.components();
        (rest.next() == Some(Component::RootDir)).then_some(())?;
        for pieces in &self.components {
            let Component::Normal(name) = rest.next()? else { return None };
            let is_fit = match &pieces[..] {
                [Piece::Text(text)] => OsStr::new(text) == name,
                _ => true,
            };
            is_fit.then_some(())?;
        }
        let behind = rest.as_path().components().count();
        file.components().as_path().ancestors().nth(behind)
    }
}

/// Whether a name leads to no other folder when it is inserted into a path.
fn is_harmless(name: &str) -> bool {
    let is_split = name.contains(['/', '\0']) || name.contains("..") || name.starts_with('.');
    !is_split && name.len() <= MAX_NAME_BYTES
}

/// Parses a component of a path: text, `%%`, `%p`, `%N` and `%N.M`.
fn pieces(component: &str) -> Result<Vec<Piece>, String> {
    let expected = || format!("expected %%, %p, %N or %N.M in \"{component}\", where N and M are 3, -3, 3+ or -3+");
    let mut pieces = Vec::new();
    let mut parts = component.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            // `%%`; the part behind it is text.
            text.push('%');
            text.push_str(parts.next().ok_or_else(expected)?);
            continue;
        }
        let (piece, rest) = piece(part).ok_or_else(expected)?;
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(piece);
        text.push_str(rest);
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// The piece behind a `%`, and the text behind it.
fn piece(text: &str) -> Option<(Piece, &str)> {
    if let Some(rest) = text.strip_prefix('p') {
        return Some((Piece::Port, rest));
    }
    let (part, rest) = place(text)?;
    let (character, rest) = match rest.strip_prefix('.') {
        Some(rest) => place(rest)?,
        None => (Place::default(), rest),
    };
    Some((Piece::Part { part, character }, rest))
}

fn place(text: &str) -> Option<(Place, &str)> {
    let (from_the_end, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let number = text.chars().next()?.to_digit(10)? as usize;
    let rest = text.get(1..)?;
    let (with_others, rest) = rest.strip_prefix('+').map_or((false, rest), |rest| (true, rest));
    Some((Place { number, from_the_end, with_others }, rest))
}

impl Piece {
    fn is_text(&self) -> bool {
        matches!(self, Piece::Text(_))
    }

    fn text(&self, name: &str, port: u16) -> String {
        match self {
            Piece::Text(text) => text.clone(),
            Piece::Port => port.to_string(),
            Piece::Part { part, character } => {
                let dots: Vec<(usize, usize)> = spans(name.split('.'), 1);
                let chosen = part.of(name, &dots).filter(|chosen| !chosen.is_empty());
                let characters = |chosen: &str| spans(chosen.split_inclusive(|_: char| true), 0);
                let chosen = chosen.and_then(|chosen| character.of(chosen, &characters(chosen)));
                chosen.unwrap_or(MISSING).to_owned()
            }
        }
    }
}

/// Begin and end of each part of a text.
fn spans<'a>(parts: impl Iterator<Item = &'a str>, between: usize) -> Vec<(usize, usize)> {
    let mut at = 0;
    let span = |part: &str| {
        let begin = at;
        at += part.len() + between;
        (begin, begin + part.len())
    };
    parts.map(span).collect()
}

impl Place {
    /// The chosen part of a text; `None` if there are fewer parts.
    fn of<'a>(&self, text: &'a str, spans: &[(usize, usize)]) -> Option<&'a str> {
        if self.number == 0 {
            return Some(text);
        }
        let at = match self.from_the_end {
            true => spans.len().checked_sub(self.number)?,
            false => self.number - 1,
        };
        let (mut begin, mut end) = *spans.get(at)?;
        match (self.with_others, self.from_the_end) {
            (true, true) => begin = 0,
            (true, false) => end = text.len(),
            _ => {}
        }
        text.get(begin..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(pattern: &str, name: &str) -> String {
        let served = ServedName { name: name.to_owned(), port: 8080, address: "192.0.2.7".to_owned() };
        FolderPattern::parse(pattern, false).unwrap().folder(&served).display().to_string()
    }

    #[test]
    fn parts_of_a_name_become_parts_of_a_path() {
        let name = "WWW.sub.example.com.";
        for (pattern, expected) in [
            ("/v/%0/", "/v/www.sub.example.com"),
            ("/v/%-1/%-2/%1", "/v/com/example/www"),
            ("/v/%2+/%-2+", "/v/sub.example.com/www.sub.example"),
            ("/v/%9/%-9", "/v/_/_"),
            ("/v/%3.1/%3.-1/%3.3+/%3.-3+", "/v/e/e/ample/examp"),
            ("/v/%3.9", "/v/_"),
            ("/v/%p-%%-%1", "/v/8080-%-www"),
            ("/v/%%p", "/v/%p"),
        ] {
            assert_eq!(folder(pattern, name), expected, "{pattern}");
        }
    }

    #[test]
    fn a_host_name_selects_no_folder_outside_its_pattern() {
        for name in ["..", "../../etc", "a/../../etc", "/etc", "a\0b", ".hidden", "a..b", "", &"a".repeat(256)] {
            assert_eq!(folder("/v/%0/docs", name), "/v/_/docs", "{name}");
        }
        assert_eq!(folder("/v/%0.2%0.4/docs", "a.b.c"), "/v/_/docs");
        assert_eq!(folder("/v/%0.2/docs", "a.b.c"), "/v/_/docs");
    }

    #[test]
    fn wrong_patterns_are_refused() {
        for pattern in ["relative/%0", "/v/%", "/v/%x", "/v/%1.", "/v/%1.x", "/v/%-", "/v/%+1"] {
            assert!(FolderPattern::parse(pattern, false).is_err(), "{pattern}");
        }
    }

    #[test]
    fn the_root_of_a_file_is_found_by_its_path() {
        let pattern = FolderPattern::parse("/v/%1/%2/docs", false).unwrap();
        let root = |file: &str| pattern.root_of(Path::new(file)).map(|root| root.display().to_string());
        assert_eq!(root("/v/a/b/docs/x/y").as_deref(), Some("/v/a/b/docs"));
        assert_eq!(root("/v/a/b/docs").as_deref(), Some("/v/a/b/docs"));
        assert_eq!(root("/v/a/b/cgi/x"), None);
        assert_eq!(root("/v/a/b"), None);
        assert_eq!(root("/w/a/b/docs/x"), None);
        assert_eq!(pattern.outer_folder(), Path::new("/v"));
    }
}
