//! `PerlPreload auto`: the code that workers loaded after the fork, for each pool, which the next molds load; and when
//! workers are asked for it. A state machine without I/O and without a clock.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use wire::control::{GenerationNumber, LateCode, LeftOutCode, PoolId, PreloadOrder};

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
    /// What the first molds of pools were to load, until one starts again.
    sent: HashMap<PoolId, PreloadOrder>,
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

    /// The code that the first mold of a pool loads.
    pub fn order(&mut self, id: PoolId, pool: &str) -> PreloadOrder {
        let order = self.lists.get(pool).cloned().unwrap_or_default();
        self.sent.insert(id, order.clone());
        order
    }

    /// The code that a mold of the pool loads when the last one has ended: the same as the first one, which has shown
    /// that it loads; none if that was tried already.
    pub fn order_again(&mut self, id: PoolId) -> PreloadOrder {
        self.sent.remove(&id).unwrap_or_default()
    }

    /// Only this generation starts molds again.
    pub fn serve(&mut self, number: GenerationNumber) {
        self.sent.retain(|id, _| id.generation == number);
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

    /// A mold with late code could not start: all code is left out for `why` until its file changes. `changed` has the
    /// modification times of files. Returns whether there was code that was not left out before.
    pub fn leave_out_all(&mut self, why: &str, changed: impl Fn(&str) -> i64) -> bool {
        let mut had_some = false;
        for PreloadOrder { code, left_out } in self.lists.values_mut() {
            for (name, file) in code.modules.iter().chain(&code.scripts) {
                let changed = changed(file);
                let is_it = |one: &LeftOutCode| one.name == *name && one.file == *file;
                if changed == 0 || left_out.iter().any(|one| is_it(one) && one.changed == changed) {
                    continue;
                }
                had_some = true;
                left_out.retain(|one| !is_it(one));
                left_out.push(LeftOutCode { name: name.clone(), file: file.clone(), changed, why: why.to_owned() });
            }
        }
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

    const ID: PoolId = PoolId { generation: 1, pool: 0 };

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
        assert_eq!(preloads.order(ID, "default").code, code(&[("A.pm", "/new/A.pm"), ("B.pm", "/B.pm")]));
        assert_eq!(preloads.order(ID, "old").code, code(&[("C.pm", "/C.pm")]));
        assert_eq!(preloads.order(ID, "none"), PreloadOrder::default());
        assert_eq!(preloads.lists().len(), 2);
    }

    #[test]
    fn code_of_a_failed_start_is_left_out_until_its_file_changes() {
        let mut preloads = Preloads::default();
        preloads.learn("default", code(&[("A.pm", "/A.pm"), ("B.pm", "/gone/B.pm")]));
        let times = |own| move |file: &str| if file == "/A.pm" { own } else { 0 };
        let why = |preloads: &mut Preloads| {
            preloads.order(ID, "default").left_out.iter().map(|one| (one.name.clone(), one.changed)).collect::<Vec<_>>()
        };
        assert!(preloads.leave_out_all("why", times(7)), "there was code");
        assert!(!preloads.leave_out_all("why", times(7)));
        preloads.learn("default", code(&[("A.pm", "/A.pm")]));
        assert!(!preloads.leave_out_all("why", times(7)), "it is not new");
        assert_eq!(why(&mut preloads), [("A.pm".to_owned(), 7)]);
        assert!(preloads.leave_out_all("why", times(8)));
        assert_eq!(why(&mut preloads), [("A.pm".to_owned(), 8)]);
    }

    #[test]
    fn a_mold_that_starts_again_loads_what_the_first_one_did_but_only_once() {
        let mut preloads = Preloads::default();
        preloads.learn("default", code(&[("A.pm", "/A.pm")]));
        let first = preloads.order(ID, "default");
        preloads.learn("default", code(&[("B.pm", "/B.pm")]));
        preloads.serve(ID.generation);
        assert_eq!(preloads.order_again(ID), first);
        assert_eq!(preloads.order_again(ID), PreloadOrder::default());
        preloads.order(ID, "default");
        preloads.serve(ID.generation + 1);
        assert_eq!(preloads.order_again(ID), PreloadOrder::default());
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
        assert_eq!(preloads.order(ID, "default").left_out, [left_out("A.pm")]);
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
        assert_eq!(preloads.order(ID, "default").code.modules.len(), MAX_PIECES);
    }
}
