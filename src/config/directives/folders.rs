//! Folders: their slash, and the list of what is in them.

use super::super::draft::Draft;
use super::super::rules::{FileEtag, PathInfo, listing};
use super::{ANYWHERE, Class, Effect, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "DirectorySlash",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Flag(|d, on| d.said().rules.directory_slash = Some(on)),
        default: None,
        because: "On: links in a page would lead astray without it",
        effect: Effect::Reload,
        about: "Whether the path of a folder without a slash at its end is redirected to the one with it; Off answers 404.",
    },
    Row {
        name: "IndexOptions",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("[+|-]option…", 1..=MANY, |d, args| {
            listing::options(d, args);
            Ok(())
        }),
        default: None,
        because: "a plain list of names",
        effect: Effect::Reload,
        about: "How folders are listed where Options Indexes allows it: FancyIndexing (with dates and sizes), FoldersFirst, IgnoreCase, None; others are accepted and change nothing.",
    },
    Row {
        name: "IndexIgnore",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("name…", 1..=MANY, listing::ignore),
        default: None,
        because: "everything but .ht* is shown",
        effect: Effect::Reload,
        about: "Names, with `*` and `?`, that lists of folders do not show.",
    },
    Row {
        name: "IndexOrderDefault",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::INDEXES),
        takes: Takes::Words("Ascending|Descending Name|Date|Size", 2..=2, listing::order),
        default: None,
        because: "by name",
        effect: Effect::Reload,
        about: "How lists of folders are sorted at first.",
    },
    Row {
        name: "AcceptPathInfo",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("On|Off|Default", accept_path_info),
        default: None,
        because: "Default: a file has one path, a script has many",
        effect: Effect::Reload,
        about: "Whether a path may go on behind a file's name (PATH_INFO). On: any file is sent, whatever follows; Off: a CGI script with more \
            behind its name is answered 404, too; Default: scripts and handlers take it, files do not.",
    },
    Row {
        name: "FileETag",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[+|-]INode|MTime|Size…|All|None", 1..=4, file_etag),
        default: None,
        because: "as httpd 2.4: time and size, which are the same on every machine of a site",
        effect: Effect::Reload,
        about: "What the ETag of a file is made from. With `+` and `-` what an outer section says is changed.",
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
    let rules = &mut draft.said().rules;
    rules.file_etag = whole.or(rules.file_etag);
    rules.file_etag_change =
        (more != less).then_some((more, less)).or(rules.file_etag_change.filter(|_| whole.is_none()));
    Ok(())
}

fn accept_path_info(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.said().rules.path_info = Some(match word.to_ascii_lowercase().as_str() {
        "on" => PathInfo::On,
        "off" => PathInfo::Off,
        "default" => PathInfo::Default,
        _ => return Err(format!("expected On, Off or Default, got \"{word}\"")),
    });
    Ok(())
}
