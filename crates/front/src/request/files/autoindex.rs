//! The index of a folder without an index file, where `Options Indexes` allows it (httpd manual, mod_autoindex).
//! A blocking thread reads the folder and writes the page, because the event thread serves all other clients.

use std::cmp::Ordering;
use std::fmt::Write;
use std::fs::{DirEntry, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Local};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use percent_encoding::percent_encode;

use super::METHODS;
use super::lookup::refusal;
use super::visible::FolderView;
use crate::base::blocking::{self, NoThread};
use crate::base::fair::{Claimant, FairQueue, FairTurn};
use crate::base::refusal::Refusal;
use crate::request::body::{Body, Store};
use crate::request::context::RequestContext;
use crate::request::respond::body::{BodySource, FileBody};
use crate::routing::{Route, once_read, server_name};
use crate::workers::spool;
use base::path::PATH;
use base::printable;
use config::Spooling;
use config::response::listing::{Listing, ListingColumn};
use files::open::OpenedFile;

struct Entry {
    /// The name as bytes: file names need not be UTF-8.
    name: Vec<u8>,
    is_folder: bool,
    size: u64,
    changed: Option<SystemTime>,
}

/// The sort order of the index.
#[derive(Clone, Copy)]
struct Order {
    column: ListingColumn,
    backwards: bool,
}

/// Maximum number of names read from a folder: each costs a disk access, and longer lists are useless to readers.
const MOST: usize = 10_000;
/// Limits the number of indexes made at once, from reading the folder to the finished page. Each index holds its
/// entries in memory and occupies a processor.
static TURNS: FairQueue = FairQueue::new(2, 0);

/// The inputs of an index, owned so that another thread can use them.
struct IndexInput {
    /// The folder as opened and checked. The path is not used again, because it may lead elsewhere by now.
    folder: Arc<File>,
    path: Vec<u8>,
    listing: Listing,
    order: Order,
    foot: String,
}

/// The entries read from a folder.
struct Contents {
    entries: Vec<Entry>,
    /// Whether the folder has more names than were read.
    is_cut: bool,
    /// The number of names after which a cut list ends.
    looked: usize,
}

/// Work units for each name, and for each section of `.htaccess` files per name; see [`config::work`].
const NAME: usize = 100;
const SECTION: usize = 2;
/// Time after which the access checks of entries yield to other tasks on the event thread.
const AT_A_TIME: Duration = Duration::from_millis(1);

/// The index of `folder`, with the entries that this client may open. The query sorts it: `C=S;O=D` by size,
/// descending.
pub async fn answer(
    context: &RequestContext,
    route: &Route,
    folder: OpenedFile,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS));
    }
    let listing = route.settings.response.listing.clone();
    let order = Order::of(&listing, head.uri.query().unwrap_or_default());
    let foot = server_name::foot(&context.generation.config, &context.generation.software, route);
    let wanted = IndexInput { folder: folder.file, path: route.path.clone(), listing, order, foot };
    let claimant = Claimant::new(&route.filename, Some(context.remote().ip_addr()));
    let turn = TURNS.turn(claimant, 0).await.ok_or(NoThread)?;
    let ((contents, wanted), turn) = aside(turn, move || (wanted.contents(), wanted)).await?;
    let visible = visible(context, route, contents.map_err(refusal)?).await;
    if visible.is_cut {
        let path = printable::lines(&String::from_utf8_lossy(&route.path));
        context.client.log_error(&format!("the index of {path} is truncated after {} names", visible.looked));
    }
    let spooling = context.generation.config.spooling.clone();
    let (page, _) = aside(turn, move || kept(&wanted.page(visible), &spooling)).await?;
    let mut response = Response::new(match page.map_err(|error| cannot_keep(context, error))? {
        Body::Memory(page) => BodySource::whole(page),
        Body::File(page, length) => {
            FileBody::all(page.into_file().map_err(|error| cannot_keep(context, error))?, length)
        }
    });
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Ok(response)
}

/// Stores a long page in a file, so that pages for many slow clients do not fill the memory.
fn kept(page: &str, spooling: &Spooling) -> io::Result<Body> {
    let mut store = Store::default();
    store.add(page.as_bytes());
    store.close(spooling)
}

fn cannot_keep(context: &RequestContext, error: io::Error) -> Refusal {
    let folder = spool::folder(&context.generation.config.spooling);
    context.client.log_error(&format!("cannot store an index in {} (SpoolDirectory): {error}", folder.display()));
    Refusal::busy()
}

/// The entries of `contents` that the client may open.
async fn visible(context: &RequestContext, route: &Route, contents: Contents) -> Contents {
    let view = FolderView::of(context, route);
    let Contents { entries: all, is_cut, looked: most } = contents;
    let sections: usize = route.files.iter().map(|file| file.section_count()).sum();
    let (mut entries, mut begun) = (Vec::with_capacity(all.len()), Instant::now());
    for (looked, entry) in all.into_iter().enumerate() {
        // When the rules' allowance is used up, the unchecked entries are not shown.
        if !context.spend_work(NAME + SECTION * sections) {
            return Contents { entries, is_cut: true, looked };
        }
        // An entry whose rules cannot be read is hidden.
        if once_read(&context.generation.routes, || view.shows(&entry.name, entry.is_folder)).await.unwrap_or(false) {
            entries.push(entry);
        }
        if begun.elapsed() >= AT_A_TIME {
            tokio::task::yield_now().await;
            begun = Instant::now();
        }
    }
    Contents { entries, is_cut, looked: most }
}

/// Runs `make` on another thread, which holds the turn until it ends, even if the client leaves: an abandoned index
/// still occupies a processor.
async fn aside<T: Send + 'static>(
    turn: FairTurn,
    make: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, FairTurn), NoThread> {
    blocking::run("list a folder", move || (make(), turn)).await
}

impl IndexInput {
    fn contents(&self) -> io::Result<Contents> {
        let folder = format!("/proc/self/fd/{}", self.folder.as_raw_fd());
        let mut entries = Vec::new();
        let mut names = std::fs::read_dir(folder)?;
        for entry in names.by_ref().take(MOST) {
            entries.extend(Entry::of(&entry?, &self.listing));
        }
        Ok(Contents { entries, is_cut: names.next().is_some(), looked: MOST })
    }

    fn page(&self, mut contents: Contents) -> String {
        contents.entries.sort_by(|a, b| self.order.compare(a, b, &self.listing));
        page(self, &contents.entries, contents.is_cut.then_some(contents.looked))
    }
}

impl Entry {
    /// The entry; `None` if `IndexIgnore` hides it or its file is gone.
    fn of(entry: &DirEntry, listing: &Listing) -> Option<Entry> {
        let name = entry.file_name();
        if !listing.shows(&name.to_string_lossy()) {
            return None;
        }
        let metadata = std::fs::metadata(entry.path()).ok()?;
        Some(Entry {
            name: name.as_bytes().to_vec(),
            is_folder: metadata.is_dir(),
            size: metadata.len(),
            changed: metadata.modified().ok().map(::files::facts::formattable),
        })
    }
}

impl Order {
    fn of(listing: &Listing, query: &str) -> Order {
        let (column, backwards) = listing.order.unwrap_or((ListingColumn::Name, false));
        let mut order = Order { column, backwards };
        for part in query.split([';', '&']) {
            match part {
                "C=N" | "C=D" => order.column = ListingColumn::Name,
                "C=M" => order.column = ListingColumn::Date,
                "C=S" => order.column = ListingColumn::Size,
                "O=A" => order.backwards = false,
                "O=D" => order.backwards = true,
                _ => {}
            }
        }
        order
    }

    fn compare(self, a: &Entry, b: &Entry, listing: &Listing) -> Ordering {
        let names = || match listing.ignore_case {
            Some(true) => a.name.to_ascii_lowercase().cmp(&b.name.to_ascii_lowercase()),
            _ => a.name.cmp(&b.name),
        };
        let by_column = match self.column {
            ListingColumn::Name => names(),
            ListingColumn::Date => a.changed.cmp(&b.changed).then_with(names),
            ListingColumn::Size => a.size.cmp(&b.size).then_with(names),
        };
        let folders = if listing.folders_first == Some(true) { b.is_folder.cmp(&a.is_folder) } else { Ordering::Equal };
        folders.then(if self.backwards { by_column.reverse() } else { by_column })
    }

    /// The query that sorts by `column`; reversed if the index is already sorted by that column in ascending order.
    fn link(self, column: ListingColumn) -> String {
        let letter = match column {
            ListingColumn::Name => 'N',
            ListingColumn::Date => 'M',
            ListingColumn::Size => 'S',
        };
        let backwards = self.column == column && !self.backwards;
        format!("?C={letter};O={}", if backwards { 'D' } else { 'A' })
    }
}

/// Writes the page; `cut` is the number of names read from a folder with more names.
fn page(wanted: &IndexInput, entries: &[Entry], cut: Option<usize>) -> String {
    let title = escape(&wanted.path);
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Index of {title}</title></head>\n\
         <body><h1>Index of {title}</h1>\n"
    );
    match wanted.listing.fancy {
        Some(true) => table(&mut page, &wanted.path, entries, wanted.order),
        _ => plain(&mut page, &wanted.path, entries),
    }
    if let Some(names) = cut {
        let _ = writeln!(page, "<p>This list ends after {names} names; the folder has more.</p>");
    }
    page + &wanted.foot + "</body></html>\n"
}

fn plain(page: &mut String, path: &[u8], entries: &[Entry]) {
    page.push_str("<ul>");
    if path != b"/" {
        page.push_str("<li><a href=\"../\">Parent Directory</a></li>\n");
    }
    for entry in entries {
        let _ = writeln!(page, "<li>{}</li>", link(entry));
    }
    page.push_str("</ul>\n");
}

fn table(page: &mut String, path: &[u8], entries: &[Entry], order: Order) {
    page.push_str("<table><tr>");
    for (column, title) in
        [(ListingColumn::Name, "Name"), (ListingColumn::Date, "Last modified"), (ListingColumn::Size, "Size")]
    {
        let _ = write!(page, "<th><a href=\"{}\">{title}</a></th>", order.link(column));
    }
    page.push_str("</tr>\n");
    if path != b"/" {
        page.push_str("<tr><td><a href=\"../\">Parent Directory</a></td><td></td><td>-</td></tr>\n");
    }
    for entry in entries {
        let changed = entry.changed.map(|time| DateTime::<Local>::from(time).format("%Y-%m-%d %H:%M").to_string());
        let size = if entry.is_folder { "-".to_owned() } else { size(entry.size) };
        let _ =
            writeln!(page, "<tr><td>{}</td><td>{}</td><td>{size}</td></tr>", link(entry), changed.unwrap_or_default());
    }
    page.push_str("</table>\n");
}

fn link(entry: &Entry) -> String {
    let slash = if entry.is_folder { "/" } else { "" };
    let target = percent_encode(&entry.name, PATH);
    format!("<a href=\"{target}{slash}\">{}{slash}</a>", escape(&entry.name))
}

/// A size in a few characters: `812`, `3.4K`, `17M`.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["", "K", "M", "G"] {
        if value < 1000.0 {
            let digits = usize::from(!unit.is_empty() && value < 10.0);
            return format!("{value:.digits$}{unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.1}T")
}

fn escape(text: &[u8]) -> String {
    let text = printable::lines(&String::from_utf8_lossy(text));
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_short() {
        for (bytes, expected) in
            [(0, "0"), (812, "812"), (1000, "1.0K"), (3482, "3.4K"), (17 << 20, "17M"), (5 << 40, "5.0T")]
        {
            assert_eq!(super::size(bytes), expected);
        }
    }
}
