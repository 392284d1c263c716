//! Kernel features for the memory of workers: huge pages and page merging.

use crate::table::row::{Effect, Row, SERVER, flag, rows};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    flag("TransparentHugePages", SERVER, |d, on| d.config.pages.huge = on).effect(Effect::Generation).default(
        "On",
        "the machine's setting decides; huge pages cost 4 to 6 % of the memory, hardly reduce sharing, and save \
             some time: docs/memory.md"
    ),
    "On: mold and workers use huge pages where the kernel provides them (/sys/kernel/mm/transparent_hugepage/enabled). \
     Off: neither they nor the programs that they start use huge pages.",
    flag("KernelSamePageMerging", SERVER, |d, on| d.config.pages.merge = on).effect(Effect::Generation).default(
        "Off",
        "the search for equal pages costs processor time all day, and its timing reveals which process has a page \
             with given contents"
    ),
    "On: the kernel may merge pages of mold and workers with equal contents (KSM). Needs Linux 6.4 and has an effect \
     only while /sys/kernel/mm/ksm/run is 1; the error log reports when it is not available.",
];
