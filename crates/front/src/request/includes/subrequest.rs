//! `include`, and the files that `fsize` and `flastmod` look up: requests of a page to its own site, with its access
//! rules.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::future::poll_fn;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderMap, Response, Uri};
use percent_encoding::percent_encode;

use super::attributes::{decoded, unknown, with_values};
use super::document::Document;
use super::environment;
use super::looked_up::LookedUpFile;
use super::page::{MAX_INCLUDED, MAX_INCLUDES, Page};
use super::to_parse;
use super::values::{Fault, failed, fault};
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::request::body::RequestBody;
use crate::request::context::RequestContext;
use crate::request::files::{LookupResult, content_headers};
use crate::request::filters::{self, chosen::type_of};
use crate::request::internal_redirect::UNSENT;
use crate::request::respond::body::BodySource;
use crate::request::{self, MAX_REDIRECTS, rewrite};
use crate::routing::Route;
use base::path::PATH;
use config::Phase;
use files::facts::formattable;
use ssi::parser::Argument;
use ssi::substitute::Undefined;

/// A request of a page.
pub struct Subrequest {
    pub context: Rc<RequestContext>,
    pub head: Parts,
}

impl Page {
    pub async fn include(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        let mut failed: Option<Fault> = None;
        for (name, value) in with_values(arguments) {
            if !matches!(name, b"file" | b"virtual" | b"onerror") {
                return Err(unknown(name));
            }
            let value = self.substituted(&decoded(value), Undefined::Empty)?;
            let done = match (name, failed.is_some()) {
                (b"file", _) => self.include_file(&value).await,
                (b"virtual", false) | (b"onerror", true) => self.include_virtual(&value).await,
                _ => continue,
            };
            failed = match (done, failed) {
                (Ok(()), before) => {
                    before.into_iter().for_each(|why| self.note(why));
                    None
                }
                (Err(why), None) => Some(why),
                (Err(why), Some(before)) => {
                    self.note(before);
                    return Err(why);
                }
            };
        }
        failed.map_or(Ok(()), Err)
    }

    async fn include_virtual(&mut self, value: &[u8]) -> Result<(), Fault> {
        let mut subrequest = self.subrequest(self.target(value)?)?;
        let refused = |refusal: Refusal| failed(&value.escape_ascii(), refusal.status);
        let mut body = RequestBody::none();
        if let Some(kept) = self.whole.document.context.kept_body() {
            let Parts { method, headers, .. } = &self.whole.document.context.head;
            (subrequest.head.method, body) = (method.clone(), RequestBody::of(kept));
            for name in [CONTENT_TYPE, CONTENT_LENGTH] {
                headers.get(&name).map(|value| subrequest.head.headers.insert(&name, value.clone()));
            }
        }
        if !self.may_exec() {
            // The rules run again for the response: a flag END during the lookup does not stop them.
            let before = subrequest.context.set_aside();
            let found = request::look_up(&subrequest.context, &subrequest.head).await;
            subrequest.context.restore(before);
            self.check_type(value, &found.map_err(refused)?)?;
        }
        let answer = request::reach(&subrequest.context, &subrequest.head, &mut body).await.map_err(refused)?;
        let (response, head) = (answer.0, answer.1.into_owned());
        self.deliver(value, Subrequest { head, ..subrequest }, response).await
    }

    async fn include_file(&mut self, value: &[u8]) -> Result<(), Fault> {
        let (subrequest, route) = self.file_request(value).await?;
        let refused = |refusal: Refusal| failed(&value.escape_ascii(), refusal.status);
        if !self.may_exec() {
            let found = request::find_file(&subrequest.context, &subrequest.head, &route).await.map_err(refused)?;
            self.check_type(value, &found)?;
        }
        let mut body = RequestBody::none();
        let answer =
            request::reach_at(&subrequest.context, &subrequest.head, route, &mut body).await.map_err(refused)?;
        let (response, head) = (answer.0, answer.1.into_owned());
        self.deliver(value, Subrequest { head, ..subrequest }, response).await
    }

    /// Sends the response to a subrequest as a part of the page.
    pub async fn deliver(
        &mut self,
        value: &[u8],
        subrequest: Subrequest,
        mut response: Response<BodySource>,
    ) -> Result<(), Fault> {
        if response.status().is_redirection() {
            return Err(fault(format!("{}: a redirection cannot be included", value.escape_ascii())));
        }
        let behind;
        (response, behind) = filters::apply_to_part(&subrequest.context, response).await;
        let done = match to_parse(&subrequest.context, &mut response) {
            Some(file) => {
                let Subrequest { context, head } = subrequest;
                let Some(route) = context.route().clone() else { return Ok(()) };
                // As in httpd, the query of the included document replaces that of the page from here on.
                if let Some(query) = target::query(&head) {
                    environment::set_query(&mut self.whole.variables.borrow_mut(), query);
                }
                let document = Document { context: context.clone(), head, route, file };
                let page = self.of_included(document);
                page.run_boxed(response.into_body()).await
            }
            None => self.pass_on(behind.apply(&subrequest.context, response).into_body()).await,
        };
        // A part of the response is sent already, so there is no place for an error message.
        if let Err(error) = done {
            self.note(format_args!("include: the end of {} is missing: {error}", value.escape_ascii()));
        }
        Ok(())
    }

    pub async fn deliver_plain(&self, source: BodySource) {
        if let Err(error) = self.pass_on(source).await {
            self.note(format_args!("exec: the page lacks the end of the output of the command: {error}"));
        }
    }

    async fn pass_on(&self, mut source: BodySource) -> std::io::Result<()> {
        while let Some(piece) = poll_fn(|cx| source.poll(cx)).await {
            let piece = piece?;
            if !self.whole.count_included(piece.len()) {
                let why = format!("the included documents of a page have more than {} MB", MAX_INCLUDED >> 20);
                return Err(std::io::Error::other(why));
            }
            self.whole.output.pass(&piece, &piece).await;
        }
        Ok(())
    }

    /// The size and time of a file, for `fsize` and `flastmod`.
    pub async fn look_up_file(&self, name: &[u8], value: &[u8]) -> Result<LookedUpFile, Fault> {
        let refused = |refusal: Refusal| failed(&value.escape_ascii(), refusal.status);
        let found = match name {
            b"virtual" => {
                let Subrequest { context, head } = self.subrequest(self.target(value)?)?;
                request::look_up(&context, &head).await
            }
            b"file" => {
                let (Subrequest { context, head }, route) = self.file_request(value).await?;
                request::find_file(&context, &head, &route).await
            }
            other => return Err(unknown(other)),
        };
        let found = found.map_err(refused)?;
        if found.file().is_some_and(|route| is_left_to_perl(route)) {
            return Err(fault(format!("the access to {} is decided by Perl handlers", value.escape_ascii())));
        }
        match found {
            LookupResult::File(_, opened) => Ok(LookedUpFile { size: opened.size, modified: opened.modified }),
            LookupResult::Handled(route) => self.look_at_program(&route.filename).await,
            _ => Err(fault(format!("{} is no file", value.escape_ascii()))),
        }
    }

    async fn look_at_program(&self, file: &Path) -> Result<LookedUpFile, Fault> {
        let file = file.to_owned();
        let found = crate::base::blocking::run("look at a file", move || std::fs::metadata(file)).await;
        let found = found.ok().and_then(Result::ok).filter(std::fs::Metadata::is_file);
        let found = found.and_then(|found| Some((found.len(), formattable(found.modified().ok()?))));
        let (size, modified) = found.ok_or_else(|| fault("there is no such file"))?;
        Ok(LookedUpFile { size, modified })
    }

    /// Whether `Options` of the document allow programs whose type is not text, and `exec`.
    pub fn may_exec(&self) -> bool {
        self.document().route.settings.options.includes_exec
    }

    /// With `Options IncludesNOEXEC`, only documents of a text type are included.
    fn check_type(&self, value: &[u8], found: &LookupResult) -> Result<(), Fault> {
        let Some(route) = found.file() else { return Ok(()) };
        let described: HeaderMap =
            content_headers(&self.document().context.generation.config, route, &self.document().head);
        if !described.contains_key(CONTENT_TYPE) || type_of(&described).starts_with("text/") {
            return Ok(());
        }
        Err(fault(format!("{} has no text type, and Options IncludesNOEXEC applies", value.escape_ascii())))
    }

    /// A request of the page with this target.
    pub fn subrequest(&self, target: Uri) -> Result<Subrequest, Fault> {
        if self.depth as usize >= MAX_REDIRECTS {
            return Err(fault(format!("documents include each other more than {MAX_REDIRECTS} times")));
        }
        if !self.whole.count_include() {
            return Err(fault(format!("the page includes more than {MAX_INCLUDES} documents")));
        }
        let variables = {
            let variables = self.whole.variables.borrow();
            if !self.whole.spend(variables.memory()) {
                return Err(fault("the page's elements exceed the work limit of one request"));
            }
            variables.of_program()
        };
        let context = self.document().context.part();
        context.inherit_variables(variables);
        let mut head = context.head.clone();
        head.uri = target;
        if let (None, Some(host)) = (head.headers.get(HOST), self.document().head.headers.get(HOST)) {
            head.headers.insert(HOST, host.clone());
        }
        Ok(Subrequest { context, head })
    }

    /// The target of a URL, which may be relative to the document.
    pub fn target(&self, value: &[u8]) -> Result<Uri, Fault> {
        let sent = percent_encode(value, UNSENT).to_string();
        let path = match value.first() {
            Some(b'/') => sent,
            _ => format!("{}{sent}", percent_encode(folder_of(&self.document().route.path), PATH)),
        };
        let target = Uri::builder().path_and_query(path.as_str()).build();
        target.map_err(|_| fault(format!("{} is no URL of this site", value.escape_ascii())))
    }

    /// A request for a file in the document's folder or below.
    async fn file_request(&self, value: &[u8]) -> Result<(Subrequest, Rc<Route>), Fault> {
        let below = below(value).ok_or_else(|| fault(format!("{} leads out of the folder", value.escape_ascii())))?;
        let document = self.document();
        let (path, _) = document.split_path();
        let file = PathBuf::from(OsStr::from_bytes(&[folder_of(document.filename()), &below].concat()));
        let path = [folder_of(path), &below].concat();
        let target = Uri::builder().path_and_query(percent_encode(&path, PATH).to_string()).build();
        let subrequest = self.subrequest(target.map_err(|_| fault("the name is no path"))?)?;
        let generation = &subrequest.context.generation;
        let at = || generation.routes.at_file(&generation.config, &document.route, &file, Some(path.clone()));
        let refused = |refusal: Refusal| failed(&value.escape_ascii(), refusal.status);
        let route = generation.wait_for(at).await.map_err(refused)?;
        let Subrequest { context, head } = subrequest;
        let (head, route) = in_place(&context, head, route).await.map_err(refused)?;
        Ok((Subrequest { context, head }, route))
    }

    /// Whether the client may access this URL, whatever is there.
    pub async fn is_accessible(&self, url: &[u8]) -> Result<bool, Fault> {
        let Subrequest { context, head } = self.subrequest(self.target(url)?)?;
        Ok(rewrite::is_accessible(&context, &head).await)
    }
}

/// Applies the `<If>` sections and the rules of the folder that `route` leads to.
async fn in_place(context: &RequestContext, head: Parts, route: Rc<Route>) -> Result<(Parts, Rc<Route>), Refusal> {
    context.be_subrequest(true);
    request::place::settle_all(context, &head, &route).await?;
    let route = request::place::choose(context, &head, route).await?;
    let (head, route) = request::dispatch::stay(context, Cow::Owned(head), route).await?;
    Ok((head.into_owned(), route))
}

/// Whether Perl handlers decide about the access to a place. Only a worker can run these.
fn is_left_to_perl(route: &Route) -> bool {
    route.settings.needs_perl_for_users() || !route.settings.phases.of(Phase::Access).is_empty()
}

/// The part of a path up to its last slash.
fn folder_of(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    path.get(..end).unwrap_or_default()
}

/// A relative path without `.` and `..`; `None` if it is absolute, empty, or leads upward.
fn below(value: &[u8]) -> Option<Vec<u8>> {
    let mut names: Vec<&[u8]> = Vec::new();
    if value.is_empty() || value.starts_with(b"/") || value.contains(&0) {
        return None;
    }
    for name in value.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join(&b'/')).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_below_the_folder_of_its_document() {
        for (value, expected) in [
            ("sub/b.txt", Some("sub/b.txt")),
            ("./a//b/../c", Some("a/c")),
            ("../a", None),
            ("a/../../b", None),
            ("/a", None),
            ("", None),
            ("a/..", None),
            ("a\0b", None),
        ] {
            assert_eq!(below(value.as_bytes()).as_deref(), expected.map(str::as_bytes), "{value}");
        }
    }
}
