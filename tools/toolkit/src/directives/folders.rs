//! Folders: of CGI scripts, and of the pages and images beside them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::application::is_script;
use super::text::Text;

/// What browsers show or fetch and nobody runs. A file of another kind may be a program, whose source is nobody's business.
const STATIC: &str = "html?|css|js|mjs|map|json|txt|xml|svg|png|jpe?g|gif|webp|avif|ico|bmp|pdf|woff2?|ttf|otf|eot|mp[34]|\
    webm|og[agv]|wav|wasm|zip|gz|webmanifest";

/// More names are not looked at.
const MOST: usize = 2000;

/// Files of these kinds are taken from `folder`. A dot in the name of a folder above would be a script's, with a path of
/// its own behind it.
pub fn statics(folder: &Path, text: &mut Text) {
    let pattern = format!("(?i)^/((?:[^/.]+/)*[^/]+\\.(?:{STATIC}))$");
    text.line("AliasMatch", &[&pattern, &format!("{}/$1", template(folder))]);
}

/// Scripts by their names, compiled before the fork if they are kept; at `/` the index.html that is there, or a list of the scripts.
pub fn scripts(folder: &Path, statics: Option<&Path>, is_kept: bool, text: &mut Text) {
    let has_index = |folder: &&Path| folder.join("index.html").is_file();
    let home = statics.filter(has_index).unwrap_or(folder);
    text.line("AliasMatch", &["^/(index\\.html)?$", &format!("{}/$1", template(home))]);
    let name = format!("{}/", folder.display());
    text.line("ScriptAlias", &["/", &name]);
    if is_kept {
        // Those that are broken are named at the start; the others serve.
        text.line("RegistryPreload", &["/", &name]);
    }
    let hidden = no_scripts(folder);
    let mut inside = vec![("DirectoryIndex", "index.html"), ("Options", "+Indexes"), ("IndexIgnore", ".*")];
    inside.extend(hidden.iter().map(|name| ("IndexIgnore", name.as_str())));
    text.section("LocationMatch", "^/$", &inside);
}

/// A folder in the second argument of `AliasMatch`, where `$1` means something.
fn template(folder: &Path) -> String {
    folder.display().to_string().replace('$', "\\$")
}

/// What lies in a folder of scripts and is none, as a list of names takes it.
fn no_scripts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let is_none = |path: &Path| {
        let mode = path.metadata().map_or(0, |about| about.permissions().mode());
        path.is_file() && mode & 0o111 == 0 && !is_script(path)
    };
    let mut names: Vec<String> = entries
        .filter(|entry| is_none(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && !name.chars().any(char::is_control))
        .map(|name| name.chars().map(|c| if "*?[]\\".contains(c) { '?' } else { c }).collect())
        .collect();
    names.sort();
    names
}
