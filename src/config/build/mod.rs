//! [`Directive`]s to a [`Config`]: the table says how.

mod apply;
mod connections;
mod disk;
mod finish;
mod handlers;
mod logs;
mod pools;
mod satisfy;
mod shadow;

use std::path::{Path, PathBuf};

use crate::config::draft::{Draft, Position};
use crate::config::model::config::{Config, Facts};
use crate::config::model::context::{Context, Rank, Scope, depth};
use crate::config::model::overrides::HtaccessRules;
use crate::config::model::perl::api::Generation;
use crate::config::model::perl::phases::Phase;
use crate::config::syntax::pattern::Budget;
use crate::config::syntax::source::below;
use crate::config::syntax::tree::{ConfigError, Directive};

impl Config {
    /// What the tree means, or everything that is wrong with it. Warnings stand in [`Config::warnings`].
    pub fn build(tree: &[Directive], facts: &Facts) -> Result<Config, Vec<ConfigError>> {
        let (config, errors) = Config::understand(tree, facts);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    /// What the tree means as far as it can be understood, and everything that is wrong with it.
    pub fn understand(tree: &[Directive], facts: &Facts) -> (Config, Vec<ConfigError>) {
        let tree = shadow::replaced(tree, facts.shadow.as_ref());
        let mut draft = Draft::of(&tree, facts);
        draft.config.perl_access = has_perl_access(&tree);
        draft.defaults();
        draft.main_server();
        draft.find_pools(&tree);
        draft.tell_outline(&tree);
        draft.walk(&tree);
        draft.walk_pools();
        draft.finish()
    }

    /// What the tree means as far as it can be understood: for those who run before it is whole.
    pub fn sketch(tree: &[Directive], facts: &Facts) -> Config {
        let tree = shadow::replaced(tree, facts.shadow.as_ref());
        let mut draft = Draft::of(&tree, facts);
        draft.defaults();
        draft.main_server();
        draft.find_pools(&tree);
        draft.tell_outline(&tree);
        draft.walk(&tree);
        draft.walk_pools();
        draft.complete();
        draft.config
    }
}

/// See [`Config::outline`].
fn outline(tree: &[Directive], depth: usize, text: &mut String) {
    for Directive { name, args, at, section } in tree {
        let words = args.iter().map(|word| if word.contains(' ') { format!("\"{word}\"") } else { word.clone() });
        let (open, close) = if section.is_some() { ("<", ">") } else { ("", "") };
        let said = words.collect::<Vec<_>>().join(" ").replace(['\n', '\0'], " ");
        text.push_str(&format!("{depth}\0{}\0{}\0{open}{name}\0{said}{close}\n", at.line, at.file));
        outline(section.as_deref().unwrap_or_default(), depth + 1, text);
    }
}

impl Draft {
    fn tell_outline(&mut self, tree: &[Directive]) {
        if self.config.perl.generation == Generation::Two || self.config.speaks_both() {
            outline(tree, 0, &mut self.config.outline);
        }
    }

    fn of(tree: &[Directive], facts: &Facts) -> Draft {
        let mut draft = Draft::new(facts, server_root(tree, facts));
        draft.documents_root = documents_root(tree, facts);
        draft
    }

    /// A `.htaccess` file: its section is the first, those in it follow.
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
        draft.htaccess = Some(rules);
        if let (Some(main), Some(known)) = (draft.config.hosts.first_mut(), config.hosts.first()) {
            main.maps.clone_from(&known.maps);
        }
        draft.patterns = patterns;
        draft.may_speak_any = config.speaks_both();
        let rank = Rank::directory(depth(folder));
        let section = draft.add_section(Scope::Directory(folder.to_owned()), None, rank);
        draft.walk_in(Position { context: Context::Htaccess, section, ..draft.position }, tree);
        draft
    }
}

/// As in httpd, `ServerRoot` holds for paths that stand above it, too.
pub fn server_root(tree: &[Directive], facts: &Facts) -> PathBuf {
    named_root(tree).map_or_else(|| facts.server_root.clone(), |root| below(&facts.started_in, root))
}

/// Where relative names of documents start. httpd 1.3 takes them as of the folder that it was started in, httpd 2 as of
/// ServerRoot: a configuration whose ServerRoot is relative itself is written for the former.
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

/// Whether Perl code takes part anywhere in saying who comes in: with it, words that we do not know may be known.
pub(super) fn has_perl_access(tree: &[Directive]) -> bool {
    let phases = [Phase::Access, Phase::Authen, Phase::Authz];
    tree.iter().any(|directive| {
        phases.iter().any(|phase| directive.name.eq_ignore_ascii_case(phase.name()))
            || directive.section.as_deref().is_some_and(has_perl_access)
    })
}
