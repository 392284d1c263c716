//! Values of a page's elements: substitution of variables, and variables that are computed when they are first used.

use std::fmt::Display;

use http::StatusCode;
use nix::unistd::{Uid, User};

use super::clock;
use super::page::Page;
use super::variables::PageValue;
use crate::base::blocking;
use ssi::parser::Element;
use ssi::substitute::{MAX_VALUE, Undefined, ValueTooLong, substitute};

/// Why an element fails.
pub type Fault = Box<dyn Display>;

/// A fault with this text.
pub fn fault(why: impl Display + 'static) -> Fault {
    Box::new(why)
}

/// The fault of a program or document whose request ended with this status.
pub fn failed(what: &dyn Display, status: StatusCode) -> Fault {
    fault(format!("{what} failed with status {}", status.as_u16()))
}

const USER_NAME: &[u8] = b"USER_NAME";
const TIMES: [(&[u8], PageValue); 3] = [
    (b"DATE_LOCAL", PageValue::DateLocal),
    (b"DATE_GMT", PageValue::DateGmt),
    (b"LAST_MODIFIED", PageValue::LastModified),
];

impl Page {
    /// The value of a variable, or of a group of the last regular expression.
    pub fn variable(&self, name: &[u8]) -> Option<Vec<u8>> {
        if let [digit @ b'0'..=b'9'] = name {
            let group = self.groups.as_ref()?.get(usize::from(digit - b'0'))?;
            return Some(group.clone().into_bytes());
        }
        let known = self.whole.variables.borrow().get(name).cloned()?;
        let text = match known {
            PageValue::Text(text) => return Some(text),
            PageValue::DateLocal => clock::local(self.whole.now, &self.time_format),
            PageValue::DateGmt => clock::gmt(self.whole.now, &self.time_format),
            PageValue::LastModified => clock::local(self.whole.document.file.modified?, &self.time_format),
            PageValue::UserName => return None,
        };
        let _ = self.whole.variables.borrow_mut().set(name, PageValue::Text(text.clone()));
        Some(text)
    }

    /// The text with its variables replaced.
    pub fn substituted(&self, text: &[u8], undefined: Undefined) -> Result<Vec<u8>, Fault> {
        let value = substitute(text, undefined, &mut |name| self.variable(name));
        // A value that is too long has cost its work, too.
        let length = value.as_ref().map_or(MAX_VALUE, Vec::len);
        if !self.whole.spend(length + text.len()) {
            return Err(fault("the page's elements exceed the work limit of one request"));
        }
        value.map_err(|ValueTooLong| fault(format!("a value is longer than {} KB", MAX_VALUE >> 10)))
    }

    /// Computes the times and the owner of the client's document if the element shows or passes on all variables, and
    /// the owner if the element names `USER_NAME`.
    pub async fn prepare(&self, element: &Element) {
        let needs_all = matches!(&*element.name, b"printenv" | b"exec" | b"perl");
        if needs_all {
            self.compute_times();
        }
        let is_named = |text: &[u8]| text.windows(USER_NAME.len()).any(|part| part.eq_ignore_ascii_case(USER_NAME));
        let values = element.arguments.iter().filter_map(|argument| argument.value.as_deref());
        if !needs_all && !{ values }.any(is_named) {
            return;
        }
        if self.whole.variables.borrow().get(USER_NAME) == Some(&PageValue::UserName) {
            let name = owner(self.whole.document.file.owner).await;
            let _ = self.whole.variables.borrow_mut().set(USER_NAME, PageValue::Text(name.into_bytes()));
        }
    }

    /// Formats the times of the page in the format that applies from here on.
    pub fn format_times(&self) {
        for (name, value) in TIMES {
            let _ = self.whole.variables.borrow_mut().set(name, value);
        }
        self.compute_times();
    }

    /// Formats the times of the page that no element has used yet.
    fn compute_times(&self) {
        for (name, _) in TIMES {
            self.variable(name);
        }
    }
}

/// The name of a user. The lookup may ask a directory service, so another thread does it.
async fn owner(owner: Option<u32>) -> String {
    let Some(owner) = owner else { return "<unknown>".to_owned() };
    let found = blocking::run("look up the owner of a file", move || User::from_uid(Uid::from_raw(owner)).ok()?).await;
    found.ok().flatten().map_or_else(|| "<unknown>".to_owned(), |user| user.name)
}
