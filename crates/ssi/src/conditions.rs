//! Which parts of a document `if`, `elif`, `else` and `endif` send.

/// The state of the conditions at a point of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// Whether text and elements have an effect here.
    pub printing: bool,
    /// Whether a branch of the current `if` was taken.
    is_true: bool,
    /// Number of `if`s within text that is left out.
    depth: u32,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions { printing: true, is_true: true, depth: 0 }
    }
}

impl Conditions {
    /// An `if` within text that is left out. Returns whether the element needs no evaluation.
    pub fn skips_if(&mut self) -> bool {
        if !self.printing {
            self.depth = self.depth.saturating_add(1);
        }
        !self.printing
    }

    /// Whether an `elif`, `else` or `endif` belongs to an `if` within text that is left out.
    pub fn is_inside_of_skipped(&self) -> bool {
        self.depth > 0
    }

    /// The result of an `if` or `elif`.
    pub fn decide(&mut self, is_true: bool) {
        (self.printing, self.is_true) = (is_true, is_true);
    }

    /// An `if` or `elif` without a result: as in httpd, nothing is sent up to its `endif`.
    pub fn fail(&mut self) {
        (self.printing, self.is_true) = (false, true);
    }

    /// An `elif`. Returns whether its expression decides.
    pub fn reach_elif(&mut self) -> bool {
        if self.is_true {
            self.printing = false;
        }
        !self.is_true
    }

    /// An `else`.
    pub fn reach_else(&mut self) {
        self.printing = !self.is_true;
        self.is_true = true;
    }

    /// An `endif`. One without an `if` has no effect.
    pub fn reach_endif(&mut self) {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => *self = Conditions::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_row_of_ifs_costs_no_memory() {
        let mut conditions = Conditions::default();
        conditions.decide(false);
        for _ in 0..1_000_000 {
            assert!(conditions.skips_if());
        }
        for _ in 0..1_000_000 {
            conditions.reach_endif();
            assert!(!conditions.printing);
        }
        conditions.reach_endif();
        assert!(conditions.printing);
    }

    #[test]
    fn only_the_first_true_branch_is_sent() {
        let mut conditions = Conditions::default();
        conditions.decide(false);
        assert!(conditions.reach_elif());
        conditions.decide(true);
        assert!(!conditions.reach_elif() && !conditions.printing);
        conditions.reach_else();
        assert!(!conditions.printing);
        conditions.reach_endif();
        assert!(conditions.printing);
    }
}
