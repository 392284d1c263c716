//! Invalid responses: the reason goes to the error log, a 500 to the client.

use super::size_limits::MAX_HEADERS;
use crate::Level;
use crate::log::log;
use crate::request_rec::RequestRec;
use crate::request_rec::field::Text;
use crate::request_rec::tables::Id;

impl RequestRec {
    pub fn premature(&mut self) {
        let text = [b"Premature end of script headers: ", self.script()].concat();
        self.fail_with_bytes(&text);
    }

    pub fn fail_header(&mut self, line: &[u8]) {
        let shown = &line[..line.len().min(200)];
        let text = [b"malformed header from script. Bad header=", shown, b": ", self.script()].concat();
        self.fail_with_bytes(&text);
    }

    pub fn fail_status(&mut self) {
        let text = format!("a response cannot have the status {}, only one from 200 to 599: ", self.status);
        let text = [text.as_bytes(), self.script()].concat();
        self.fail_with_bytes(&text);
    }

    pub fn fail_invalid(&mut self, name: &[u8]) {
        let text = format!(
            "the response's header \"{}\" is not allowed in HTTP; remove line breaks and NULs",
            name.escape_ascii()
        );
        self.fail_with(&text);
    }

    pub fn fail_long_head(&mut self) {
        self.fail_with(&format!("the response's headers are longer than {} KiB", MAX_HEADERS / 1024));
    }

    pub fn fail_with(&mut self, text: &str) {
        self.fail_with_bytes(text.as_bytes());
    }

    /// `$r->soft_timeout` has expired: further output is dropped, as when the client has left.
    pub fn give_up(&mut self, reason: &[u8]) {
        log(Level::Info, reason);
        self.output.failed = Some(500);
    }

    fn fail_with_bytes(&mut self, text: &[u8]) {
        log(Level::Error, text);
        // The program of an ErrorDocument finds it as REDIRECT_ERROR_NOTES.
        self.tables.of_mut(Id::Notes).set(b"error-notes", text);
        self.output.failed = Some(500);
    }

    fn script(&mut self) -> &[u8] {
        self.text(Text::Filename).unwrap_or_default()
    }
}
