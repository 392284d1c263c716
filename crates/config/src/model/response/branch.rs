//! `<If>`, `<ElseIf>`, `<Else>`: sections that a condition on the request selects.

use crate::model::response::expr::Expr;

/// The condition of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Branch {
    /// `<If expression>`: begins a chain.
    If(Expr),
    /// `<ElseIf expression>`: applies if no section of the chain before it did.
    ElseIf(Expr),
    /// `<Else>`
    Else,
}

impl Branch {
    /// Name of the section's directive.
    pub fn name(&self) -> &'static str {
        match self {
            Branch::If(_) => "If",
            Branch::ElseIf(_) => "ElseIf",
            Branch::Else => "Else",
        }
    }

    /// The expression as written. Empty for `<Else>`.
    pub fn argument(&self) -> &str {
        match self {
            Branch::If(expr) | Branch::ElseIf(expr) => expr.as_str(),
            Branch::Else => "",
        }
    }

    /// Whether `<ElseIf>` or `<Else>` may follow.
    pub fn may_be_continued(&self) -> bool {
        !matches!(self, Branch::Else)
    }
}

/// Whether a section of a chain has applied.
#[derive(Debug, Default)]
pub struct BranchChain {
    has_applied: bool,
}

impl BranchChain {
    /// Whether the next section applies. `is_true` evaluates its expression, unless an earlier section has applied.
    pub fn applies(&mut self, branch: &Branch, is_true: impl FnOnce(&Expr) -> bool) -> bool {
        let applies = match branch {
            Branch::If(expr) => is_true(expr),
            Branch::ElseIf(expr) => !self.has_applied && is_true(expr),
            Branch::Else => !self.has_applied,
        };
        self.has_applied = match branch {
            Branch::If(_) => applies,
            Branch::ElseIf(_) | Branch::Else => self.has_applied || applies,
        };
        applies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::pattern::Budget;

    #[test]
    fn one_section_of_a_chain_applies_at_most() {
        let expr = |source| Expr::parse(source, &mut Budget::of_htaccess()).expect(source);
        let chain = [
            Branch::If(expr("true")),
            Branch::ElseIf(expr("true")),
            Branch::Else,
            Branch::If(expr("false")),
            Branch::ElseIf(expr("true")),
            Branch::ElseIf(expr("true")),
            Branch::Else,
            Branch::If(expr("false")),
            Branch::Else,
        ];
        let mut state = BranchChain::default();
        let applied = chain.map(|branch| state.applies(&branch, |expr| expr.as_str() == "true"));
        assert_eq!(applied, [true, false, false, false, true, false, false, false, true]);
    }
}
