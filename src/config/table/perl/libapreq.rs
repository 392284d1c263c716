//! Limits of libapreq 2's parser, which `Apache2::Request` reads as values of the place.

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::table::row::{ANYWHERE, Contexts, ROW, Row, Takes};

const CONTEXTS: Contexts = ANYWHERE.and_htaccess(Class::ANY);

pub static ROWS: &[Row] = &[
    Row {
        name: "APREQ2_ReadLimit",
        contexts: CONTEXTS,
        takes: Takes::Size(|d, bytes| set(d, "APREQ2_ReadLimit", bytes.to_string())),
        because: "64M, libapreq's own",
        about: "How long a body Apache2::Request parses. Of several that hold for a place the lowest counts, and a program may ask for \
            less. LimitRequestBody stands before it.",
        ..ROW
    },
    Row {
        name: "APREQ2_BrigadeLimit",
        contexts: CONTEXTS,
        takes: Takes::Size(|d, bytes| set(d, "APREQ2_BrigadeLimit", bytes.to_string())),
        because: "256K, libapreq's own",
        about: "How much of an upload Apache2::Request keeps in memory; a longer one goes to a file in APREQ2_TempDir.",
        ..ROW
    },
    Row {
        name: "APREQ2_TempDir",
        contexts: CONTEXTS,
        takes: Takes::Path(|d, folder| set(d, "APREQ2_TempDir", folder.to_string_lossy().into_owned())),
        because: "TMPDIR or /tmp",
        about: "Where Apache2::Request keeps uploads. On the file system of their last place they need not be copied.",
        ..ROW
    },
];

fn set(draft: &mut Draft, name: &str, value: String) {
    draft.said().set_vars.push((name.to_owned(), value, true));
}
