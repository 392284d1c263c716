//! `MaxRanges`, `MaxRangeOverlaps`, `MaxRangeReversals`: limits of byte ranges in one request. A request that exceeds
//! one gets the whole file.

use crate::model::merge::{keep, settings};
settings! {
    /// Limits of a section. `None`: not set.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    place struct Ranges {
        most: Option<u32>, keep;
        overlaps: Option<u32>, keep;
        reversals: Option<u32>, keep;
    }
}

/// The directive that sets a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeBound {
    /// `MaxRanges`
    Most,
    /// `MaxRangeOverlaps`
    Overlaps,
    /// `MaxRangeReversals`
    Reversals,
}

/// httpd's defaults.
const MAX_RANGES: u32 = 200;
const DISORDER: u32 = 20;

impl Ranges {
    /// Sets a limit from the argument of its directive.
    pub fn set(&mut self, bound: RangeBound, word: &str) -> Result<(), String> {
        let (place, default) = match bound {
            RangeBound::Most => (&mut self.most, MAX_RANGES),
            RangeBound::Overlaps => (&mut self.overlaps, DISORDER),
            RangeBound::Reversals => (&mut self.reversals, DISORDER),
        };
        *place = Some(match word.to_ascii_lowercase().as_str() {
            "default" => default,
            "none" => 0,
            "unlimited" => u32::MAX,
            number => {
                let number = number.parse().ok().filter(|number| *number > 0);
                number.ok_or(format!("expected default, unlimited, none or a number above 0, got \"{word}\""))?
            }
        });
        Ok(())
    }

    /// Maximum number of ranges.
    pub fn most(&self) -> usize {
        self.most.unwrap_or(MAX_RANGES) as usize
    }

    /// Maximum number of ranges that overlap the preceding one.
    pub fn overlaps(&self) -> usize {
        self.overlaps.unwrap_or(DISORDER) as usize
    }

    /// Maximum number of ranges that begin before the preceding one.
    pub fn reversals(&self) -> usize {
        self.reversals.unwrap_or(DISORDER) as usize
    }
}
