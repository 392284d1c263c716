//! Which scripts may end the process that compiles them: by their own BEGIN blocks, or by a file that they load. The
//! text is searched, so a name that is computed is not found, and a word in a comment is.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words of code that ends a process. `exit` is an exception in a mold.
const ENDS: [&str; 5] = ["exec", "kill", "_exit", "syscall", "dump"];
/// Maximum number of files searched for one script.
const MAX_FILES: usize = 500;

/// Whether compiling `script` may end the process. `folders` are those of `@INC`, without perl's own.
pub fn may_end_the_process(script: &Path, folders: &[PathBuf]) -> bool {
    let text = read(script);
    if has_word(&text, |word| word == "BEGIN") && ends(&text) {
        return true;
    }
    let mut search = Search { folders: folders.to_vec(), seen: HashSet::new(), next: Vec::new() };
    search.add(script, &text);
    while let Some(file) = search.next.pop() {
        let text = read(&file);
        if ends(&text) {
            return true;
        }
        search.add(&file, &text);
    }
    false
}

fn read(file: &Path) -> String {
    let text = fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let end = ["\n__END__", "\n__DATA__"].iter().filter_map(|end| text.find(end)).min();
    text[..end.unwrap_or(text.len())].to_owned()
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn has_word(text: &str, is_it: impl Fn(&str) -> bool) -> bool {
    text.split(|character| !is_of_word(character)).any(is_it)
}

fn ends(text: &str) -> bool {
    has_word(text, |word| ENDS.contains(&word))
}

struct Search {
    folders: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    next: Vec<PathBuf>,
}

impl Search {
    /// Adds the files that the text of `file` loads, where they exist.
    fn add(&mut self, file: &Path, text: &str) {
        let home = file.parent().unwrap_or(Path::new("/"));
        for Loaded { names, is_lib } in loads(text) {
            for name in names {
                let name = name.replace("$FindBin::Bin", &home.to_string_lossy());
                match is_lib {
                    true => self.folders.push(home.join(name)),
                    false => self.find(home, &name),
                }
            }
        }
    }

    fn find(&mut self, home: &Path, name: &str) {
        let folders = std::iter::once(home).chain(self.folders.iter().map(PathBuf::as_path));
        let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
        if let Some(file) = found.filter(|_| self.seen.len() < MAX_FILES)
            && self.seen.insert(file.clone())
        {
            self.next.push(file);
        }
    }
}

/// A statement that loads files.
struct Loaded {
    names: Vec<String>,
    /// `use lib`: the names are folders.
    is_lib: bool,
}

/// The statements of a text that load files by name.
fn loads(text: &str) -> impl Iterator<Item = Loaded> {
    let statements = text.split([';', '{', '}', '\n']).map(str::trim_start);
    statements.filter_map(|statement| {
        let (verb, rest) = statement.split_at(statement.find(|it| !is_of_word(it))?);
        let rest = rest.trim();
        let end = rest.find(|it: char| !(is_of_word(it) || it == ':')).unwrap_or(rest.len());
        let (name, arguments) = rest.split_at(end);
        Some(match (verb, name) {
            ("use" | "no", "lib") => Loaded { names: words(arguments), is_lib: true },
            ("use", "base" | "parent") => {
                Loaded { names: words(arguments).iter().map(|name| file_of(name)).collect(), is_lib: false }
            }
            ("use" | "no" | "require", name) if name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') => {
                Loaded { names: vec![file_of(name)], is_lib: false }
            }
            ("require" | "do", "") => Loaded { names: words(arguments), is_lib: false },
            _ => return None,
        })
    })
}

/// `A::B` is `A/B.pm`.
fn file_of(module: &str) -> String {
    format!("{}.pm", module.replace("::", "/"))
}

/// The words of strings, and of `qw(…)`.
fn words(text: &str) -> Vec<String> {
    let text = text.trim_start_matches(|it: char| it == '(' || it.is_whitespace());
    let text = text.strip_prefix("qw").unwrap_or(text);
    let is_between = |it: char| it.is_whitespace() || "'\"(),".contains(it);
    text.split(is_between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(files: &[(&str, &str)]) -> bool {
        let home = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let file = home.path().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, text).expect("written");
        }
        may_end_the_process(&home.path().join("script"), &[home.path().join("inc")])
    }

    #[test]
    fn a_script_is_doubtful_by_its_own_begin_block_or_by_what_it_loads() {
        let leaves = "package Leaves; require POSIX; POSIX::_exit(3); 1;";
        for (is_doubtful, files) in [
            (false, vec![("script", "use strict; print 'hello';")]),
            (false, vec![("script", "exec '/bin/date' if $_;")]),
            (true, vec![("script", "BEGIN { exec '/bin/date' }")]),
            (false, vec![("script", "print 1;\n__END__\nBEGIN { exec 1 }")]),
            (true, vec![("script", "use A::B;"), ("inc/A/B.pm", leaves)]),
            (false, vec![("script", "use A::B;"), ("inc/A/B.pm", "1;\n__END__\nkill\n"), ("inc/C.pm", leaves)]),
            (true, vec![("script", "use lib 'own'; use A;"), ("own/A.pm", "use B;\n1;"), ("own/B.pm", leaves)]),
            (true, vec![("script", "use lib \"$FindBin::Bin/own\";\nuse A qw(x y);"), ("own/A.pm", leaves)]),
            (true, vec![("script", "use parent qw(P Q);"), ("inc/Q.pm", leaves)]),
            (true, vec![("script", "if (1) { require './x.pl' }"), ("x.pl", leaves)]),
            (true, vec![("script", "my $x = 1; do \"x.pl\";"), ("x.pl", leaves)]),
            (false, vec![("script", "use A;"), ("inc/A.pm", "use B; 1;"), ("inc/B.pm", "use A; 1;")]),
            (false, vec![("script", "use 5.010; use None; require $name; do { 1 } while 0;")]),
        ] {
            assert_eq!(judged(&files), is_doubtful, "{files:?}");
        }
    }
}
