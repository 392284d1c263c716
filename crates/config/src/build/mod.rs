//! Conversion of [`Directive`]s to a [`Config`], by the table.

mod apply;
mod client_certificates;
mod connections;
mod disk;
mod event_pools;
mod finish;
mod handlers;
mod logs;
mod managed;
mod no_code;
mod pools;
mod programs;
mod proxies;
mod satisfy;
mod shadow;
mod unusable;

use std::path::{Path, PathBuf};

use crate::draft::{Draft, Position};
use crate::model::config::{Config, Facts};
use crate::model::context::{Rank, Scope, SectionContext, depth};
use crate::model::overrides::HtaccessRules;
use crate::model::perl::api::PerlGeneration;
use crate::model::perl::phases::Phase;
use crate::syntax::pattern::Budget;
use crate::syntax::source::below;
use crate::syntax::tree::{ConfigError, Directive};

impl Config {
    /// Builds the configuration, or returns all errors. Warnings are in [`Config::warnings`].
    pub fn build(tree: &[Directive], facts: &Facts) -> Result<Config, Vec<ConfigError>> {
        let (config, errors) = Config::understand(tree, facts);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// Builds the configuration as far as possible, and returns all errors.
    pub fn understand(tree: &[Directive], facts: &Facts) -> (Config, Vec<ConfigError>) {
        let tree = shadow::replaced(tree, facts.shadow.as_ref());
        let mut draft = Draft::of(&tree, facts);
        draft.config.perl_access = has_perl_access(&tree);
        draft.read(&tree);
        draft.finish()
    }

    /// Builds the configuration as far as possible, ignoring errors: for use before the tree is complete.
    pub fn sketch(tree: &[Directive], facts: &Facts) -> Config {
        let tree = shadow::replaced(tree, facts.shadow.as_ref());
        let mut draft = Draft::of(&tree, facts);
        draft.read(&tree);
        draft.complete();
        draft.config
    }
}

/// Appends the lines of [`Config::outline`].
fn outline(tree: &[Directive], depth: usize, text: &mut String) {
    for Directive { name, args, at, section } in tree {
        let words = args.iter().map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() });
        let (open, close) = if section.is_some() { ("<", ">") } else { ("", "") };
        let arguments = words.collect::<Vec<_>>().join(" ").replace(['\n', '\0'], " ");
        text.push_str(&format!("{depth}\0{}\0{}\0{open}{name}\0{arguments}{close}\n", at.line, at.file));
        outline(section.as_deref().unwrap_or_default(), depth + 1, text);
    }
}

impl Draft {
    fn read(&mut self, tree: &[Directive]) {
        self.defaults();
        self.main_server();
        self.find_pools(tree);
        self.add_outline(tree);
        self.walk(tree);
        self.walk_pools();
    }

    fn add_outline(&mut self, tree: &[Directive]) {
        if self.config.perl.generation == PerlGeneration::Two || self.config.uses_both_apis() {
            outline(tree, 0, &mut self.config.outline);
        }
    }

    fn of(tree: &[Directive], facts: &Facts) -> Draft {
        let mut draft = Draft::new(facts, server_root(tree, facts));
        draft.documents_root = documents_root(tree, facts);
        draft
    }

    /// Builds a `.htaccess` file. Its own section is the first, followed by those within it.
    pub(super) fn of_htaccess(
        config: &Config,
        folder: &Path,
        rules: HtaccessRules,
        patterns: Budget,
        tree: &[Directive],
    ) -> Self {
        let mut draft = Draft::new(&config.facts, config.server_root.clone());
        draft.config.sections.clear();
        draft.config.perl_access = config.perl_access || has_perl_access(tree);
        draft.config.authz_providers.clone_from(&config.authz_providers);
        draft.config.authn_providers.clone_from(&config.authn_providers);
        draft.config.authn_aliases.clone_from(&config.authn_aliases);
        draft.config.authz_aliases.clone_from(&config.authz_aliases);
        draft.htaccess = Some(rules);
        if let (Some(main), Some(known)) = (draft.config.hosts.first_mut(), config.hosts.first()) {
            main.maps.clone_from(&known.maps);
        }
        draft.patterns = patterns;
        draft.may_use_either_api = config.uses_both_apis();
        let rank = Rank::directory(depth(folder));
        let section = draft.add_section(Scope::Directory(folder.to_owned()), None, rank);
        draft.walk_in(Position { context: SectionContext::Htaccess, section, ..draft.position }, tree);
        draft
    }
}

/// `ServerRoot`, which as in httpd also applies to paths on earlier lines.
pub fn server_root(tree: &[Directive], facts: &Facts) -> PathBuf {
    named_root(tree).map_or_else(|| facts.server_root.clone(), |root| below(&facts.started_in, root))
}

/// Base of relative document paths. httpd 1.3 uses the working folder, httpd 2 ServerRoot. A configuration with a
/// relative ServerRoot is for httpd 1.3.
fn documents_root(tree: &[Directive], facts: &Facts) -> PathBuf {
    match named_root(tree) {
        Some(root) if Path::new(root).is_relative() => facts.started_in.clone(),
        _ => server_root(tree, facts),
    }
}

fn named_root(tree: &[Directive]) -> Option<&String> {
    let named = tree.iter().rfind(|directive| directive.name.eq_ignore_ascii_case("ServerRoot"));
    named.and_then(|directive| directive.args.first())
}

/// Whether any Perl handler controls access. If so, it may define unknown words.
pub(super) fn has_perl_access(tree: &[Directive]) -> bool {
    let phases = [Phase::Access, Phase::Authen, Phase::Authz];
    tree.iter().any(|directive| {
        phases.iter().any(|phase| directive.name.eq_ignore_ascii_case(phase.name()))
            || directive.section.as_deref().is_some_and(has_perl_access)
    })
}
