//! `<If>`, `<ElseIf>`, `<Else>`.

use crate::draft::{Draft, OpenedSection, Position};
use crate::model::context::{Rank, Scope, SectionContext};
use crate::model::response::branch::Branch;
use crate::model::response::expr::Expr;
use crate::table::row::{ANY, MANY, Row, rows, section};

pub(super) static ROWS: &[Row] = rows![
    "core.c",
    section("If", ANY, "expression", 1..=MANY, |d, args, _| {
        let expr = Expr::parse(&args.join(" "), &mut d.patterns)?;
        branch(d, Branch::If(expr))
    })
    .because("see the directives in it"),
    "Settings for requests for which the expression is true. Merged after Location, and evaluated once for each request. \
     May stand in another section, also in another If. Directives that are about more than one request are not allowed \
     in it.",
    section("ElseIf", ANY, "expression", 1..=MANY, |d, args, _| {
        let expr = Expr::parse(&args.join(" "), &mut d.patterns)?;
        branch(d, Branch::ElseIf(expr))
    })
    .because("see If"),
    "As If, unless an If or ElseIf before it in the same section applies.",
    section("Else", ANY, "", 0..=0, |d, _, _| branch(d, Branch::Else)).because("see If"),
    "Settings for requests to which no If or ElseIf before it in the same section applies.",
];

fn branch(draft: &mut Draft, branch: Branch) -> OpenedSection {
    draft.charge_rule()?;
    let outer = draft.position.section;
    if !matches!(branch, Branch::If(_)) && !draft.last_branch(outer).is_some_and(Branch::may_be_continued) {
        return Err("expected an <If> or <ElseIf> before it in the same section".to_owned());
    }
    let section = draft.new_section(Scope::If(branch), Some(outer), Rank::BRANCH)?;
    draft.config.uses_branches = true;
    if let Some(outer) = draft.config.sections.get_mut(usize::from(outer)) {
        outer.branches.push(section);
    }
    Ok(Some(Position { context: SectionContext::If, section, ..draft.position }))
}

impl Draft {
    fn last_branch(&self, outer: u16) -> Option<&Branch> {
        let last = self.config.sections.get(usize::from(outer))?.branches.last()?;
        match &self.config.sections.get(usize::from(*last))?.scope {
            Scope::If(branch) => Some(branch),
            _ => None,
        }
    }
}
