//! Printed output, from the first piece, which may contain a header, to the packets sent.

use super::script_headers::{self, Scan};
use crate::output::{Filtering, ResponseStage};
use crate::request_rec::RequestRec;
use crate::request_rec::environment::{Api, api};
use crate::request_rec::field::Text;
use crate::unchunk::Unchunk;
use wire::transport::Presence;

/// Longest header of a script, in bytes.
const MAX_SCRIPT_HEADER: usize = 64 * 1024;

impl RequestRec {
    /// Writes a piece of the program's output.
    pub fn write(&mut self, bytes: &[u8]) {
        match self.output.unchunk.as_mut().map(|unchunk| unchunk.content(bytes)) {
            Some(content) => self.write_content(&content),
            None => self.write_content(bytes),
        }
    }

    /// Finishes the program's output.
    pub(super) fn end_chunks(&mut self) {
        if let Some(rest) = self.output.unchunk.as_mut().map(Unchunk::rest) {
            self.write_content(&rest);
        }
    }

    fn write_content(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.output.drops_body() {
            return;
        }
        self.send_info();
        if self.output.is_untouched() && self.begins_with_header(bytes) {
            self.output.stage = ResponseStage::Script;
        }
        match self.output.stage {
            ResponseStage::Script => self.write_header(bytes),
            _ if self.filtering == Filtering::On => self.output.unfiltered.extend_from_slice(bytes),
            _ => self.write_body(bytes),
        }
    }

    fn write_body(&mut self, bytes: &[u8]) {
        match self.output.has_room_for(bytes.len(), self.filtering) {
            true => self.output.body.extend_from_slice(bytes),
            false => self.write_through(bytes),
        }
    }

    /// Writes output of the last response filter.
    pub fn write_filtered(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.output.drops_body() {
            return;
        }
        self.send_info();
        if !self.output.is_part {
            // Output of the filters makes the head final: ModPerl::Registry, which restores the status, may
            // still run.
            self.commit();
        }
        if self.output.failed.is_none() {
            self.write_body(bytes);
        }
    }

    /// `$r->basic_http_header`: the next output begins with header lines, regardless of PerlSendHeader.
    pub fn expect_header(&mut self) {
        if self.output.is_untouched() {
            self.output.stage = ResponseStage::Script;
        }
    }

    pub(crate) fn begins_with_header(&self, bytes: &[u8]) -> bool {
        if self.output.sent_header {
            return false;
        }
        matches!(self.output.stage, ResponseStage::Script)
            || self.place.send_header
            || (self.place.exec_cgi() && (bytes.starts_with(b"HTTP/1.") || self.is_nph()))
    }

    fn is_nph(&self) -> bool {
        let path = self.known_text(Text::Uri).unwrap_or_default();
        path.windows(5).any(|part| part == b"/nph-")
    }

    fn write_header(&mut self, bytes: &[u8]) {
        if self.output.body.is_empty() {
            // Most scripts print their header in one piece.
            if let Scan::Whole { header, length } = script_headers::scan(bytes) {
                self.take_script_header(header);
                return self.write(&bytes[length..]);
            }
        }
        self.output.body.extend_from_slice(bytes);
        match script_headers::scan(&self.output.body) {
            Scan::Whole { header, length } => {
                let body = self.output.body.split_off(length);
                self.output.body.clear();
                self.take_script_header(header);
                self.write(&body);
            }
            Scan::Bad(line) => self.fail_header(&line),
            Scan::Incomplete if self.output.body.len() > MAX_SCRIPT_HEADER => {
                self.fail_header(b"(no empty line in the first 64 KiB)")
            }
            Scan::Incomplete => {}
        }
    }

    fn write_through(&mut self, bytes: &[u8]) {
        self.commit();
        self.look_for_client();
        if self.output.drops_body() {
            return;
        }
        let id = self.frame.id();
        if !self.output.body.is_empty() {
            self.output.send_gathered(id, &mut *self.client);
        }
        match self.output.has_room_for(bytes.len(), self.filtering) {
            true => self.output.body.extend_from_slice(bytes),
            false => self.output.send_through(id, bytes, &mut *self.client),
        }
    }

    /// `$r->rflush`: sends the output so far.
    pub fn flush(&mut self) {
        if self.output.drops_output() {
            return;
        }
        self.send_info();
        if matches!(self.output.stage, ResponseStage::Script) || self.output.is_untouched() || self.head_waits() {
            return;
        }
        self.commit();
        self.look_for_client();
        if !self.output.drops_body() && !self.output.is_part {
            self.output.leaves_in_pieces();
            self.output.send_gathered(self.frame.id(), &mut *self.client);
        }
    }

    /// Whether the head waits: mod_perl 2 sends a script's header with the first piece of the body, so that
    /// until then an error makes the response a 500.
    fn head_waits(&self) -> bool {
        api() == Api::Two && matches!(self.output.stage, ResponseStage::Ready(_)) && self.output.bytes_sent() == 0
    }

    /// Takes a subrequest's output, for its main request; an incomplete header stays.
    pub fn take_body(&mut self) -> Vec<u8> {
        match self.output.stage {
            ResponseStage::Script => Vec::new(),
            _ => self.output.take_body(),
        }
    }

    /// Writes a subrequest's output, which has no header lines any more.
    pub fn write_part(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.output.drops_body() {
            return;
        }
        self.send_info();
        self.commit();
        self.write_body(bytes);
    }

    /// Checks whether the client is connected, so that a program does not write a long response without a receiver.
    pub fn look_for_client(&mut self) {
        if !self.output.client_is_gone {
            let presence = self.client.presence();
            self.output.client_is_gone = presence == Presence::Gone;
            self.output.front_is_lost |= self.client.has_lost_front();
            self.output.client_hung_up |= presence == Presence::HungUp;
        }
    }

    pub fn send_info(&mut self) {
        if self.output.info.is_some() {
            self.output.send_info(self.frame.id(), &mut *self.client);
        }
    }
}
