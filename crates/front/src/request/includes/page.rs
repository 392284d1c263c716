//! A page: its text is passed on, its elements are executed.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;

use super::document::Document;
use super::environment;
use super::output::{Output, pause};
use super::variables::PageVariables;
use crate::log::error_logs::LineClass;
use crate::request::respond::body::BodySource;
use config::LogLevel;
use ssi::conditions::Conditions;
use ssi::parser::{PageEvent, Parser, Tags};

/// Maximum number of documents, programs and commands that a page includes, with those that included documents include.
pub const MAX_INCLUDES: u32 = 1000;
/// Maximum number of bytes that they add to the page.
pub const MAX_INCLUDED: u64 = 256 << 20;
/// Maximum number of bytes of values that the elements of a page read and write.
const MAX_WORK: usize = 64 << 20;
/// Work for an element, in bytes.
const ELEMENT: usize = 200;
/// Work or text after which other requests of the thread run, in bytes.
const TURN: usize = 256 << 10;
/// Maximum number of lines about one page in the error log.
const MAX_LINES: u32 = 10;

/// The state that a page shares with the documents that it includes.
pub struct SharedPageState {
    /// The document that the client has requested.
    pub document: Document,
    pub output: Rc<Output>,
    pub variables: RefCell<PageVariables>,
    pub now: SystemTime,
    includes: Cell<u32>,
    included: Cell<u64>,
    work: Cell<usize>,
    lines: Cell<u32>,
}

impl SharedPageState {
    /// Counts an inclusion. False: there were too many.
    pub fn count_include(&self) -> bool {
        self.includes.set(self.includes.get().saturating_add(1));
        self.includes.get() <= MAX_INCLUDES
    }

    /// Counts bytes of an included response. False: there were too many.
    pub fn count_included(&self, bytes: usize) -> bool {
        self.included.set(self.included.get().saturating_add(bytes as u64));
        self.included.get() <= MAX_INCLUDED
    }

    /// Counts work. False: the page has used up its work.
    pub fn spend(&self, bytes: usize) -> bool {
        self.work.set(self.work.get().saturating_add(bytes));
        self.work.get() <= MAX_WORK
    }

    /// Whether enough work was done since `before` that other requests should run.
    fn is_turn_over(&self, before: usize) -> bool {
        self.work.get() - before > TURN
    }
}

/// The state of a document while it is executed.
pub struct Page {
    pub whole: Rc<SharedPageState>,
    /// The included document; `None`: the client's.
    pub included: Option<Document>,
    /// Number of documents around this one.
    pub depth: u32,
    pub conditions: Conditions,
    /// `config errmsg`
    pub error_message: Vec<u8>,
    /// `config echomsg`
    pub undefined_echo: Vec<u8>,
    /// `config timefmt`
    pub time_format: Vec<u8>,
    /// `config sizefmt="bytes"`
    pub sizes_in_bytes: bool,
    /// Groups of the last regular expression, `$0` first.
    pub groups: Option<Vec<String>>,
}

impl Page {
    pub fn of_client(document: Document, output: Rc<Output>) -> Page {
        let variables = environment::of(&document).into();
        let now = document.context.received;
        let whole = SharedPageState {
            document,
            output,
            variables,
            now,
            includes: Cell::new(0),
            included: Cell::new(0),
            work: Cell::new(0),
            lines: Cell::new(0),
        };
        Page::new(Rc::new(whole), None, 0)
    }

    pub fn of_included(&self, document: Document) -> Page {
        Page::new(self.whole.clone(), Some(document), self.depth + 1)
    }

    fn new(whole: Rc<SharedPageState>, included: Option<Document>, depth: u32) -> Page {
        let mut page = Page {
            whole,
            included,
            depth,
            conditions: Conditions::default(),
            error_message: Vec::new(),
            undefined_echo: Vec::new(),
            time_format: Vec::new(),
            sizes_in_bytes: false,
            groups: None,
        };
        let rules = &page.document().route.settings.response.includes;
        (page.error_message, page.undefined_echo, page.time_format) = (
            rules.error_message().as_bytes().to_vec(),
            rules.undefined_echo().as_bytes().to_vec(),
            rules.time_format().as_bytes().to_vec(),
        );
        page
    }

    pub fn document(&self) -> &Document {
        self.included.as_ref().unwrap_or(&self.whole.document)
    }

    /// Executes the document whose text is `source`.
    pub async fn run(mut self, mut source: BodySource) -> io::Result<()> {
        let mut parser = Parser::new(self.tags());
        let mut since_pause = 0;
        while let Some(piece) = poll_fn(|cx| source.poll(cx)).await {
            let piece = piece?;
            if !self.count_text(piece.len()) {
                return Ok(());
            }
            self.read(&mut parser, &piece).await;
            // Text without elements, or in a branch that is left out, costs no work.
            since_pause += piece.len();
            if since_pause > TURN {
                since_pause = 0;
                pause().await;
            }
        }
        if self.conditions.printing {
            match parser.end() {
                Ok(rest) => self.whole.output.write(rest).await,
                Err(unfinished) => self.fail(unfinished).await,
            }
        }
        Ok(())
    }

    /// As [`Page::run`], for documents that documents include.
    pub fn run_boxed(self, source: BodySource) -> Pin<Box<dyn Future<Output = io::Result<()>>>> {
        Box::pin(self.run(source))
    }

    fn count_text(&self, bytes: usize) -> bool {
        self.included.is_none() || self.whole.count_included(bytes)
    }

    fn tags(&self) -> Arc<Tags> {
        let rules = &self.document().route.settings.response.includes;
        if rules.start_tag.is_none() && rules.end_tag.is_none() {
            return Arc::default();
        }
        let start = rules.start_tag.as_deref().unwrap_or("<!--#");
        let end = rules.end_tag.as_deref().unwrap_or("-->");
        Tags::new(start.as_bytes(), end.as_bytes()).map(Arc::new).unwrap_or_default()
    }

    async fn read(&mut self, parser: &mut Parser, piece: &Bytes) {
        let mut rest = &piece[..];
        let mut before = self.whole.work.get();
        while let Some(event) = parser.next(&mut rest) {
            match event {
                PageEvent::Text(text) if self.conditions.printing => match text {
                    std::borrow::Cow::Borrowed(part) => self.whole.output.pass(piece, part).await,
                    std::borrow::Cow::Owned(part) => self.whole.output.write(&part).await,
                },
                PageEvent::Text(_) => {}
                PageEvent::Element(element) => {
                    let is_affordable = self.whole.spend(ELEMENT);
                    self.execute(element, is_affordable).await;
                }
            }
            if self.whole.is_turn_over(before) {
                before = self.whole.work.get();
                pause().await;
            }
        }
    }

    /// Writes the error message in place of an element, and the reason to the error log.
    pub async fn fail(&self, why: impl Display) {
        self.report(LogLevel::Error, why);
        if self.whole.spend(self.error_message.len()) {
            self.whole.output.write(&self.error_message).await;
        }
    }

    /// Writes a line to the error log, unless there were too many about this page.
    pub fn report(&self, level: LogLevel, why: impl Display) {
        let lines = self.whole.lines.get().saturating_add(1);
        self.whole.lines.set(lines);
        let Document { context, route, .. } = self.document();
        let class = LineClass { level, module: "include" };
        if lines < MAX_LINES {
            context.log(route, class, &why);
        } else if lines == MAX_LINES {
            context.log(route, class, &format_args!("{why} (further lines about this page are omitted)"));
        }
    }
}
