//! Where the copy of a file lies.

use std::path::{Component, Path, PathBuf};

/// Folder below the new one for files from outside the old configuration's folder.
const OUTSIDE: &str = "outside";

/// The old folder and the new one.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Folder of the old configuration.
    pub base: PathBuf,
    /// The new folder, absolute.
    pub to: PathBuf,
    /// [`OUTSIDE`], or a similar name if the old folder has this one.
    outside: String,
    /// `base` without `..`, and without links.
    bases: [PathBuf; 2],
}

impl Layout {
    /// The layout for a new folder.
    pub fn new(base: &Path, to: &Path) -> Layout {
        let others = (2..).map(|number| format!("{OUTSIDE}-{number}"));
        let is_free = |name: &String| base.join(name).symlink_metadata().is_err();
        let outside = std::iter::once(OUTSIDE.to_owned()).chain(others).find(is_free);
        let clean = without_dots(base);
        let real = clean.canonicalize().unwrap_or_else(|_| clean.clone());
        let outside = outside.unwrap_or_else(|| OUTSIDE.to_owned());
        Layout { base: base.to_owned(), to: to.to_owned(), outside, bases: [clean, real] }
    }

    /// The place of a file or pattern below the new folder.
    pub fn below(&self, path: &Path) -> PathBuf {
        let path = without_dots(path);
        match self.bases.iter().find_map(|base| path.strip_prefix(base).ok()) {
            Some(inside) => inside.to_owned(),
            None => Path::new(&self.outside).join(path.strip_prefix("/").unwrap_or(&path)),
        }
    }

    /// The absolute place of a file.
    pub fn place(&self, path: &Path) -> PathBuf {
        self.to.join(self.below(path))
    }
}

/// The path without `.` and `..`, so that no copy leaves the new folder. `..` behind a link leads to the target's
/// parent.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean = clean.canonicalize().unwrap_or(clean);
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// The relative path from a folder to a file. Both are absolute.
pub fn relative(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_copy_leaves_the_new_folder() {
        let layout = Layout::new(Path::new("/nowhere/apache2"), Path::new("/new"));
        let place = |path: &str| layout.place(Path::new(path)).display().to_string();
        assert_eq!(place("/nowhere/apache2/./mods-enabled/*.load"), "/new/mods-enabled/*.load");
        assert_eq!(place("/nowhere/apache2/../other/a.conf"), "/new/outside/nowhere/other/a.conf");
        assert_eq!(place("/../../a.conf"), "/new/outside/a.conf");
    }

    #[test]
    fn a_relative_path_leads_through_the_common_folder() {
        let path = relative(Path::new("/new/sites-enabled"), Path::new("/new/sites-available/a.conf"));
        assert_eq!(path, Path::new("../sites-available/a.conf"));
    }
}
