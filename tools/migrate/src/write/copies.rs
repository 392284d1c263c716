//! The copies of all files. A link of the old folder becomes a link to the copy of its file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::At;

use super::edit::{self, Edited, LineEdit};
use super::layout::{Layout, relative};
use super::outline::Outline;
use super::patch::HTACCESS_PATCH;
use super::target::NewFolder;
use crate::read::OldFile;

/// Names in the new folder that `migrate` itself writes: the unit, the report as text and as HTML, the changes of
/// `.htaccess` files.
pub const OWN_FILES: [&str; 4] = ["cameleer.service", "report.txt", "report.html", HTACCESS_PATCH];

/// Permissions of a file that only its owner may read.
pub const MODE_OF_SECRETS: u32 = 0o600;

/// A file of the old configuration and its copy.
pub struct FileCopy {
    /// First path by which the old configuration names the file.
    pub origin: PathBuf,
    /// Absolute path of the copy.
    place: PathBuf,
    /// The file itself, without links.
    real: PathBuf,
    /// Links of the new folder that lead to the copy.
    links: Vec<PathBuf>,
    pub text: String,
    /// Sections of the copy.
    pub outline: Outline,
    /// Result of the last writing.
    pub edited: Option<Edited>,
}

/// All copies. The first is the main file's.
pub struct Copies {
    pub all: Vec<FileCopy>,
    to: PathBuf,
    /// By paths in the old folder and in the new one. `a/./b` and `a/b` are the same path.
    by_name: HashMap<PathBuf, usize>,
    /// Files without a copy, because another file has the place: also one of [`OWN_FILES`].
    pub lost: HashSet<PathBuf>,
}

impl Copies {
    /// Plans the copies of the files. `is_marked`: see [`Outline::of`].
    pub fn of(files: &[OldFile], layout: &Layout, is_marked: fn(&str) -> bool) -> Copies {
        let mut copies =
            Copies { all: Vec::new(), to: layout.to.clone(), by_name: HashMap::new(), lost: HashSet::new() };
        for file in files {
            copies.add(file, layout, is_marked);
        }
        copies
    }

    /// The plan for one file that is changed but not written.
    pub fn of_one(file: &Path, text: &str, is_marked: fn(&str) -> bool) -> Copies {
        let layout = Layout::new(Path::new("/"), Path::new("/nowhere"));
        let file = OldFile { path: file.to_owned(), text: text.to_owned(), is_converted: false };
        Copies::of(std::slice::from_ref(&file), &layout, is_marked)
    }

    /// The changed text of the file of [`Copies::of_one`].
    pub fn edit_one(&mut self, edits: &HashMap<String, BTreeMap<u32, (&str, &LineEdit)>>) -> String {
        let copy = &mut self.all[0];
        let own = edits.get(&*copy.origin.to_string_lossy()).cloned().unwrap_or_default();
        let edited = edit::apply(&copy.text, &copy.outline, &[], &own);
        copy.edited.insert(edited).text.clone()
    }

    /// The old line of a line of the changed text.
    pub fn line_of_one(&self, line: u32) -> Option<u32> {
        match &self.all[0].edited {
            Some(edited) => edited.origins.get((line as usize).checked_sub(1)?).copied(),
            None => Some(line),
        }
    }

    fn add(&mut self, file: &OldFile, layout: &Layout, is_marked: fn(&str) -> bool) {
        let named = layout.place(&file.path);
        let place = real_place(&file.path, layout);
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let index = self.all.iter().position(|copy| copy.real == real).unwrap_or(self.all.len());
        let is_taken = |name: &Path| self.by_name.get(name).is_some_and(|other| *other != index);
        let is_own = |name: &Path| OWN_FILES.iter().any(|own| name == self.to.join(own));
        if [&named, &place].into_iter().any(|name| is_taken(name) || is_own(name)) {
            self.lost.insert(file.path.clone());
            return;
        }
        if index == self.all.len() {
            let (origin, text, outline) = (file.path.clone(), file.text.clone(), Outline::of(&file.text, is_marked));
            let place = place.clone();
            self.all.push(FileCopy { origin, place, real, links: Vec::new(), text, outline, edited: None });
        }
        if named != self.all[index].place {
            self.all[index].links.push(named.clone());
        }
        for name in [&file.path, &named, &place] {
            self.by_name.insert(name.clone(), index);
        }
    }

    /// The copy of a file, by a path in the old folder or in the new one.
    pub fn find(&self, name: &str) -> Option<&FileCopy> {
        self.by_name.get(Path::new(name)).map(|index| &self.all[*index])
    }

    /// The position in the old file of a position in the old or the new file.
    pub fn origin(&self, at: &At) -> Option<At> {
        let copy = self.find(&at.file)?;
        let file: Arc<str> = copy.origin.to_string_lossy().into();
        match (&copy.edited, Path::new(&*at.file).starts_with(&self.to)) {
            (Some(edited), true) => {
                let line = *edited.origins.get((at.line as usize).checked_sub(1)?)?;
                Some(At { file, line })
            }
            _ => Some(At { file, line: at.line }),
        }
    }

    /// The position in the old file under the file's first name, or the position itself.
    pub fn old(&self, at: &At) -> At {
        self.origin(at).unwrap_or_else(|| at.clone())
    }

    /// The copy of the main file.
    pub fn main(&self) -> &Path {
        &self.all[0].place
    }

    /// Writes every copy. `head` begins the main file.
    pub fn write(
        &mut self,
        to: &mut NewFolder,
        head: &[String],
        edits: &HashMap<String, BTreeMap<u32, (&str, &LineEdit)>>,
    ) -> anyhow::Result<()> {
        // A file may have several names.
        let mut of_copy: HashMap<usize, BTreeMap<u32, (&str, &LineEdit)>> = HashMap::new();
        for (name, edits) in edits {
            let known = self.by_name.get(Path::new(name));
            known.into_iter().for_each(|index| of_copy.entry(*index).or_default().extend(edits));
        }
        for (index, copy) in self.all.iter_mut().enumerate() {
            let own = of_copy.remove(&index).unwrap_or_default();
            let edited = edit::apply(&copy.text, &copy.outline, if index == 0 { head } else { &[] }, &own);
            to.write_as(&copy.place, &edited.text, mode_of(&copy.real))?;
            for link in &copy.links {
                to.link(link, &relative(link.parent().unwrap_or(Path::new("/")), &copy.place))?;
            }
            copy.edited = Some(edited);
        }
        Ok(())
    }
}

/// The permissions of a file.
pub fn mode_of(file: &Path) -> u32 {
    std::fs::metadata(file).map_or(MODE_OF_SECRETS, |found| found.permissions().mode())
}

/// The place of the file's contents: that of the link's target, if the target is below the old folder.
fn real_place(path: &Path, layout: &Layout) -> PathBuf {
    let (real, base) = (path.canonicalize().ok(), layout.base.canonicalize().ok());
    match real.as_ref().zip(base.as_ref()).and_then(|(real, base)| real.strip_prefix(base).ok()) {
        Some(inside) => layout.to.join(inside),
        None => layout.place(path),
    }
}
