//! How the kernel keeps the memory of workers.

use crate::config::table::row::{Effect, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "TransparentHugePages",
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.pages.huge = on),
        default: Some("On"),
        because: "as the machine is set: huge pages cost 4 to 6 % of the memory, hardly harm sharing, and save some time: docs/memory.md",
        effect: Effect::Generation,
        about: "On: mold and workers have huge pages where the kernel gives them (/sys/kernel/mm/transparent_hugepage/enabled). \
            Off: they have none, nor have programs that they start.",
        ..ROW
    },
    Row {
        name: "KernelSamePageMerging",
        contexts: SERVER,
        takes: Takes::Flag(|d, on| d.config.pages.merge = on),
        default: Some("Off"),
        because: "the search for equal pages takes processor time all day, and timing tells who has a page with the same content",
        effect: Effect::Generation,
        about: "On: the kernel may join pages of mold and workers that have the same content (KSM). It needs Linux 6.4 and does so only while \
            /sys/kernel/mm/ksm/run is 1; the error log says when it cannot.",
        ..ROW
    },
];
