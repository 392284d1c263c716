//! The two APIs of mod_perl, and options of mod_perl 2.

use std::sync::LazyLock;

/// Name that mod_perl 2 defines for `<IfDefine>`. Its definition selects mod_perl 2's API.
pub const MODPERL2: &str = "MODPERL2";

/// `PerlGeneration`: mod_perl 1's API (`Apache::*`) or mod_perl 2's (`Apache2::*`, `APR::*`, `ModPerl::*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PerlGeneration {
    /// mod_perl 1.31
    #[default]
    One,
    /// mod_perl 2.0.12
    Two,
}

impl PerlGeneration {
    /// Number in `PerlGeneration`.
    pub fn number(self) -> u8 {
        match self {
            PerlGeneration::One => 1,
            PerlGeneration::Two => 2,
        }
    }
}

/// `PerlOptions`: flags that are set, and flags that are reset. Other flags have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PerlOptions {
    on: u32,
    off: u32,
}

/// Names of the flags; an index is a bit number. The first ones are mod_perl 2's flags of places, the others those of
/// servers.
pub static FLAGS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let flags = "SendHeader SetupEnv MergeHandlers GlobalRequest ParseHeaders Parent Enable Clone \
        InheritSwitches Autoload OpenLogs PostConfig ChildInit ChildExit PreConnection ProcessConnection \
        PostReadRequest Trans MapToStorage Init HeaderParser Access Authen Authz Type Fixup Response Log Cleanup \
        InputFilter OutputFilter";
    flags.split(' ').collect()
});

/// The bit of a flag, by its name in any case.
pub fn flag(name: &str) -> Option<u32> {
    FLAGS.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|at| 1 << at)
}

impl PerlOptions {
    /// Whether a flag is set. `default` applies if it is neither set nor reset.
    pub fn has(self, name: &str, default: bool) -> bool {
        let bit = flag(name).unwrap_or_default();
        self.on & bit != 0 || default && self.off & bit == 0
    }

    /// Merges the flags of an inner section.
    pub fn merge(&mut self, inner: &PerlOptions) {
        self.on = (self.on | inner.on) & !inner.off;
        self.off = (self.off | inner.off) & !inner.on;
    }

    /// Applies `+Name`, `-Name` or `Name`.
    pub fn set(&mut self, word: &str) -> Result<(), String> {
        let name = word.trim_start_matches(['+', '-']);
        if name.eq_ignore_ascii_case("None") {
            *self = PerlOptions { on: 0, off: u32::MAX };
            return Ok(());
        }
        let bit = flag(name).ok_or_else(|| format!("unknown option {name}: expected one of {}", FLAGS.join(", ")))?;
        let configured =
            if word.starts_with('-') { PerlOptions { on: 0, off: bit } } else { PerlOptions { on: bit, off: 0 } };
        self.merge(&configured);
        Ok(())
    }
}

/// Names of the Perl filters of request bodies and responses in a worker. An inner section's list replaces the outer
/// list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct PerlFilters {
    /// `PerlInputFilterHandler`, of request bodies: the first passes its bytes to the program.
    pub input: Vec<String>,
    /// `PerlOutputFilterHandler`, of responses: the first gets the program's bytes.
    pub output: Vec<String>,
}

impl PerlFilters {
    /// Whether there are no filters.
    pub fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }

    /// Prepends the outer lists to the lists that are not empty.
    pub fn prepend(&mut self, outer: &PerlFilters) {
        for (inner, outer) in [(&mut self.input, &outer.input), (&mut self.output, &outer.output)] {
            if !inner.is_empty() {
                inner.splice(0..0, outer.iter().cloned());
            }
        }
    }

    /// Merges the lists of an inner section.
    pub fn merge(&mut self, inner: &PerlFilters) {
        for (outer, inner) in [(&mut self.input, &inner.input), (&mut self.output, &inner.output)] {
            if !inner.is_empty() {
                outer.clone_from(inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_section_sets_and_resets_options() {
        let mut options = PerlOptions::default();
        let mut outer = PerlOptions::default();
        outer.set("+GlobalRequest").expect("known");
        outer.set("SetupEnv").expect("known");
        options.merge(&outer);
        let mut inner = PerlOptions::default();
        inner.set("-setupenv").expect("known");
        options.merge(&inner);
        assert!(options.has("GlobalRequest", false) && !options.has("SetupEnv", true) && options.has("Access", true));
        assert!(inner.set("+Coffee").expect_err("unknown").contains("GlobalRequest"));
    }
}
