//! Folders: trailing slash, index, path info, ETag.

use crate::draft::Draft;
use crate::model::response::{FileEtag, PathInfo};
use crate::table::row::{FILE_INFO, INDEXES, Row, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_dir.c",
    flag("DirectorySlash", INDEXES, |d, on| d.settings().response.directory_slash = Some(on))
        .because("On: otherwise relative links in the page would be wrong"),
    "Whether a request for a folder without a trailing slash is redirected to the path with it; Off answers 404.",
    word("DirectoryIndexRedirect", INDEXES, "On|Off|permanent|temp|seeother|status", index_redirect)
        .default("Off", "httpd's default: clients need not know the name of the index"),
    "Whether a request for a folder is redirected to its index, in place of a response with it. On and temp: status \
     302, permanent: 301, seeother: 303, or a status from 300 to 399.",
    flag("DirectoryCheckHandler", INDEXES, |d, on| d.settings().response.directory_check_handler = Some(on))
        .default("Off", "httpd 2.4's default"),
    "On: a folder with a handler by SetHandler has no index. Off: the index comes first.",
    word("FallbackResource", INDEXES, "disabled|/url-path", fallback_resource)
        .because("missing files are answered 404"),
    "URL path of this server that handles requests for missing files and for folders without an index, with the \
     request's method, query and body. Perl handlers decide for themselves which paths exist.",
    word("AcceptPathInfo", FILE_INFO, "On|Off|Default", accept_path_info)
        .of("core.c")
        .because("Default: files have no path info, scripts may"),
    "Whether a path may continue after the name of a file (PATH_INFO). On: any file accepts it; Off: no file, nor CGI \
     script, accepts it (404); Default: scripts and handlers accept it, files do not.",
    words("FileETag", FILE_INFO, "[+|-]INode|MTime|Size…|All|None", 1..=4, file_etag)
        .of("core.c")
        .because("httpd 2.4's default: time and size, which are the same on every machine of a site"),
    "Parts of a file's ETag. `+` and `-` change the outer setting.",
];

/// `FileETag [+|-]part…`. With `+` and `-` the outer setting is changed, otherwise replaced.
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
    let rules = &mut draft.settings().response;
    rules.file_etag = whole.or(rules.file_etag);
    rules.file_etag_change =
        (more != less).then_some((more, less)).or(rules.file_etag_change.filter(|_| whole.is_none()));
    Ok(())
}

/// `DirectoryIndexRedirect On|Off|permanent|temp|seeother|status`
fn index_redirect(draft: &mut Draft, word: &str) -> Result<(), String> {
    let status = match word.to_ascii_lowercase().as_str() {
        "off" => None,
        "on" | "temp" => Some(302),
        "permanent" => Some(301),
        "seeother" => Some(303),
        number => {
            let status = number.parse().ok().filter(|status| (300..400).contains(status));
            let expected =
                || format!("expected On, Off, permanent, temp, seeother or a status from 300 to 399, got \"{word}\"");
            Some(status.ok_or_else(expected)?)
        }
    };
    draft.settings().response.index_redirect = Some(status);
    Ok(())
}

/// `FallbackResource disabled|/path`
fn fallback_resource(draft: &mut Draft, path: &str) -> Result<(), String> {
    let disabled = path.eq_ignore_ascii_case("disabled");
    if !disabled && !path.starts_with('/') {
        return Err(format!("expected disabled or a path that begins with /, got \"{path}\""));
    }
    draft.settings().response.fallback = Some((!disabled).then(|| path.into()));
    Ok(())
}

fn accept_path_info(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.settings().response.path_info = Some(match word.to_ascii_lowercase().as_str() {
        "on" => PathInfo::On,
        "off" => PathInfo::Off,
        "default" => PathInfo::Default,
        _ => return Err(format!("expected On, Off or Default, got \"{word}\"")),
    });
    Ok(())
}
