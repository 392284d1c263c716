//! Supported httpd modules, and properties of this binary.

/// Lists the modules in httpd's format; all are static.
pub fn modules() -> String {
    let lines: String = config::modules().map(|(_, identifier)| format!(" {identifier} (static)\n")).collect();
    format!("Loaded Modules:\n{lines}")
}

/// The list of the modules' source files, for -l.
pub fn module_files() -> String {
    let lines: String = config::modules().map(|(file, _)| format!("  {file}\n")).collect();
    format!("Compiled in modules:\n{lines}")
}

/// The description of the binary, for -V.
pub fn kind() -> String {
    format!("Master, front and workers in one binary; {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
