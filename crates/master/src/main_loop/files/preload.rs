//! `PerlPreload auto`: workers are asked for the code that they have loaded since the fork, and the list is stored for
//! the next start.

use std::io;
use std::time::{Duration, Instant};

use wire::control::{GenerationNumber, Inspection, LeftOutCode, PoolId, PreloadOrder};

use crate::children::MoldId;
use crate::configuration::{CheckedConfig, CodeError, ConfigInput, ConfigOrigin};
use crate::inspections::{PendingInspection, ReportAsker};
use crate::late_code_file;
use crate::loaded;
use crate::main_loop::Master;
use base::log;

/// A worker that is busy for longer is not asked: a reload and a stop wait for the answers.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of workers of a pool that are asked from time to time. To answer, each loads a module.
const FEW: usize = 8;
/// The same where all leave afterwards.
const MANY: usize = 100;

impl Master {
    /// Takes the list of the last run.
    pub(in crate::main_loop) fn remember_late_code(&mut self) {
        let Some(path) = self.checked.config.preload_file() else { return };
        match late_code_file::take(&path, &identity(&self.origin)) {
            Ok(lists) => self.preloads.remember(lists),
            Err(why) => {
                log::warn("master", format_args!("PerlPreload: {} is ignored: {why}", path.display()));
            }
        }
    }

    /// The code that a new mold loads beyond the configuration's.
    pub(in crate::main_loop) fn late_code_for(&mut self, id: PoolId, checked: &CheckedConfig) -> PreloadOrder {
        let config = &checked.config;
        match config.perl.preload && !config.is_of_programs(id.pool) {
            true if self.serves_by(id.generation) => self.preloads.order_again(id),
            true => self.preloads.order(id, config.pool_name(id.pool)),
            false => PreloadOrder::default(),
        }
    }

    fn serves_by(&self, number: GenerationNumber) -> bool {
        self.generations.get(number).is_some_and(|generation| !generation.is_young())
    }

    /// A mold has loaded its code, but not this. A mold that was started again may have had no list.
    pub(in crate::main_loop) fn note_left_out(&mut self, id: PoolId, left_out: Vec<LeftOutCode>) {
        if let Some(generation) = self.generations.get(id.generation).filter(|generation| generation.is_young()) {
            self.preloads.note_left_out(generation.config.config.pool_name(id.pool), left_out);
        }
    }

    /// A generation serves: what it has learnt at its start is stored.
    pub(in crate::main_loop) fn begin_surveys(&mut self, number: GenerationNumber) {
        self.preloads.serve(number);
        if self.checked.config.preload_file().is_some() {
            self.preloads.begin_surveys(Instant::now());
            self.save_late_code();
        }
    }

    /// Asks some workers, if it is time.
    pub(in crate::main_loop) fn survey_when_due(&mut self, now: Instant) {
        if self.preloads.is_survey_due(now)
            && self.serves()
            && let Err(error) = self.survey(ReportAsker::Survey, FEW)
        {
            log::warn("master", format_args!("PerlPreload: cannot query the code that workers have loaded: {error}"));
        }
    }

    /// Asks the workers before they are replaced by others. Returns whether the reload waits for the answers.
    pub(in crate::main_loop) fn surveys_before_reload(&mut self) -> bool {
        self.checked.config.perl.preload && self.survey_or_warn(ReportAsker::Reload)
    }

    /// Asks the workers before they leave. Returns whether the stop waits for the answers.
    pub(in crate::main_loop) fn surveys_before_stop(&mut self) -> bool {
        self.serves() && self.checked.config.preload_file().is_some() && self.survey_or_warn(ReportAsker::Stop)
    }

    fn survey_or_warn(&mut self, asker: ReportAsker) -> bool {
        let begun = self.survey(asker, MANY);
        if let Err(error) = &begun {
            log::warn("master", format_args!("PerlPreload: cannot query the code that workers have loaded: {error}"));
        }
        begun.is_ok()
    }

    fn survey(&mut self, asker: ReportAsker, most: usize) -> io::Result<()> {
        let config = self.checked.clone();
        let pools = self.generations.serving_pools();
        let pools: Vec<PoolId> = pools.into_iter().filter(|id| !config.config.is_of_programs(id.pool)).collect();
        // A mold that was a worker has what its requests loaded: the next start needs that, too.
        let molds: Vec<MoldId> = pools.iter().filter_map(|pool| self.first_mold(*pool)).collect();
        let (reporters, done) = self.ask_pools(&pools, &molds, Inspection::Loaded, most)?;
        let by = Instant::now() + PATIENCE;
        self.inspections.add(PendingInspection { asker, reporters, done, by, search_until: None });
        Ok(())
    }

    fn first_mold(&mut self, pool: PoolId) -> Option<MoldId> {
        let first = MoldId { pool, refork: 0 };
        if self.children.mold(first).is_some() { Some(first) } else { self.forking_mold(pool) }
    }

    /// Adds the code of the reports to the lists.
    pub(in crate::main_loop) fn learn_late_code(&mut self, inspection: PendingInspection) {
        for (id, reports) in inspection.reports_by_pool() {
            if let Some(generation) = self.generations.get(id.generation) {
                let name = generation.config.config.pool_name(id.pool).to_owned();
                self.preloads.learn(&name, loaded::wanted(&reports));
            }
        }
        self.save_late_code();
    }

    pub(in crate::main_loop) fn save_late_code(&self) {
        let Some(path) = self.checked.config.preload_file() else { return };
        if let Err(error) = late_code_file::save(&path, &identity(&self.origin), self.preloads.lists()) {
            let why = "the code that workers load is not stored for the next start";
            log::warn("master", format_args!("PerlPreload: {}: {why}: {error}", path.display()));
        }
    }

    /// A generation could not start. Returns whether late code may be the reason; it is left out from now on then.
    pub(in crate::main_loop) fn leaves_out_late_code(&mut self, error: &anyhow::Error) -> bool {
        let is_suspect = error.downcast_ref::<CodeError>().is_none()
            && self.preloads.leave_out_all("a start with it failed", late_code_file::changed);
        if is_suspect {
            let why = "the code that earlier workers had loaded is no longer loaded before the fork";
            log::error("master", format_args!("PerlPreload: a start with it failed: {error:#}; {why}"));
        }
        self.save_late_code();
        is_suspect
    }
}

/// Name of the configuration among others of this machine: the path of the file, or the directives.
fn identity(origin: &ConfigOrigin) -> String {
    match &origin.from {
        ConfigInput::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
        ConfigInput::Options(all) => all.iter().map(|text| text.directives.as_str()).collect(),
    }
}
