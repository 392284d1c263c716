//! `PerlPreload auto`: the code that workers loaded after the fork, for each pool, which the next molds load; and when
//! workers are asked for it. A state machine without I/O and without a clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wire::control::{LateCode, LeftOutCode, PreloadOrder};

/// Maximum number of modules, and of scripts, of a pool.
const MAX_PIECES: usize = 2000;
/// Time after which workers are asked first; doubled each time. A stop and a reload ask, too, so this is for servers
/// that are killed.
const FIRST: Duration = Duration::from_secs(300);
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The lists of all pools, by their names.
pub type PreloadLists = BTreeMap<String, PreloadOrder>;

/// What is known of late code.
#[derive(Debug, Default)]
pub struct Preloads {
    lists: PreloadLists,
    survey: Option<PlannedSurvey>,
}

/// The next time when workers are asked.
#[derive(Debug)]
struct PlannedSurvey {
    at: Instant,
    wait: Duration,
}

impl Preloads {
    /// Adds lists of an earlier run.
    pub fn remember(&mut self, lists: PreloadLists) {
        self.lists = lists;
    }

    pub fn lists(&self) -> &PreloadLists {
        &self.lists
    }

    /// The code that a new mold of the pool loads.
    pub fn order(&self, pool: &str) -> PreloadOrder {
        self.lists.get(pool).cloned().unwrap_or_default()
    }

    /// Workers of the pool have loaded this code after the fork.
    pub fn learn(&mut self, pool: &str, code: LateCode) {
        if code == LateCode::default() {
            return;
        }
        let known = &mut self.lists.entry(pool.to_owned()).or_default().code;
        merge(&mut known.modules, code.modules);
        merge(&mut known.scripts, code.scripts);
    }

    /// A mold of the pool has reported the code that it does not load.
    pub fn note_left_out(&mut self, pool: &str, left_out: Vec<LeftOutCode>) {
        if let Some(list) = self.lists.get_mut(pool) {
            list.left_out = left_out;
        }
    }

    /// A mold with late code could not start. Returns whether there was any.
    pub fn forget(&mut self) -> bool {
        let had_some = self.lists.values().any(|list| list.code != LateCode::default());
        self.lists.clear();
        had_some
    }

    /// A generation serves, and the list can be stored: workers are asked from time to time.
    pub fn begin_surveys(&mut self, now: Instant) {
        self.survey = Some(PlannedSurvey { at: now + FIRST, wait: FIRST });
    }

    /// Whether workers are to be asked now.
    pub fn is_survey_due(&mut self, now: Instant) -> bool {
        let Some(survey) = self.survey.as_mut().filter(|survey| survey.at <= now) else { return false };
        survey.wait = (survey.wait * 2).min(LONGEST);
        survey.at = now + survey.wait;
        true
    }

    /// When [`Self::is_survey_due`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.survey.as_ref().map(|survey| survey.at)
    }
}

/// Adds names and files to a list. A name's new file replaces the old one.
fn merge(known: &mut Vec<(String, String)>, new: Vec<(String, String)>) {
    let mut all: BTreeMap<String, String> = std::mem::take(known).into_iter().collect();
    all.extend(new);
    known.extend(all.into_iter().take(MAX_PIECES));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(modules: &[(&str, &str)]) -> LateCode {
        let pair = |(name, file): &(&str, &str)| ((*name).to_owned(), (*file).to_owned());
        LateCode { modules: modules.iter().map(pair).collect(), scripts: Vec::new() }
    }

    #[test]
    fn each_pool_has_its_own_list_in_which_a_name_has_its_last_file() {
        let mut preloads = Preloads::default();
        preloads.learn("default", code(&[("A.pm", "/old/A.pm"), ("B.pm", "/B.pm")]));
        preloads.learn("default", code(&[("A.pm", "/new/A.pm")]));
        preloads.learn("old", code(&[("C.pm", "/C.pm")]));
        preloads.learn("none", LateCode::default());
        assert_eq!(preloads.order("default").code, code(&[("A.pm", "/new/A.pm"), ("B.pm", "/B.pm")]));
        assert_eq!(preloads.order("old").code, code(&[("C.pm", "/C.pm")]));
        assert_eq!(preloads.order("none"), PreloadOrder::default());
        assert_eq!(preloads.lists().len(), 2);
    }

    #[test]
    fn a_list_is_forgotten_once() {
        let mut preloads = Preloads::default();
        preloads.learn("default", code(&[("A.pm", "/A.pm")]));
        assert!(preloads.forget(), "there was code");
        assert!(!preloads.forget());
        assert_eq!(preloads.order("default"), PreloadOrder::default());
    }

    #[test]
    fn what_a_mold_leaves_out_replaces_what_the_last_one_left_out() {
        let left_out =
            |name: &str| LeftOutCode { name: name.into(), file: String::new(), changed: 1, why: String::new() };
        let mut preloads = Preloads::default();
        preloads.note_left_out("default", vec![left_out("no list")]);
        preloads.learn("default", code(&[("A.pm", "/A.pm")]));
        preloads.note_left_out("default", vec![left_out("A.pm"), left_out("B.pm")]);
        preloads.note_left_out("default", vec![left_out("A.pm")]);
        assert_eq!(preloads.order("default").left_out, [left_out("A.pm")]);
    }

    #[test]
    fn workers_are_asked_ever_more_rarely() {
        let (mut preloads, begin) = (Preloads::default(), Instant::now());
        assert!(preloads.wakes().is_none() && !preloads.is_survey_due(begin + LONGEST), "no list can be stored");
        preloads.begin_surveys(begin);
        assert!(!preloads.is_survey_due(begin));
        let mut now = begin;
        for wait in [300, 600, 1200, 2400, 4800, 9600, 19200, 38400, 76800, 86400, 86400] {
            now += Duration::from_secs(wait);
            assert_eq!(preloads.wakes(), Some(now));
            assert!(preloads.is_survey_due(now) && !preloads.is_survey_due(now));
        }
    }

    #[test]
    fn a_list_is_bounded() {
        let many: Vec<(String, String)> = (0..5000).map(|n| (format!("M{n}.pm"), format!("/M{n}.pm"))).collect();
        let mut preloads = Preloads::default();
        preloads.learn("default", LateCode { modules: many, scripts: Vec::new() });
        assert_eq!(preloads.order("default").code.modules.len(), MAX_PIECES);
    }
}
