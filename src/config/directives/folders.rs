//! Folders: their slash, and the list of what is in them.

use super::super::draft::Draft;
use super::super::rules::{FileEtag, listing};
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
        name: "FileETag",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[INode] [MTime] [Size]|All|None", 1..=3, file_etag),
        default: None,
        because: "as httpd 2.4: time and size, which are the same on every machine of a site",
        effect: Effect::Reload,
        about: "What the ETag of a file is made from.",
    },
];

fn file_etag(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut etag = FileEtag::default();
    for arg in args {
        match arg.trim_start_matches('+').to_ascii_lowercase().as_str() {
            "inode" => etag.inode = true,
            "mtime" => etag.mtime = true,
            "size" => etag.size = true,
            "all" => etag = FileEtag { inode: true, mtime: true, size: true },
            "none" => etag = FileEtag::default(),
            _ => return Err(format!("expected INode, MTime, Size, All or None, got \"{arg}\"")),
        }
    }
    draft.said().rules.file_etag = Some(etag);
    Ok(())
}
