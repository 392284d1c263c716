//! Folders: their slash, and the list of what is in them.

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::model::response::listing::Column;
use crate::config::model::response::{FileEtag, PathInfo};
use crate::config::syntax::wildcard::{self, Slash};
use crate::config::table::row::{ANYWHERE, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "DirectorySlash",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Flag(|d, on| d.said().response.directory_slash = Some(on)),
        because: "On: links in a page would lead astray without it",
        about: "Whether the path of a folder without a slash at its end is redirected to the one with it; Off answers 404.",
        ..ROW
    },
    Row {
        name: "FallbackResource",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Word("disabled|/url-path", fallback_resource),
        because: "what is not there is a 404",
        about: "The path of this server that answers for files that are not there and for folders without an index, with the request's method, query and body. Where a Perl handler answers, it says itself what is not there.",
        ..ROW
    },
    Row {
        name: "IndexOptions",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("[+|-]option…", 1..=MANY, |d, args| {
            index_options(d, args);
            Ok(())
        }),
        because: "a plain list of names",
        about: "How folders are listed where Options Indexes allows it: FancyIndexing (with dates and sizes), FoldersFirst, IgnoreCase, None; others are accepted and change nothing.",
        ..ROW
    },
    Row {
        name: "IndexIgnore",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("name…", 1..=MANY, index_ignore),
        because: "everything but .ht* is shown",
        about: "Names, with `*` and `?`, that lists of folders do not show.",
        ..ROW
    },
    Row {
        name: "IndexOrderDefault",
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("Ascending|Descending Name|Date|Size", 2..=2, index_order),
        because: "by name",
        about: "How lists of folders are sorted at first.",
        ..ROW
    },
    Row {
        name: "AcceptPathInfo",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("On|Off|Default", accept_path_info),
        because: "Default: a file has one path, a script has many",
        about: "Whether a path may go on behind a file's name (PATH_INFO). On: any file is sent, whatever follows; Off: a CGI script with more \
            behind its name is answered 404, too; Default: scripts and handlers take it, files do not.",
        ..ROW
    },
    Row {
        name: "FileETag",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[+|-]INode|MTime|Size…|All|None", 1..=4, file_etag),
        because: "as httpd 2.4: time and size, which are the same on every machine of a site",
        about: "What the ETag of a file is made from. With `+` and `-` what an outer section says is changed.",
        ..ROW
    },
];

/// With `+` and `-` what an outer section says is changed, otherwise replaced.
fn file_etag(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (mut whole, mut more, mut less) = (None, FileEtag::default(), FileEtag::default());
    for arg in args {
        let (part, name) = match arg.split_at_checked(1) {
            Some(("+", name)) => (&mut more, name),
            Some(("-", name)) => (&mut less, name),
            _ => (whole.get_or_insert_default(), arg.as_str()),
        };
        match name.to_ascii_lowercase().as_str() {
            "inode" => part.inode = true,
            "mtime" => part.mtime = true,
            "size" => part.size = true,
            "all" => *part = FileEtag { inode: true, mtime: true, size: true },
            "none" if name == arg => *part = FileEtag::default(),
            _ => return Err(format!("expected INode, MTime, Size, All or None, got \"{arg}\"")),
        }
    }
    let rules = &mut draft.said().response;
    rules.file_etag = whole.or(rules.file_etag);
    rules.file_etag_change =
        (more != less).then_some((more, less)).or(rules.file_etag_change.filter(|_| whole.is_none()));
    Ok(())
}

/// `FallbackResource disabled|/path`
fn fallback_resource(draft: &mut Draft, path: &str) -> Result<(), String> {
    let disabled = path.eq_ignore_ascii_case("disabled");
    if !disabled && !path.starts_with('/') {
        return Err(format!("expected disabled or a path that begins with /, got \"{path}\""));
    }
    draft.said().response.fallback = Some((!disabled).then(|| path.into()));
    Ok(())
}

fn accept_path_info(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.said().response.path_info = Some(match word.to_ascii_lowercase().as_str() {
        "on" => PathInfo::On,
        "off" => PathInfo::Off,
        "default" => PathInfo::Default,
        _ => return Err(format!("expected On, Off or Default, got \"{word}\"")),
    });
    Ok(())
}

/// `IndexIgnore name…`
fn index_ignore(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        let pattern = draft.pattern(&wildcard::whole(name, Slash::Ordinary))?;
        draft.said().response.listing.ignored.push(pattern);
    }
    Ok(())
}

/// `IndexOptions [+|-]option…`
fn index_options(draft: &mut Draft, args: &[String]) {
    let mut unused = Vec::new();
    for arg in args {
        let on = !arg.starts_with('-');
        let name = arg.trim_start_matches(['+', '-']).to_ascii_lowercase();
        let listing = &mut draft.said().response.listing;
        match name.as_str() {
            "fancyindexing" => listing.fancy = Some(on),
            "none" => listing.fancy = Some(false),
            "foldersfirst" => listing.folders_first = Some(on),
            "ignorecase" => listing.ignore_case = Some(on),
            _ => unused.push(arg.clone()),
        }
    }
    if !unused.is_empty() {
        draft.warn(&format!("changes nothing here and is ignored: {}", unused.join(" ")));
    }
}

/// `IndexOrderDefault Ascending|Descending Name|Date|Size`
fn index_order(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [direction, column] = args else { return Ok(()) };
    let backwards = match direction.to_ascii_lowercase().as_str() {
        "ascending" => false,
        "descending" => true,
        _ => return Err(format!("expected Ascending or Descending first, got \"{direction}\"")),
    };
    let column = match column.to_ascii_lowercase().as_str() {
        "name" | "description" => Column::Name,
        "date" => Column::Date,
        "size" => Column::Size,
        _ => return Err(format!("expected Name, Date or Size second, got \"{column}\"")),
    };
    draft.said().response.listing.order = Some((column, backwards));
    Ok(())
}
