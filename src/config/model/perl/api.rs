//! Which of mod_perl's two APIs a server speaks, and what mod_perl 2 lets a place choose.

/// The name that mod_perl 2 defines for `<IfDefine>`: who finds it reads for that API.
pub const MODPERL2: &str = "MODPERL2";

/// `PerlGeneration`: mod_perl 1's API (`Apache::*`) or mod_perl 2's (`Apache2::*`, `APR::*`, `ModPerl::*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    /// mod_perl 1.31
    #[default]
    One,
    /// mod_perl 2.0.12
    Two,
}

impl Generation {
    /// As `PerlGeneration` says it.
    pub fn number(self) -> u8 {
        match self {
            Generation::One => 1,
            Generation::Two => 2,
        }
    }
}

/// `PerlOptions`: flags that are set, and flags that are taken back; what is in neither has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PerlOptions {
    on: u32,
    off: u32,
}

/// The names, each at its bit. The first ones are mod_perl 2's own, of places; then those of servers.
pub const FLAGS: &[&str] = &[
    "SendHeader",
    "SetupEnv",
    "MergeHandlers",
    "GlobalRequest",
    "ParseHeaders",
    "Parent",
    "Enable",
    "Clone",
    "InheritSwitches",
    "Autoload",
    "OpenLogs",
    "PostConfig",
    "ChildInit",
    "ChildExit",
    "PreConnection",
    "ProcessConnection",
    "PostReadRequest",
    "Trans",
    "MapToStorage",
    "Init",
    "HeaderParser",
    "Access",
    "Authen",
    "Authz",
    "Type",
    "Fixup",
    "Response",
    "Log",
    "Cleanup",
    "InputFilter",
    "OutputFilter",
];

/// The bit of a flag.
pub fn flag(name: &str) -> Option<u32> {
    FLAGS.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|at| 1 << at)
}

impl PerlOptions {
    /// Whether a flag is set; `default` where nobody has said anything.
    pub fn has(self, name: &str, default: bool) -> bool {
        let bit = flag(name).unwrap_or_default();
        self.on & bit != 0 || default && self.off & bit == 0
    }

    /// Takes over what an inner section says.
    pub fn merge(&mut self, inner: &PerlOptions) {
        self.on = (self.on | inner.on) & !inner.off;
        self.off = (self.off | inner.off) & !inner.on;
    }

    /// `+Name`, `-Name` or `Name`.
    pub fn say(&mut self, word: &str) -> Result<(), String> {
        let name = word.trim_start_matches(['+', '-']);
        if name.eq_ignore_ascii_case("None") {
            *self = PerlOptions { on: 0, off: u32::MAX };
            return Ok(());
        }
        let bit =
            flag(name).ok_or_else(|| format!("there is no option {name}: the options are {}", FLAGS.join(", ")))?;
        let said =
            if word.starts_with('-') { PerlOptions { on: 0, off: bit } } else { PerlOptions { on: bit, off: 0 } };
        self.merge(&said);
        Ok(())
    }
}

/// Handlers that bodies and answers pass on their way through the worker, by their names. An inner section's list takes the place of the outer's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct PerlFilters {
    /// `PerlInputFilterHandler`, of request bodies: the first one hands its bytes to the program.
    pub input: Vec<String>,
    /// `PerlOutputFilterHandler`, of answers: the first one gets the program's bytes.
    pub output: Vec<String>,
}

impl PerlFilters {
    /// Nothing passes any.
    pub fn is_empty(&self) -> bool {
        self.input.is_empty() && self.output.is_empty()
    }

    /// Each list that is said begins with the outer one.
    pub fn stand_behind(&mut self, outer: &PerlFilters) {
        for (inner, outer) in [(&mut self.input, &outer.input), (&mut self.output, &outer.output)] {
            if !inner.is_empty() {
                inner.splice(0..0, outer.iter().cloned());
            }
        }
    }

    /// Takes over what an inner section says.
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
    fn an_inner_section_sets_and_takes_back() {
        let mut options = PerlOptions::default();
        let mut outer = PerlOptions::default();
        outer.say("+GlobalRequest").expect("known");
        outer.say("SetupEnv").expect("known");
        options.merge(&outer);
        let mut inner = PerlOptions::default();
        inner.say("-setupenv").expect("known");
        options.merge(&inner);
        assert!(options.has("GlobalRequest", false) && !options.has("SetupEnv", true) && options.has("Access", true));
        assert!(inner.say("+Coffee").expect_err("unknown").contains("GlobalRequest"));
    }
}
