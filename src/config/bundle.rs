//! What the master sends to front and mold, so that each builds the same [`Config`].

use serde::{Deserialize, Serialize};

use crate::config::model::config::{Config, Facts};
use crate::config::model::perl::api::Generation;
use crate::config::syntax::parse::Reader;
use crate::config::syntax::tree::{ConfigError, Directive};
use crate::config::table;
use crate::config::table::is_elsewhere;

/// A configuration as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// What was said.
    pub tree: Vec<Directive>,
    /// What else counts.
    pub facts: Facts,
}

impl Bundle {
    /// What was read, or everything that is wrong with the text, and with what the rest of it means: whoever mends a
    /// configuration wants all of it at once.
    pub fn read(reader: Reader<'_>, facts: Facts) -> Result<Bundle, Vec<ConfigError>> {
        let (tree, mut errors) = reader.into_parts();
        let bundle = Bundle { tree, facts };
        if errors.is_empty() {
            return Ok(bundle);
        }
        // What Perl would have added, nobody knows before the text is right.
        if !bundle.needs_perl() {
            let (_, more) = Config::understand(&bundle.tree, &bundle.facts);
            // An error without a place is about what is missing; it may be in the part that could not be read.
            errors.extend(more.into_iter().filter(|error| error.at.is_some()));
        }
        Err(errors)
    }

    /// What is meant for this server: without the blocks of other modules that [`Reader::surveying`] keeps.
    pub fn without_skipped(&self) -> Bundle {
        Bundle { tree: without_skipped(&self.tree), facts: self.facts.clone() }
    }

    /// Whether the meaning depends on Perl code: on a `<Perl>` section; or on a name that nobody knows, where code that is
    /// loaded before it may know it.
    pub fn needs_perl(&self) -> bool {
        let all: Vec<&Directive> = self.flat().collect();
        if all.iter().any(|directive| directive.name.eq_ignore_ascii_case("Perl")) {
            return true;
        }
        let is =
            |directive: &Directive, names: &[&str]| names.iter().any(|name| directive.name.eq_ignore_ascii_case(name));
        if self.facts.generation() == Generation::Two && all.iter().any(|directive| is(directive, LOADS)) {
            return true;
        }
        let Some(last) = all.iter().rposition(|directive| !table::is_known(&directive.name)) else { return false };
        let steps = Config::sketch(&self.tree, &self.facts).start_up;
        let loads = |directive: &Directive| steps.iter().any(|it| it.at == directive.at && it.step.may_define());
        all[..last].iter().any(|directive| loads(directive))
    }

    /// Every directive, each before those inside it.
    pub fn flat(&self) -> impl Iterator<Item = &Directive> {
        flat(&self.tree)
    }

    /// What it means; the same in every process.
    pub fn build(&self) -> Result<Config, Vec<ConfigError>> {
        Config::build(&self.tree, &self.facts)
    }
}

/// Which of mod_perl's APIs the text that was read speaks of, if it does; what belongs to other pools than the server's own speaks for
/// those. Only mod_perl 2 has hosts with `PerlOptions +Parent`.
pub fn speaks_of(reader: &Reader<'_>) -> Option<Generation> {
    table::speaks_of(own(reader.tree())).map(|(generation, _)| generation)
}

/// What loads code when mod_perl 2 reads a configuration: the code may add to it (`$s->add_config`). The last name runs twice, at
/// each reading: `Apache2::ServerUtil::restart_count`.
const LOADS: &[&str] = &["PerlRequire", "PerlModule", "PerlConfigRequire", "PerlLoadModule", "PerlPostConfigRequire"];

fn flat(tree: &[Directive]) -> Box<dyn Iterator<Item = &Directive> + '_> {
    Box::new(tree.iter().flat_map(|d| std::iter::once(d).chain(flat(d.section.as_deref().unwrap_or_default()))))
}

fn own(tree: &[Directive]) -> Box<dyn Iterator<Item = &Directive> + '_> {
    let own = tree.iter().filter(|directive| !is_elsewhere(directive));
    Box::new(own.flat_map(|d| std::iter::once(d).chain(self::own(d.section.as_deref().unwrap_or_default()))))
}

/// Conditions that hold are dissolved when they are read: one that stands in a tree does not.
pub fn is_skipped(directive: &Directive) -> bool {
    directive.name.eq_ignore_ascii_case("IfModule")
}

/// A tree without the blocks of modules that are not there.
pub fn without_skipped(tree: &[Directive]) -> Vec<Directive> {
    let kept = tree.iter().filter(|directive| !is_skipped(directive));
    kept.map(|directive| Directive { section: directive.section.as_deref().map(without_skipped), ..directive.clone() })
        .collect()
}
