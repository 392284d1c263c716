//! The output of a request on its way to the client: buffered, filtered, then sent as replies.

use std::io;

use bytes::Bytes;
use wire::reply::{Head, OnwardRequest, Outgoing, Reply, RequestEnd};
use wire::transport::Presence;

use crate::unchunk::Unchunk;

/// The receiver of a response: the connection to the front, or the main request.
pub trait ResponseReceiver {
    /// Sends a part of a request's response.
    fn send(&mut self, message: &Outgoing<'_>) -> io::Result<()>;
    /// Whether the client still wants the response, as far as is known.
    fn presence(&mut self) -> Presence;
    /// Whether the front that sent the request has ended: its clients are then disconnected without having left.
    fn has_lost_front(&self) -> bool {
        false
    }
}

/// Bytes of output that are buffered before the response is sent: most responses fit into one packet.
const BUFFER: usize = 32 * 1024;
/// Bytes of filtered output that are buffered before the response is sent: most filtered pages fit into one packet and
/// get a Content-Length.
const FILTERED_BUFFER: usize = 128 * 1024;

/// Longest path of [`Reply::Moved`], in bytes; longer ones are not sent.
const MAX_MOVED_BYTES: usize = 16 * 1024;

/// A response that the front makes from another resource.
pub struct Reference<'a> {
    pub head: Head,
    /// The resource.
    pub to: &'a Reply<'a>,
    /// The end of the exchange.
    pub last: &'a Reply<'a>,
}

/// Progress of a response.
#[derive(Debug, Default)]
pub(crate) enum ResponseStage {
    /// Undecided: status and headers may still change.
    #[default]
    Open,
    /// The gathered output begins with an incomplete script header.
    Script,
    /// The head is final, but not sent yet.
    Ready(Head),
    Sent,
    /// The response is complete, and sent.
    Ended,
}

/// Whether output passes filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Filtering {
    #[default]
    Off,
    On,
    /// The filters run, or have seen the end: output is sent unchanged.
    Passing,
}

/// Output of a request that the front does not have yet.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub stage: ResponseStage,
    pub body: Vec<u8>,
    /// Input of the filters, see [`crate::filters`].
    pub unfiltered: Vec<u8>,
    /// An informational response, until it is flushed or the next head begins.
    pub info: Option<Head>,
    /// Status of the error response to send instead of an invalid response.
    pub failed: Option<u16>,
    /// The script named this path of the site as its response.
    pub elsewhere: Option<Vec<u8>>,
    /// File that the front must send as the response.
    pub file: Option<Vec<u8>>,
    /// The backend that answers gets the request with this.
    pub onward: Option<OnwardRequest>,
    /// The front is to answer with its page or ErrorDocument for this status.
    pub refused: Option<u16>,
    /// The path of the site that the request was redirected to, until the front has got it.
    pub moved: Option<Vec<u8>>,
    /// The response is incomplete, and the client must see that.
    pub truncated: bool,
    /// Output of a subrequest: it becomes a part of the main request's output.
    pub is_part: bool,
    /// Whether another record responds, so that output of this one is dropped.
    pub is_handed_over: bool,
    /// The response was sent without its `End`; the value is `truncated`.
    pub owes_end: Option<bool>,
    /// The program has sent its header by itself (`$r->sent_header(1)`): all output is body.
    pub sent_header: bool,
    /// The application sends a chunked body.
    pub unchunk: Option<Unchunk>,
    /// Bytes that PSGI's headers may still add to the head.
    pub head_room: usize,
    /// The client has left: the front would drop the output.
    pub client_is_gone: bool,
    /// The front that the client was connected to has ended.
    pub front_is_lost: bool,
    /// Whether the client sends no more bytes; it may have disconnected.
    pub client_hung_up: bool,
    status_sent: Option<u16>,
    sent: u64,
    front_is_gone: bool,
    packet: Vec<u8>,
    tail: Vec<u8>,
}

impl Output {
    /// Prepares for the next request: empty, with the buffers' capacity.
    pub fn reset(&mut self) {
        self.stage = ResponseStage::Open;
        self.body.clear();
        self.unfiltered.clear();
        self.info = None;
        self.failed = None;
        self.elsewhere = None;
        (self.file, self.moved, self.refused, self.onward) = (None, None, None, None);
        self.truncated = false;
        (self.client_is_gone, self.client_hung_up, self.front_is_lost) = (false, false, false);
        self.owes_end = None;
        self.sent_header = false;
        self.unchunk = None;
        self.status_sent = None;
        self.sent = 0;
    }

    /// The status of the head, once it is final.
    pub fn head_status(&self) -> Option<u16> {
        match &self.stage {
            ResponseStage::Ready(head) => Some(head.status),
            _ => self.status_sent,
        }
    }

    pub fn has_head(&self) -> bool {
        matches!(self.stage, ResponseStage::Ready(_) | ResponseStage::Sent | ResponseStage::Ended)
    }

    pub fn has_left(&self) -> bool {
        matches!(self.stage, ResponseStage::Sent | ResponseStage::Ended)
    }

    /// Whether the whole response was written.
    pub fn is_ended(&self) -> bool {
        matches!(self.stage, ResponseStage::Ended)
    }

    /// Whether further output would be dropped.
    pub fn drops_output(&self) -> bool {
        let is_lost = self.failed.is_some() || self.front_is_gone || self.is_handed_over;
        is_lost || self.is_settled() || self.is_ended()
    }

    /// Whether further body would be dropped. A head is made nevertheless: the front waits for one.
    pub fn drops_body(&self) -> bool {
        self.drops_output() || (self.client_is_gone && self.has_head())
    }

    /// Whether a file or an internal redirect is the response, so that the program's output is not.
    pub fn is_settled(&self) -> bool {
        self.elsewhere.is_some() || self.file.is_some()
    }

    /// Drops output that was not sent; returns false when some was sent.
    pub fn discard(&mut self) -> bool {
        if self.has_left() {
            return false;
        }
        self.body.clear();
        self.unfiltered.clear();
        self.stage = ResponseStage::Open;
        (self.failed, self.elsewhere, self.file) = (None, None, None);
        true
    }

    /// Whether the program has produced neither head nor body.
    pub fn is_untouched(&self) -> bool {
        matches!(self.stage, ResponseStage::Open | ResponseStage::Script)
            && self.body.is_empty()
            && self.unfiltered.is_empty()
    }

    pub fn bytes_sent(&self) -> u64 {
        self.sent + self.body.len() as u64
    }

    /// Takes the gathered body, for the main request.
    pub fn take_body(&mut self) -> Vec<u8> {
        self.sent += self.body.len() as u64;
        std::mem::take(&mut self.body)
    }

    /// `$r->bytes_sent(n)`: counts the output so far as `n` bytes.
    pub fn count_as(&mut self, bytes: u64) {
        self.sent = bytes.saturating_sub(self.body.len() as u64);
    }

    pub fn front_is_gone(&self) -> bool {
        self.front_is_gone
    }

    pub fn has_room_for(&self, length: usize, filtering: Filtering) -> bool {
        let room = if filtering == Filtering::Off { BUFFER } else { FILTERED_BUFFER };
        self.is_part || self.body.len() + length <= room
    }

    pub fn send_info(&mut self, id: u64, client: &mut dyn ResponseReceiver) {
        if let Some(head) = self.info.take() {
            self.packet.clear();
            Reply::Info(head).put(id, &mut self.packet);
            self.send_packet(id, client);
        }
    }

    /// The program flushes: unless it set a Content-Length, the body is chunked, however soon its end comes.
    pub fn leaves_in_pieces(&mut self) {
        if let ResponseStage::Ready(head) = &mut self.stage {
            // The last headers are those that `Head::always` counts.
            head.headers.insert(0, (Bytes::from_static(b"Transfer-Encoding"), Bytes::from_static(b"chunked")));
        }
    }

    pub fn send_gathered(&mut self, id: u64, client: &mut dyn ResponseReceiver) {
        let body = std::mem::take(&mut self.body);
        self.send(id, &body, None, client);
        self.put_back(body);
    }

    /// Sends the buffered output, followed by `last`; a small response is one packet.
    pub fn send_rest(&mut self, id: u64, last: Option<&Reply<'_>>, client: &mut dyn ResponseReceiver) {
        let body = std::mem::take(&mut self.body);
        self.send(id, &body, last, client);
        self.put_back(body);
        self.stage = ResponseStage::Ended;
    }

    /// Sends the end that waited for the cleanup handlers.
    pub fn send_end(&mut self, id: u64, end: RequestEnd, client: &mut dyn ResponseReceiver) {
        self.packet.clear();
        Reply::End(end).put(id, &mut self.packet);
        self.send_packet(id, client);
    }

    /// Sends a piece too large to be gathered, without copying it, after the head if that is still here.
    pub fn send_through(&mut self, id: u64, bytes: &[u8], client: &mut dyn ResponseReceiver) {
        self.send(id, bytes, None, client);
    }

    /// Makes the front respond with a file, or with another path of the site.
    pub fn send_reference(&mut self, id: u64, reference: Reference<'_>, client: &mut dyn ResponseReceiver) {
        let Reference { head, to, last } = reference;
        self.packet.clear();
        self.send_moved(id);
        if head.status != 200 || !head.reason.is_empty() || !head.headers.is_empty() {
            Reply::Head(head).put(id, &mut self.packet);
        }
        to.put(id, &mut self.packet);
        last.put(id, &mut self.packet);
        self.send_packet(id, client);
        self.stage = ResponseStage::Ended;
    }

    fn send_moved(&mut self, id: u64) {
        if let Some(path) = self.moved.take().filter(|path| path.len() <= MAX_MOVED_BYTES) {
            Reply::Moved(&path).put(id, &mut self.packet);
        }
    }

    fn put_back(&mut self, mut body: Vec<u8>) {
        body.clear();
        self.body = body;
    }

    fn send(&mut self, id: u64, body: &[u8], end: Option<&Reply<'_>>, client: &mut dyn ResponseReceiver) {
        self.sent += body.len() as u64;
        self.packet.clear();
        self.tail.clear();
        if let ResponseStage::Ready(head) = std::mem::replace(&mut self.stage, ResponseStage::Sent) {
            self.status_sent = Some(head.status);
            self.send_moved(id);
            Reply::Head(head).put(id, &mut self.packet);
        }
        if let Some(end) = end {
            end.put(id, &mut self.tail);
        }
        let message = Outgoing { id, before: &self.packet, body, after: &self.tail };
        if !self.front_is_gone && !message.is_empty() {
            self.front_is_gone = client.send(&message).is_err();
        }
    }

    /// Sends messages as one packet.
    fn send_packet(&mut self, id: u64, client: &mut dyn ResponseReceiver) {
        let message = Outgoing { id, before: &self.packet, ..Outgoing::default() };
        self.front_is_gone |= client.send(&message).is_err();
    }
}
