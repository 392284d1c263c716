//! The configuration as the master sends it to front and mold, so that each builds the same [`Config`].

use serde::{Deserialize, Serialize};

use crate::model::config::{Config, Facts};
use crate::model::perl::api::PerlGeneration;
use crate::syntax::parse::ConfigReader;
use crate::syntax::tree::{ConfigError, Directive};
use crate::table;
use crate::table::is_elsewhere;

/// A parsed configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Directives in file order.
    pub tree: Vec<Directive>,
    /// Inputs besides the text.
    pub facts: Facts,
}

impl Bundle {
    /// Parses a configuration. The errors include semantic errors in the readable part of the text, so that all
    /// mistakes are reported at once.
    pub fn read(reader: ConfigReader<'_>, facts: Facts) -> Result<Bundle, Vec<ConfigError>> {
        let (tree, mut errors) = reader.into_parts();
        let bundle = Bundle { tree, facts };
        if errors.is_empty() {
            return Ok(bundle);
        }
        // Directives that Perl would add are unknown until the text can be parsed.
        if !bundle.needs_perl() {
            let (_, more) = Config::understand(&bundle.tree, &bundle.facts);
            // An error without a position reports a missing directive, which may be in the unreadable part.
            errors.extend(more.into_iter().filter(|error| error.at.is_some()));
        }
        Err(errors)
    }

    /// The configuration without the blocks of other modules that [`ConfigReader::surveying`] retains.
    pub fn without_skipped(&self) -> Bundle {
        Bundle { tree: without_skipped(&self.tree), facts: self.facts.clone() }
    }

    /// Whether Perl code must run to complete the configuration: for `<Perl>` sections, and for unknown directives that
    /// code loaded before them may define.
    pub fn needs_perl(&self) -> bool {
        let all: Vec<&Directive> = self.flat().collect();
        if all.iter().any(|directive| directive.name.eq_ignore_ascii_case("Perl")) {
            return true;
        }
        let is =
            |directive: &Directive, names: &[&str]| names.iter().any(|name| directive.name.eq_ignore_ascii_case(name));
        if self.facts.generation() == PerlGeneration::Two && all.iter().any(|directive| is(directive, LOADS)) {
            return true;
        }
        let Some(last) = all.iter().rposition(|directive| !table::is_known(&directive.name)) else { return false };
        let steps = Config::sketch(&self.tree, &self.facts).start_up;
        let loads = |directive: &Directive| steps.iter().any(|it| it.at == directive.at && it.step.may_define());
        all[..last].iter().any(|directive| loads(directive))
    }

    /// All directives, each before its contents.
    pub fn flat(&self) -> impl Iterator<Item = &Directive> {
        flat(&self.tree)
    }

    /// Builds the configuration. The result is the same in every process.
    pub fn build(&self) -> Result<Config, Vec<ConfigError>> {
        Config::build(&self.tree, &self.facts)
    }
}

/// The API that the text implies for the default pool. Directives of other pools are ignored, except those of hosts
/// with `PerlOptions +Parent`, which only mod_perl 2 has.
pub fn speaks_of(reader: &ConfigReader<'_>) -> Option<PerlGeneration> {
    table::speaks_of(own(reader.tree())).map(|(generation, _)| generation)
}

/// Directives whose code may change the configuration while mod_perl 2 reads it (`$s->add_config`).
/// PerlPostConfigRequire runs twice, at each reading: `Apache2::ServerUtil::restart_count`.
const LOADS: &[&str] = &["PerlRequire", "PerlModule", "PerlConfigRequire", "PerlLoadModule", "PerlPostConfigRequire"];

fn flat(tree: &[Directive]) -> Box<dyn Iterator<Item = &Directive> + '_> {
    Box::new(tree.iter().flat_map(|d| std::iter::once(d).chain(flat(d.section.as_deref().unwrap_or_default()))))
}

fn own(tree: &[Directive]) -> Box<dyn Iterator<Item = &Directive> + '_> {
    let own = tree.iter().filter(|directive| !is_elsewhere(directive));
    Box::new(own.flat_map(|d| std::iter::once(d).chain(self::own(d.section.as_deref().unwrap_or_default()))))
}

/// Whether the directive is an `<IfModule>` whose condition is false. True conditions are replaced by their contents.
pub fn is_skipped(directive: &Directive) -> bool {
    directive.name.eq_ignore_ascii_case("IfModule")
}

/// The tree without `<IfModule>` blocks whose conditions are false.
pub fn without_skipped(tree: &[Directive]) -> Vec<Directive> {
    let kept = tree.iter().filter(|directive| !is_skipped(directive));
    kept.map(|directive| Directive { section: directive.section.as_deref().map(without_skipped), ..directive.clone() })
        .collect()
}
