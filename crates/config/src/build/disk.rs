//! [`ParserSource`] implemented by the file system.

use std::io;
use std::path::{Path, PathBuf};

use crate::syntax::modules;
use crate::syntax::regular;
use crate::syntax::source::ParserSource;
use crate::table;

/// Maximum size in bytes of a configuration file, or of a file that it names.
const MAX_BYTES: u64 = 64 << 20;

impl<'a> ParserSource<'a> {
    /// Reads files of this machine. No names are defined.
    pub fn disk(server_root: impl Into<PathBuf>, env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let server_root = server_root.into();
        let started_in = server_root.clone();
        let defines = Vec::new();
        ParserSource {
            defines,
            env,
            read: &read_lossy,
            exists: &Path::exists,
            list: &list_folder,
            syntax_of: &table::syntax_of,
            is_module: &modules::is_embodied,
            server_root,
            started_in,
        }
    }
}

fn read_lossy(path: &Path) -> io::Result<String> {
    let bytes = match comes_from_a_shell(path) {
        true => std::fs::read(path),
        false => regular::read(path, MAX_BYTES).map(|(_, bytes)| bytes),
    };
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the path is a pipe from the shell: `-f <(program)`, `-f /dev/stdin`.
fn comes_from_a_shell(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") || path == Path::new("/dev/stdin")
}

fn list_folder(path: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect()
}
