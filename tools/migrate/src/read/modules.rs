//! The modules that the old server had.

use std::collections::BTreeSet;

use config::{Directive, is_embodied, modules};

/// Modules that every httpd has compiled in, and those that Debian's httpd has, by both names.
const ALWAYS: &[&str] = &[
    "core",
    "core.c",
    "core_module",
    "http_core.c",
    "http_module",
    "mod_so.c",
    "so_module",
    "mod_version.c",
    "version_module",
    "mod_log_config.c",
    "log_config_module",
    "mod_logio.c",
    "logio_module",
    "mod_unixd.c",
    "unixd_module",
    "mod_watchdog.c",
    "watchdog_module",
];
/// A server that loads one of these loads all that it has: no useful server lacks them.
const BASIC: [&str; 3] = ["alias_module", "dir_module", "mime_module"];

/// The loaded modules, by identifier and by source file.
#[derive(Debug, Default)]
pub struct OldModules {
    names: BTreeSet<String>,
    /// Whether the list is complete. Otherwise modules may be compiled in.
    pub is_complete: bool,
}

impl OldModules {
    /// The modules of all `LoadModule` and `AddModule` lines.
    pub fn of(tree: &[Directive]) -> OldModules {
        let mut names = BTreeSet::new();
        collect(tree, &mut names);
        for (file, identifier) in modules() {
            if names.contains(file) || names.contains(&identifier) {
                names.extend([file.to_owned(), identifier]);
            }
        }
        let is_complete = BASIC.iter().any(|name| names.contains(*name));
        OldModules { names, is_complete }
    }

    /// Whether `<IfModule name>` applied. Without a complete list, the modules that Cameleer has count as compiled in.
    pub fn has(&self, name: &str) -> bool {
        self.loads(name) || ALWAYS.contains(&name) || (!self.is_complete && is_embodied(name))
    }

    /// As [`OldModules::has`]; without a complete list, any module may be compiled in.
    pub fn may_have(&self, name: &str) -> bool {
        self.has(name) || !self.is_complete
    }

    /// Whether a line loads the module.
    pub fn loads(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

fn collect(tree: &[Directive], names: &mut BTreeSet<String>) {
    for directive in tree {
        match (directive.name.to_ascii_lowercase().as_str(), directive.args.as_slice()) {
            ("loadmodule", [identifier, file, ..]) => names.extend(names_of(identifier, file)),
            ("addmodule", files) => names.extend(files.iter().cloned()),
            _ => {}
        }
        collect(directive.section.as_deref().unwrap_or_default(), names);
    }
}

/// `evasive20_module modules/mod_evasive20.so`: the identifier, and the source file by both names.
fn names_of(identifier: &str, file: &str) -> [String; 3] {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".so");
    let name = identifier.trim_end_matches("_module");
    [identifier.to_owned(), format!("mod_{name}.c"), format!("{stem}.c")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_debian_compiles_in_count_as_loaded() {
        let modules = OldModules::of(&[Directive::new("LoadModule", ["dir_module", "mod_dir.so"])]);
        let names = ["mod_version.c", "log_config_module", "mod_logio.c", "unixd_module", "mod_watchdog.c"];
        assert!(modules.is_complete && names.iter().all(|name| modules.has(name)));
        assert!(!modules.has("mod_rewrite.c") && !modules.may_have("mod_rewrite.c"));
        assert!(OldModules::of(&[]).may_have("mod_authnz_fcgi.c"));
    }
}
