//! `MaxRanges`, `MaxRangeOverlaps`, `MaxRangeReversals`: how many parts of a file a client may ask for at once, and in what
//! disorder. Who asks for more gets all of the file.

use crate::config::model::merge::{keep, settings};
settings! {
    /// What a section says; `None`: nothing.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    place struct Ranges {
        most: Option<u32>, keep;
        overlaps: Option<u32>, keep;
        reversals: Option<u32>, keep;
    }
}

/// Which of the three directives is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `MaxRanges`
    Most,
    /// `MaxRangeOverlaps`
    Overlaps,
    /// `MaxRangeReversals`
    Reversals,
}

/// httpd's numbers.
const MOST: u32 = 200;
const DISORDER: u32 = 20;

impl Ranges {
    /// Takes the word behind a directive.
    pub fn set(&mut self, bound: Bound, word: &str) -> Result<(), String> {
        let (place, default) = match bound {
            Bound::Most => (&mut self.most, MOST),
            Bound::Overlaps => (&mut self.overlaps, DISORDER),
            Bound::Reversals => (&mut self.reversals, DISORDER),
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

    /// How many parts.
    pub fn most(&self) -> usize {
        self.most.unwrap_or(MOST) as usize
    }

    /// How many of them may have bytes of the one before.
    pub fn overlaps(&self) -> usize {
        self.overlaps.unwrap_or(DISORDER) as usize
    }

    /// How many of them may begin before the one before.
    pub fn reversals(&self) -> usize {
        self.reversals.unwrap_or(DISORDER) as usize
    }
}
