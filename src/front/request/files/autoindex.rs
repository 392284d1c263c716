//! The list of a folder that has no index, where `Options Indexes` allows it.

use std::cmp::Ordering;
use std::fmt::Write;
use std::fs::{DirEntry, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use chrono::{DateTime, Local};
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use percent_encoding::percent_encode;
use tokio::sync::Semaphore;

use super::METHODS;
use super::lookup::refusal;
use super::visible::View;
use crate::config::response::listing::{Column, Listing};
use crate::front::base::blocking::{self, NoThread};
use crate::front::base::refusal::Refusal;
use crate::front::request::context::RequestContext;
use crate::front::request::respond::body::BodySource;
use crate::front::routing::{Route, once_read, server_name};
use crate::open::Opened;
use crate::path::PATH;
use crate::printable;

/// What is shown of a file.
struct Entry {
    /// As bytes: it need not be UTF-8.
    name: Vec<u8>,
    is_folder: bool,
    size: u64,
    changed: Option<SystemTime>,
}

/// How the list is sorted.
#[derive(Clone, Copy)]
struct Order {
    column: Column,
    backwards: bool,
}

/// ReverseDns of a folder that are looked at: a list of more is of no use to a reader, and every one is a look at the disk.
const MOST: usize = 10_000;
/// Lists that are made at once: whoever asks for many must not get all processors.
const AT_ONCE: usize = 2;

/// Folders are read on threads of their own: nobody else waits for a disk.
static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// Everything that a list is made from.
struct Wanted {
    /// The very folder that was opened, whatever its path leads to by now.
    folder: File,
    path: Vec<u8>,
    listing: Listing,
    order: Order,
    foot: String,
}

/// What was read of a folder.
struct Contents {
    entries: Vec<Entry>,
    /// There is more.
    is_cut: bool,
}

/// So many entries are held against the rules of their places before others get their turn.
const AT_A_TIME: usize = 100;

/// The list of `folder` under `route`'s path, of what this client may enter; the query `C=S;O=D` sorts it.
pub async fn answer(
    context: &RequestContext,
    route: &Route,
    folder: Opened,
    head: &Parts,
) -> Result<Response<BodySource>, Refusal> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, METHODS));
    }
    let listing = route.settings.response.listing.clone();
    let order = Order::of(&listing, head.uri.query().unwrap_or_default());
    let foot = server_name::foot(&context.generation.config, &context.generation.software, route);
    let wanted = Wanted { folder: folder.file, path: route.path.clone(), listing, order, foot };
    let (contents, wanted) = make(move || (wanted.contents(), wanted)).await?;
    let visible = visible(context, route, contents.map_err(refusal)?).await;
    let page = make(move || wanted.page(visible)).await?;
    let mut response = Response::new(BodySource::whole(page.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    Ok(response)
}

/// Without what the client may not enter.
async fn visible(context: &RequestContext, route: &Route, contents: Contents) -> Contents {
    let view = View::of(context, route);
    let Contents { entries: all, is_cut } = contents;
    let mut entries = Vec::with_capacity(all.len());
    for (number, entry) in all.into_iter().enumerate() {
        // What cannot be found out is not shown.
        if once_read(&context.generation.routes, || view.shows(&entry.name, entry.is_folder)).await.unwrap_or(false) {
            entries.push(entry);
        }
        if number % AT_A_TIME == AT_A_TIME - 1 {
            tokio::task::yield_now().await;
        }
    }
    Contents { entries, is_cut }
}

/// The permit goes with the thread: a list that nobody waits for any more counts.
async fn make<T: Send + 'static>(make: impl FnOnce() -> T + Send + 'static) -> Result<T, NoThread> {
    let permit = TURNS.acquire().await.map_err(|_| NoThread)?;
    let make = move || {
        let made = make();
        drop(permit);
        made
    };
    blocking::run("list a folder", make).await
}

impl Wanted {
    fn contents(&self) -> io::Result<Contents> {
        let folder = format!("/proc/self/fd/{}", self.folder.as_raw_fd());
        let mut entries = Vec::new();
        let mut names = std::fs::read_dir(folder)?;
        for entry in names.by_ref().take(MOST) {
            entries.extend(Entry::of(&entry?, &self.listing));
        }
        Ok(Contents { entries, is_cut: names.next().is_some() })
    }

    fn page(&self, mut contents: Contents) -> String {
        contents.entries.sort_by(|a, b| self.order.compare(a, b, &self.listing));
        page(self, &contents.entries, contents.is_cut)
    }
}

impl Entry {
    /// `None` for what is not shown, or has gone meanwhile.
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
            changed: metadata.modified().ok(),
        })
    }
}

impl Order {
    fn of(listing: &Listing, query: &str) -> Order {
        let (column, backwards) = listing.order.unwrap_or((Column::Name, false));
        let mut order = Order { column, backwards };
        for part in query.split([';', '&']) {
            match part {
                "C=N" | "C=D" => order.column = Column::Name,
                "C=M" => order.column = Column::Date,
                "C=S" => order.column = Column::Size,
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
            Column::Name => names(),
            Column::Date => a.changed.cmp(&b.changed).then_with(names),
            Column::Size => a.size.cmp(&b.size).then_with(names),
        };
        let folders = if listing.folders_first == Some(true) { b.is_folder.cmp(&a.is_folder) } else { Ordering::Equal };
        folders.then(if self.backwards { by_column.reverse() } else { by_column })
    }

    /// The query that sorts by `column`; asked for again, the other way round.
    fn link(self, column: Column) -> String {
        let letter = match column {
            Column::Name => 'N',
            Column::Date => 'M',
            Column::Size => 'S',
        };
        let backwards = self.column == column && !self.backwards;
        format!("?C={letter};O={}", if backwards { 'D' } else { 'A' })
    }
}

fn page(wanted: &Wanted, entries: &[Entry], is_cut: bool) -> String {
    let title = escape(&wanted.path);
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Index of {title}</title></head>\n\
         <body><h1>Index of {title}</h1>\n"
    );
    match wanted.listing.fancy {
        Some(true) => table(&mut page, &wanted.path, entries, wanted.order),
        _ => plain(&mut page, &wanted.path, entries),
    }
    if is_cut {
        let _ = writeln!(page, "<p>There is more in this folder than the {MOST} names that a list has room for.</p>");
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
    for (column, title) in [(Column::Name, "Name"), (Column::Date, "Last modified"), (Column::Size, "Size")] {
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

/// `812`, `3.4K`, `17M`
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
