//! `CheckSpelling`: corrections of misspelled names (httpd manual, mod_speling).

use crate::model::merge::{keep, settings};

settings! {
    /// Which names are corrected.
    #[derive(Clone, Default)]
    place struct Spelling {
        /// `CheckSpelling`; default off.
        pub on: Option<bool>, keep;
        /// `CheckCaseOnly`: upper and lower case only; default off.
        pub case_only: Option<bool>, keep;
        /// `CheckBasenameMatch`: names with another extension are listed; default on.
        pub basename: Option<bool>, keep;
    }
}
