//! Recordings of failed requests, for `cameleer replay`.

use crate::table::row::{Row, SERVER, flag, path, rows};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    flag("RecordFailures", SERVER, |d, on| d.config.failures.is_on = on)
        .default("off", "requests contain personal data, even without their secrets"),
    "Each request that a worker received and that ended with a status of 500 or above is written to a file, which \
     `cameleer replay` sends again: method, target, headers and a body of up to 64 kB. Values of cookies and \
     of most headers, and fields whose names are those of secrets, are masked; of bodies only forms and JSON are recorded. \
     The newest 100 files are retained.",
    path("RecordFailuresDirectory", SERVER, |d, path| d.config.failures.folder = Some(path))
        .because("failures, below ServerRoot"),
    "The folder of RecordFailures. It must belong to the user of the front, and no other user may write to it; a missing \
     folder is created for that user, if only root may write to the folder above it.",
];
