//! Which `.htaccess` files the patch changes: a file may be read for several places, because of links, or with several
//! values of `AllowOverride` for a folder.

use std::collections::HashMap;
use std::path::PathBuf;

use config::At;

use super::htaccess_edits::{ReadHtaccess, ReadResult};
use super::ledger::{Ledger, LineVerdict, ReportPart};
use crate::write::{HTACCESS_PATCH, HtaccessCopy};

/// End of the sentence about a line with an error.
const UNTIL_CHANGED: &str = "; requests below are answered 500 until it is changed";

/// Adds the verdicts about the lines. Returns each file that is changed, once.
pub fn settle(all: Vec<ReadHtaccess>, ledger: &mut Ledger) -> Vec<HtaccessCopy> {
    let mut by_file: Vec<Vec<ReadHtaccess>> = Vec::new();
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    for read in all {
        let index = *known.entry(read.real.clone()).or_insert(by_file.len());
        by_file.resize_with(by_file.len().max(index + 1), Vec::new);
        by_file[index].push(read);
    }
    by_file.into_iter().filter_map(|places| of_file(places, ledger)).collect()
}

/// The change of a file. If its places need different changes, none is safe.
fn of_file(mut places: Vec<ReadHtaccess>, ledger: &mut Ledger) -> Option<HtaccessCopy> {
    let first = &places.first()?.result;
    let is_mended = matches!(first, ReadResult::Mended { .. }) && places.iter().all(|place| place.result == *first);
    let is_disputed = !is_mended && places.iter().any(|place| matches!(place.result, ReadResult::Mended { .. }));
    for place in &places {
        let end =
            if is_mended { format!("{UNTIL_CHANGED}: {HTACCESS_PATCH} does it") } else { UNTIL_CHANGED.to_owned() };
        for verdict in if is_mended { &place.edits } else { &place.errors } {
            let sentence = format!("{}{end}", verdict.sentence);
            ledger.add(LineVerdict { part: ReportPart::Open, sentence, ..verdict.clone() });
        }
        if is_disputed {
            let at = At { file: place.file.to_string_lossy().into(), line: 0 };
            let sentence = format!(
                "is read for several places that need different changes, so {HTACCESS_PATCH} does not change it; give \
                 each place a file of its own"
            );
            ledger.add(LineVerdict::open(&at, sentence, None));
        }
    }
    let ReadHtaccess { real, result: ReadResult::Mended { old, new }, .. } = places.swap_remove(0) else { return None };
    is_mended.then_some(HtaccessCopy { file: real, old, new })
}
