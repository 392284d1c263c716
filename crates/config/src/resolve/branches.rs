//! `<If>` sections of a request. As in httpd they are merged after all other sections, in the order of the sections
//! that contain them; those within an `<If>` directly after it.

use std::sync::Arc;

use super::htaccess::Htaccess;
use crate::model::config::Config;
use crate::model::context::Scope;
use crate::model::response::branch::{Branch, BranchChain};
use crate::model::response::expr::Expr;
use crate::model::settings::Section;

/// The search for the `<If>` sections that apply to one request.
struct BranchWalk<'a> {
    files: &'a [Arc<Htaccess>],
    is_true: &'a dyn Fn(&Expr) -> bool,
    /// Numbers of the sections found so far.
    applying: Vec<u16>,
}

impl Config {
    /// The `<If>` sections that apply to a request for which `sections` and `files` do. `is_true` evaluates conditions,
    /// each once.
    pub fn branches(&self, sections: &[u16], files: &[Arc<Htaccess>], is_true: &dyn Fn(&Expr) -> bool) -> Vec<u16> {
        let mut walk = BranchWalk { files, is_true, applying: Vec::new() };
        let mut chain = BranchChain::default();
        for number in sections {
            self.walk_branches(*number, &mut chain, &mut walk);
        }
        walk.applying
    }

    /// `None`: neither the configuration nor `files` has a section with this number.
    pub fn scope_of<'a>(&'a self, files: &'a [Arc<Htaccess>], number: u16) -> Option<&'a Scope> {
        self.section(files, number).map(|section| &section.scope)
    }

    /// An `<If>` section as text: its condition, those before it in the same section, and the sections around it.
    pub fn branch_text(&self, files: &[Arc<Htaccess>], number: u16) -> String {
        let first = self.first_of_text(number, files);
        let mut text = String::new();
        let mut next = Some(number);
        while let Some(at) = next {
            let Some(section) = self.section(files, at) else { break };
            text.push_str(&format!("{} {}\0", section.scope.name(), section.scope.argument()));
            // Sections come after those around them.
            next = section.inside.and_then(|inside| first.checked_add(inside)).filter(|outer| *outer < at);
            let before = next.into_iter().flat_map(|outer| self.branches_of(outer, files));
            before.take_while(|(before, _)| *before < at).for_each(|(_, branch)| {
                text.push_str(&format!("{} {}\0", branch.name(), branch.argument()));
            });
        }
        text
    }

    /// Whether any of these sections contains an `<If>`.
    pub fn have_branches(&self, sections: &[u16], files: &[Arc<Htaccess>]) -> bool {
        let has_any = |number: &u16| self.section(files, *number).is_some_and(|section| !section.branches.is_empty());
        (self.uses_branches || !files.is_empty()) && sections.iter().any(has_any)
    }

    fn walk_branches(&self, outer: u16, chain: &mut BranchChain, walk: &mut BranchWalk) {
        for (number, branch) in self.branches_of(outer, walk.files) {
            if chain.applies(branch, walk.is_true) {
                walk.applying.push(number);
                self.walk_branches(number, &mut BranchChain::default(), walk);
            }
        }
    }

    /// The `<If>` sections within a section.
    fn branches_of<'a>(&'a self, outer: u16, files: &'a [Arc<Htaccess>]) -> impl Iterator<Item = (u16, &'a Branch)> {
        let first = self.first_of_text(outer, files);
        let inner: &[u16] = self.section(files, outer).map_or(&[], |section: &Section| &section.branches);
        inner.iter().filter_map(move |at| {
            let number = first.checked_add(*at)?;
            match &self.section(files, number)?.scope {
                Scope::If(branch) => Some((number, branch)),
                _ => None,
            }
        })
    }

    /// The number of the first section of the file that contains a section.
    fn first_of_text(&self, number: u16, files: &[Arc<Htaccess>]) -> u16 {
        let (mut first, mut next) = (0, self.sections.len());
        for file in files {
            if usize::from(number) < next {
                break;
            }
            (first, next) = (next, next + file.section_count());
        }
        u16::try_from(first).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::Facts;
    use crate::parse::{self, ParserSource};

    #[test]
    fn the_text_of_a_branch_tells_it_from_all_others() {
        let text = |lines: &str| {
            let text = format!("Listen 80\n{lines}");
            let tree = parse::text(&text, "test", &ParserSource::disk("/srv", &|_| None)).expect("directives");
            let config = Config::build(&tree, &Facts { server_root: "/srv".into(), ..Facts::default() });
            let config = config.expect("a configuration");
            config.branch_text(&[], u16::try_from(config.sections.len() - 1).expect("few sections"))
        };
        let [one, other] = ["1", "2"].map(|value| format!("<If \"%{{HTTP:A}} == '{value}'\">\n</If>\n"));
        let within = |path: &str, lines: &str| format!("<Location {path}>\n{lines}</Location>\n");
        let not = "<Else>\n</Else>\n";
        let all = [
            text(&one),
            text(&other),
            text(&within("/a", &one)),
            text(&within("/b", &one)),
            text(&within("/a", &(one.clone() + not))),
            text(&within("/a", &(other.clone() + not))),
        ];
        for (at, text) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other != text), "{text:?}");
        }
        assert_eq!(text(&format!("{}{}", within("/0", &other), within("/a", &one))), text(&within("/a", &one)));
    }
}
