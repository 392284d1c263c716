//! The index of a folder without an index file, where `Options Indexes` allows it (httpd manual, mod_autoindex).
//! A blocking thread reads the folder and writes the page, because the event thread serves all other clients.

mod around;
mod entries;
mod order;
mod page;
mod rows;
mod table;
mod text;

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::METHODS;
use super::conditional::Validators;
use super::lookup::refusal;
use super::send::fields_of;
use super::visible::FolderView;
use crate::base::blocking::{self, NoThread};
use crate::base::fair::{Claimant, FairQueue, FairTurn};
use crate::base::refusal::Refusal;
use crate::request::body::{Body, Store};
use crate::request::context::RequestContext;
use crate::request::respond::body::{BodySource, FileBody};
use crate::routing::{Route, bytes, once_read, server_name};
use crate::workers::spool;
use around::TextAround;
use base::printable;
use config::Spooling;
use config::response::listing::{Listing, ListingOption, MatchAllowance};
use entries::{FolderContents, IndexEntry};
use files::mime::describe;
use files::open::{Links, OpenedFile};
use order::IndexQuery;

/// Maximum number of names read from a folder: each costs a disk access, and longer lists are useless to readers.
const MAX_NAMES: usize = 10_000;
/// Limits the number of indexes made at once, from reading the folder to the finished page. Each index holds its
/// entries in memory and occupies a processor.
static TURNS: FairQueue = FairQueue::new(2, 0);

/// The inputs of an index, owned so that another thread can use them.
struct IndexInput {
    /// The folder as opened and checked. The path is not used again, because it may lead elsewhere by now.
    folder: Arc<File>,
    /// URL path of the folder.
    path: Vec<u8>,
    /// File system path of the folder, with its final slash.
    filename: Vec<u8>,
    /// Links that entries may be.
    links: Links,
    listing: Listing,
    query: IndexQuery,
    /// Texts above and below the list.
    around: (Option<TextAround>, Option<TextAround>),
    foot: String,
    /// Remaining work for comparisons with patterns.
    work: MatchAllowance,
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
    let listing = &route.settings.response.listing;
    let tracked = listing.has(ListingOption::TrackModified);
    let validators = tracked.then(|| Validators::of(&folder, route.settings.response.file_etag));
    let content_type = content_type(listing);
    let around = (
        around::text(context, route, head, listing.header.as_deref()).await,
        around::text(context, route, head, listing.readme.as_deref()).await,
    );
    let page = page(context, route, input(context, route, folder, head, around)).await?;
    let mut response = Response::new(match page {
        Body::Memory(page) => BodySource::whole(page),
        Body::File(page, length) => {
            FileBody::all(page.into_file().map_err(|error| cannot_keep(context, error))?, length)
        }
    });
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.headers_mut().extend(validators.iter().flat_map(fields_of));
    Ok(response)
}

fn input(
    context: &RequestContext,
    route: &Route,
    folder: OpenedFile,
    head: &Parts,
    around: (Option<TextAround>, Option<TextAround>),
) -> IndexInput {
    let mut listing = route.settings.response.listing.clone();
    let query = match listing.has(ListingOption::IgnoreClient) {
        true => IndexQuery::of(&mut listing, ""),
        false => IndexQuery::of(&mut listing, head.uri.query().unwrap_or_default()),
    };
    let mut filename = bytes(&route.filename).to_vec();
    if filename.last() != Some(&b'/') {
        filename.push(b'/');
    }
    IndexInput {
        folder: folder.file,
        path: route.path.clone(),
        filename,
        links: Links::of(route.settings.options),
        listing,
        query,
        around,
        foot: server_name::foot(&context.generation.config, &context.generation.software, route),
        work: MatchAllowance::default(),
    }
}

async fn page(context: &RequestContext, route: &Route, wanted: IndexInput) -> Result<Body, Refusal> {
    let claimant = Claimant::new(&route.filename, Some(context.remote().ip_addr()));
    let turn = TURNS.turn(claimant, 0).await.ok_or(NoThread)?;
    let ((contents, wanted), turn) = aside(turn, move || (wanted.contents(), wanted)).await?;
    let visible = visible(context, route, &wanted.listing, contents.map_err(refusal)?).await;
    let spooling = context.generation.config.spooling.clone();
    let made = move || {
        let made = wanted.page(visible);
        (kept(&made.html, &spooling), made.cut)
    };
    let ((page, cut), _) = aside(turn, made).await?;
    if let Some(names) = cut {
        let path = printable::lines(&String::from_utf8_lossy(&route.path));
        context.client.log_error(&format!("the index of {path} is truncated after {names} names"));
    }
    page.map_err(|error| cannot_keep(context, error))
}

/// `Type` and `Charset` of `IndexOptions`.
fn content_type(listing: &Listing) -> HeaderValue {
    let kind = listing.content_type.as_deref().unwrap_or("text/html");
    let charset = listing.charset.as_deref().unwrap_or("ISO-8859-1");
    let text = if charset.is_empty() { kind.to_owned() } else { format!("{kind};charset={charset}") };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("text/html"))
}

/// Stores a long page in a file, so that pages for many slow clients do not fill the memory.
fn kept(page: &[u8], spooling: &Spooling) -> io::Result<Body> {
    let mut store = Store::default();
    store.add(page);
    store.close(spooling)
}

fn cannot_keep(context: &RequestContext, error: io::Error) -> Refusal {
    let folder = spool::folder(&context.generation.config.spooling);
    context.client.log_error(&format!("cannot store an index in {} (SpoolDirectory): {error}", folder.display()));
    Refusal::busy()
}

/// The entries of `contents` that the client may open. With `ShowForbidden` the others are shown too, except those that
/// no client may see.
async fn visible(
    context: &RequestContext,
    route: &Route,
    listing: &Listing,
    contents: FolderContents,
) -> FolderContents {
    let view = FolderView::of(context, route);
    // Titles are contents, which only a request of the file may get.
    let may_be_read = !view.has_rules_of_requests();
    let shows_forbidden = listing.has(ListingOption::ShowForbidden);
    let FolderContents { entries: all, is_cut, looked: most } = contents;
    let sections: usize = route.files.iter().map(|file| file.section_count()).sum();
    let (mut entries, mut begun) = (Vec::with_capacity(all.len()), Instant::now());
    for (looked, mut entry) in all.into_iter().enumerate() {
        // When the rules' allowance is used up, the unchecked entries are not shown.
        if !context.spend_work(NAME + SECTION * sections) {
            return FolderContents { entries, is_cut: true, looked };
        }
        // An entry whose rules cannot be read is hidden.
        let shown = once_read(&context.generation.routes, || view.shows(&entry.name, entry.is_folder)).await;
        entry.may_be_read = may_be_read && entry.may_be_read && shown.as_ref().is_ok_and(|shown| *shown);
        if shown.unwrap_or(false) || shows_forbidden {
            describe_entry(context, route, &mut entry);
            entries.push(entry);
        }
        if begun.elapsed() >= AT_A_TIME {
            tokio::task::yield_now().await;
            begun = Instant::now();
        }
    }
    FolderContents { entries, is_cut, looked: most }
}

/// Media type and encoding of an entry, by the rules of the folder.
fn describe_entry(context: &RequestContext, route: &Route, entry: &mut IndexEntry) {
    if entry.is_folder {
        return;
    }
    let name = String::from_utf8_lossy(&entry.name);
    let described = describe(&context.generation.config, &route.settings, std::path::Path::new(&*name));
    (entry.mime, entry.encoding) = (described.mime, described.encoding);
}

/// Runs `make` on another thread, which holds the turn until it ends, even if the client leaves: an abandoned index
/// still occupies a processor.
async fn aside<T: Send + 'static>(
    turn: FairTurn,
    make: impl FnOnce() -> T + Send + 'static,
) -> Result<(T, FairTurn), NoThread> {
    blocking::run("list a folder", move || (make(), turn)).await
}
