//! Splits a document into text and elements, in pieces of any size.
//!
//! ```text
//!   text ── start tag ──▶ name ──▶ between ──▶ argument ──▶ value ─┐
//!     ▲                    │          ▲  │                         │
//!     └──── end tag ───────┴──────────┼──┘                         │
//!                                     └────────────────────────────┘
//! ```

use std::borrow::Cow;
use std::fmt::{Display, Formatter};
use std::sync::Arc;

mod start;

use start::StartTag;

/// Longest element, in bytes. The rest of a longer one is read up to its end, and the element is an error.
pub const MAX_ELEMENT: usize = 64 << 10;

/// Maximum number of characters of a name in a message.
const MAX_SHOWN: usize = 64;

/// `SSIStartTag` and `SSIEndTag`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    start: StartTag,
    end: Vec<u8>,
}

impl Tags {
    /// Tags of a site. `None`: one of them is empty.
    pub fn new(start: &[u8], end: &[u8]) -> Option<Tags> {
        (!start.is_empty() && !end.is_empty()).then(|| Tags { start: StartTag::new(start), end: end.to_vec() })
    }
}

impl Default for Tags {
    fn default() -> Tags {
        Tags { start: StartTag::new(b"<!--#"), end: b"-->".to_vec() }
    }
}

/// A part of a document.
#[derive(Debug, PartialEq, Eq)]
pub enum PageEvent<'a> {
    /// Text that is sent as it is.
    Text(Cow<'a, [u8]>),
    /// An element, which the caller executes.
    Element(Element),
}

/// `<!--#name argument="value" … -->`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// The name, in lower case.
    pub name: Vec<u8>,
    /// The arguments, in the order of the document.
    pub arguments: Vec<Argument>,
    /// The reason why the element cannot be executed.
    pub fault: Option<&'static str>,
}

/// An argument of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    /// The name, in lower case.
    pub name: Vec<u8>,
    /// The value without its quotes; `None`: there is no `=`.
    pub value: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    Name,
    Between,
    ArgumentName,
    /// After an argument's name, before `=`.
    Equals,
    /// After `=`.
    BeforeValue,
    /// In a value with this quotation mark, or without one.
    Value(Option<u8>),
    /// After a backslash in a value with this quotation mark.
    Escape(u8),
}

/// The parser of one document.
#[derive(Debug)]
pub struct Parser {
    tags: Arc<Tags>,
    state: State,
    /// Number of bytes of the start tag, or within an element of the end tag, that have matched.
    matched: usize,
    element: Element,
    /// Bytes of the current element so far.
    length: usize,
}

impl Parser {
    /// A parser at the start of a document.
    pub fn new(tags: Arc<Tags>) -> Parser {
        Parser { tags, state: State::Text, matched: 0, element: Element::default(), length: 0 }
    }

    /// The next part of the document; `input` is shortened by what was read. `None`: the input is used up.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<PageEvent<'a>> {
        while !input.is_empty() {
            let event = self.read_on(input);
            if event.is_some() {
                return event;
            }
        }
        None
    }

    fn read_on<'a>(&mut self, input: &mut &'a [u8]) -> Option<PageEvent<'a>> {
        if self.state == State::Text {
            let text = self.tags.start.find(&mut self.matched, input);
            if self.matched == self.tags.start.len() {
                (self.matched, self.length, self.state) = (0, 0, State::Name);
                self.element = Element::default();
            }
            if let Some(text) = text {
                return Some(PageEvent::Text(text));
            }
        }
        while self.state != State::Text {
            let (byte, rest) = input.split_first()?;
            *input = rest;
            if self.read(*byte) {
                self.state = State::Text;
                self.matched = 0;
                return Some(PageEvent::Element(std::mem::take(&mut self.element)));
            }
        }
        None
    }

    /// The end of the document: text that looked like the beginning of a start tag, or whether an element has no end.
    pub fn end(&self) -> Result<&[u8], UnfinishedElement> {
        match self.state {
            State::Text => Ok(self.tags.start.part(self.matched)),
            _ => Err(UnfinishedElement {
                name: String::from_utf8_lossy(&self.element.name).chars().take(MAX_SHOWN).collect(),
                end: String::from_utf8_lossy(&self.tags.end).into_owned(),
            }),
        }
    }

    /// Reads a byte of an element. Returns whether the element ends with it.
    fn read(&mut self, byte: u8) -> bool {
        self.length += 1;
        if self.length > MAX_ELEMENT {
            self.element.fault = Some("the element is longer than 64 KB");
        }
        match self.state {
            State::Name => self.read_name(byte),
            State::Between => self.read_between(byte),
            _ => {
                self.read_argument(byte);
                false
            }
        }
    }

    fn read_name(&mut self, byte: u8) -> bool {
        if self.tags.end.get(self.matched) == Some(&byte) {
            self.matched += 1;
            if self.matched < self.tags.end.len() {
                return false;
            }
            self.end_name();
            return true;
        }
        for at in 0..std::mem::take(&mut self.matched) {
            self.push_name(self.tags.end.get(at).copied().unwrap_or_default());
        }
        if is_space(byte) {
            self.end_name();
            self.state = State::Between;
        } else if self.tags.end.first() == Some(&byte) {
            return self.read_name(byte);
        } else {
            self.push_name(byte);
        }
        false
    }

    fn push_name(&mut self, byte: u8) {
        if self.element.fault.is_none() {
            self.element.name.push(byte.to_ascii_lowercase());
        }
    }

    fn end_name(&mut self) {
        if self.element.name.is_empty() {
            self.element.fault = Some("the element has no name");
        }
    }

    fn read_between(&mut self, byte: u8) -> bool {
        if self.tags.end.get(self.matched) == Some(&byte) && (self.matched > 0 || !is_space(byte)) {
            self.matched += 1;
            return self.matched == self.tags.end.len();
        }
        let matched = std::mem::take(&mut self.matched);
        if matched == 0 && is_space(byte) {
            return false;
        }
        // An argument may begin as the end tag does.
        self.begin_argument();
        for at in 0..matched {
            self.read_argument(self.tags.end.get(at).copied().unwrap_or_default());
        }
        self.read_argument(byte);
        false
    }

    fn begin_argument(&mut self) {
        if self.element.fault.is_none() {
            self.element.arguments.push(Argument::default());
        }
        self.state = State::ArgumentName;
    }

    fn read_argument(&mut self, byte: u8) {
        let is_first = self.element.arguments.last().is_some_and(|argument| argument.name.is_empty());
        self.state = match self.state {
            State::Text | State::Name | State::Between if is_space(byte) => State::Between,
            State::Text | State::Name | State::Between => {
                self.begin_argument();
                return self.read_argument(byte);
            }
            State::ArgumentName if is_first && matches!(byte, b'"' | b'\'' | b'`') => {
                self.element.fault = Some("a value has no name");
                State::Value(Some(byte))
            }
            State::ArgumentName if byte != b'=' && !is_space(byte) => {
                self.push(|argument| argument.name.push(byte.to_ascii_lowercase()));
                State::ArgumentName
            }
            State::ArgumentName | State::Equals if byte == b'=' => {
                if is_first {
                    self.element.fault = Some("a value has no name");
                }
                State::BeforeValue
            }
            State::ArgumentName => State::Equals,
            State::Equals | State::BeforeValue if is_space(byte) => self.state,
            State::Equals => {
                self.state = State::Between;
                // The byte belongs to the next argument, or to the end tag.
                self.read_between(byte);
                return;
            }
            State::BeforeValue => {
                let quote = matches!(byte, b'"' | b'\'' | b'`').then_some(byte);
                self.push(|argument| argument.value = Some(quote.is_none().then_some(byte).into_iter().collect()));
                State::Value(quote)
            }
            State::Value(Some(quote)) if byte == quote => State::Between,
            State::Value(Some(quote)) if byte == b'\\' => State::Escape(quote),
            State::Value(None) if is_space(byte) => State::Between,
            State::Escape(quote) => {
                let backslash = (byte != quote).then_some(b'\\');
                if byte == b'\\' {
                    self.push_value([b'\\']);
                    State::Escape(quote)
                } else {
                    self.push_value(backslash.into_iter().chain([byte]));
                    State::Value(Some(quote))
                }
            }
            State::Value(quote) => {
                self.push_value([byte]);
                State::Value(quote)
            }
        };
    }

    fn push(&mut self, change: impl FnOnce(&mut Argument)) {
        if self.element.fault.is_none() {
            self.element.arguments.last_mut().map(change);
        }
    }

    fn push_value(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.push(|argument| argument.value.get_or_insert_default().extend(bytes));
    }
}

/// The document ends within an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedElement {
    /// Lower-case name of the element, cut to 64 characters.
    pub name: String,
    /// `SSIEndTag`
    pub end: String,
}

impl Display for UnfinishedElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "the element \"{}\" has no end; close it with {}", self.name, self.end)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

#[cfg(test)]
mod tests;
