//! A file as a request's response, or as a part of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::at::LocatedRequest;
use super::phases::OK;
use files::open::{DiskPatience, Links, PathWithLinks, root};

/// Number of bytes of a file copied at once.
const PIECE: usize = 32 * 1024;
/// Number of bytes of a file that filters get at once; large enough for most files.
const FILTERED_PIECE: u64 = 1024 * 1024;

/// Outputs a file. Returns the status.
pub(super) fn copy_file(at: LocatedRequest<'_>, path: &[u8]) -> i32 {
    let file = Path::new(OsStr::from_bytes(path));
    let root = root(&at.site.config, apache::requested(at.request).host, file);
    let way = PathWithLinks { root, path: file, links: Links::of(at.settings().options) };
    match at.site.opener.open(way, DiskPatience::Unlimited) {
        Ok(opened) if opened.kind.is_file() && apache::is_filtered(at.request) => {
            copy_filtered(at.request, &opened.file)
        }
        Ok(opened) if opened.kind.is_file() => copy(at.request, &opened.file),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            apache::log_line(apache::Level::Error, &format!("File does not exist: {}", file.display()));
            404
        }
        _ => 403,
    }
}

/// Outputs a file through filters; a small file in one piece.
fn copy_filtered(request: u64, file: &File) -> i32 {
    apache::begin_body(request);
    let mut piece = Vec::new();
    loop {
        piece.clear();
        match file.take(FILTERED_PIECE).read_to_end(&mut piece) {
            Ok(length) if length as u64 == FILTERED_PIECE => apache::output(&piece),
            Ok(_) => {
                apache::end_filtered_file(request, &piece);
                return OK;
            }
            Err(_) => return 403,
        }
    }
}

fn copy(request: u64, mut file: &File) -> i32 {
    apache::begin_body(request);
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return OK,
            Ok(length) => apache::output(&piece[..length]),
            Err(_) => return 403,
        }
    }
}
