//! Limits of libapreq 2's parser, which `Apache2::Request` reads from `dir_config`.

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::table::row::{ANYWHERE, Contexts, Row, path, rows, size};

const CONTEXTS: Contexts = ANYWHERE.and_htaccess(Class::ANY);

pub static ROWS: &[Row] = rows![
    "mod_apreq2.c",
    size("APREQ2_ReadLimit", CONTEXTS, |d, bytes| set(d, "APREQ2_ReadLimit", bytes.to_string()))
        .because("64M, libapreq's default"),
    "Maximum size of a body that Apache2::Request parses. Of several values for a place the lowest counts, and a \
     program may set a lower one. LimitRequestBody is checked first.",
    size("APREQ2_BrigadeLimit", CONTEXTS, |d, bytes| set(d, "APREQ2_BrigadeLimit", bytes.to_string()))
        .because("256K, libapreq's default"),
    "Maximum size of an upload that Apache2::Request keeps in memory; a larger one is written to a file in \
     APREQ2_TempDir.",
    path("APREQ2_TempDir", CONTEXTS, |d, folder| set(d, "APREQ2_TempDir", folder.to_string_lossy().into_owned()))
        .because("TMPDIR or /tmp"),
    "Folder of uploads of Apache2::Request. On the file system of their final place they need not be copied.",
];

fn set(draft: &mut Draft, name: &str, value: String) {
    draft.settings().set_vars.push((name.to_owned(), value, true));
}
