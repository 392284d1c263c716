//! What this binary was made of.

use config::MODULES;

/// As httpd lists them; all are built in.
pub fn modules() -> String {
    let lines: String = MODULES.iter().map(|(_, identifier)| format!(" {identifier} (static)\n")).collect();
    format!("Loaded Modules:\n{lines}")
}

/// Their source files.
pub fn module_files() -> String {
    let lines: String = MODULES.iter().map(|(file, _)| format!("  {file}\n")).collect();
    format!("Compiled in modules:\n{lines}")
}

/// For -V.
pub fn kind() -> String {
    format!("Master, front and workers in one binary; {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
