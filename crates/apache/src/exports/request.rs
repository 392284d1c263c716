//! Forms for Apache::Request.

use std::ffi::c_int;
use std::os::fd::IntoRawFd;

use form::multipart::{Multipart, MultipartEvent};
use form::{MAX_FIELDS, urlencoded};

use super::{ApacheText, Out, XsText, give, status};
use crate::request_rec::RequestRec;
use crate::request_stack::with;

/// A result of `apache_multipart_next`; the numbers of `kind` are apache.h's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ApachePart {
    kind: u32,
    /// The number of the table with the part's headers.
    table: u32,
    /// The part's name, a piece of its data, or an error message.
    text: ApacheText,
    filename: ApacheText,
}

impl ApachePart {
    const MORE: ApachePart = ApachePart { kind: 0, table: 0, text: ApacheText::UNDEF, filename: ApacheText::UNDEF };

    fn of(kind: u32, text: &[u8]) -> ApachePart {
        ApachePart { kind, text: ApacheText::of(text), ..ApachePart::MORE }
    }
}

/// Adds the pairs of a query or a form body to a table. `count` becomes the table's number of pairs, or -1 when
/// there are too many.
#[unsafe(no_mangle)]
extern "C" fn apache_parse_form(r: u64, table: u32, text: XsText<'_>, count: Out<'_, i64>) -> c_int {
    let added = with(r, |r| {
        r.tables.number_mut(table).map_or(0, |table| {
            let mut room = MAX_FIELDS.saturating_sub(table.iter().count());
            for (name, value) in urlencoded::pairs(text.bytes()) {
                let Some(left) = room.checked_sub(1) else { return -1 };
                room = left;
                table.push(name, value);
            }
            (MAX_FIELDS - room) as i64
        })
    });
    give(count, added)
}

/// Begins to parse a multipart body. `is_one` becomes 0 when the content type names no boundary.
#[unsafe(no_mangle)]
extern "C" fn apache_multipart_begin(r: u64, content_type: XsText<'_>, is_one: Out<'_, i64>) -> c_int {
    let begun = with(r, |r| {
        r.multipart = Multipart::new(content_type.bytes());
        i64::from(r.multipart.is_some())
    });
    give(is_one, begun)
}

#[unsafe(no_mangle)]
extern "C" fn apache_multipart_feed(r: u64, piece: XsText<'_>) -> c_int {
    status(with(r, |r| r.multipart.as_mut().map(|multipart| multipart.feed(piece.bytes()))))
}

#[unsafe(no_mangle)]
extern "C" fn apache_multipart_next(r: u64, part: Out<'_, ApachePart>) -> c_int {
    give(part, with(r, next))
}

fn next(r: &mut RequestRec) -> ApachePart {
    let Some(event) = r.multipart.as_mut().and_then(Multipart::event) else { return ApachePart::MORE };
    match event {
        MultipartEvent::Part(found) => {
            let number = r.tables.new_table();
            if let Some(table) = r.tables.number_mut(number) {
                found.headers.into_iter().for_each(|(name, value)| table.push(name, value));
            }
            // The record holds the strings until the next part: XS copies them before.
            let (name, filename) = &*r.part.insert((found.name, found.filename));
            ApachePart {
                table: number,
                filename: ApacheText::of_option(filename.as_deref()),
                ..ApachePart::of(1, name)
            }
        }
        MultipartEvent::Data(data) => ApachePart::of(2, data),
        MultipartEvent::PartEnd => ApachePart { kind: 3, ..ApachePart::MORE },
        MultipartEvent::End => ApachePart { kind: 4, ..ApachePart::MORE },
        MultipartEvent::Bad(reason) => ApachePart::of(5, reason.as_bytes()),
    }
}

/// Makes a memfd that holds `text`, positioned at its start; -1 on failure.
#[unsafe(no_mangle)]
extern "C" fn apache_memory_file(text: XsText<'_>) -> c_int {
    wire::transport::in_memory("upload", text.bytes()).map_or(-1, IntoRawFd::into_raw_fd)
}
