//! Why the kernel would not execute a file of a CGI folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::is_named_as_script;
use base::shebang;

/// The reason and the way out; `executes`: the kernel is to start it, and not a worker that has it compiled. A file
/// that is neither executable nor looks like a script is no program but lies beside some.
pub fn of(file: &Path, head: &[u8], executes: bool) -> Option<String> {
    let line = shebang::line(head);
    if !may_be_executed(file) {
        let is_script = line.is_some() || is_named_as_script(file);
        return is_script.then(|| "the file is not executable, so its requests are answered 500; chmod +x".to_owned());
    }
    if !executes {
        return None;
    }
    let Some(line) = line else {
        let is_text = !head.contains(&0);
        let wrong = "the file has no #! line, so its requests are answered 500; begin the file with a line such as #!/usr/bin/perl";
        return is_text.then(|| wrong.to_owned());
    };
    if line.ends_with(b"\r") {
        return Some("the #! line ends with CR; save the file with Unix line ends".to_owned());
    }
    let interpreter = line.split(|byte| byte.is_ascii_whitespace()).find(|word| !word.is_empty()).unwrap_or_default();
    let is_there = !interpreter.is_empty() && Path::new(OsStr::from_bytes(interpreter)).exists();
    let shown = String::from_utf8_lossy(interpreter);
    (!is_there).then(|| format!("the #! line names the missing interpreter \"{shown}\"; install that or name another"))
}

pub fn may_be_executed(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}
