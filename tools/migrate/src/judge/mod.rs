//! The decision about each line of the old configuration, with its reason.
//!
//! `lines` judges by the old configuration alone; `messages` by what the parser reports about the copies; `programs`
//! and `htaccess` judge files that are not copied.

mod access;
mod applications;
mod definitions;
mod forwarded;
mod htaccess;
mod htaccess_edits;
mod htaccess_patch;
mod htaccess_sections;
mod includes;
mod ledger;
mod lines;
mod macro_includes;
mod macros;
mod messages;
mod modules;
mod positions;
mod programs;
mod rewrite;

pub use access::restricts;
pub use htaccess::BesideResult;
pub use ledger::{Ledger, LineVerdict, ReportPart};
pub use lines::before;
pub use messages::messages;

use master::configuration::Survey;

use crate::read::OldModules;
use crate::write::Copies;

/// Judges what is not part of the configuration's files: programs, and `.htaccess` files.
pub fn beside(survey: &Survey, copies: &Copies, modules: &OldModules, ledger: &mut Ledger) -> BesideResult {
    programs::judge(survey, copies, ledger);
    htaccess::judge(&survey.config, modules, ledger)
}
