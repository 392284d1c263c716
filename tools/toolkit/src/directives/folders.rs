//! Folders of CGI scripts, and of static files beside them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::application::is_script;
use super::text::DirectiveText;

/// Extensions of static files. A file with another extension may be a program, whose source must not be sent.
const STATIC: &str = "html?|css|js|mjs|map|json|txt|xml|svg|png|jpe?g|gif|webp|avif|ico|bmp|pdf|woff2?|ttf|otf|eot|mp[34]|\
    webm|og[agv]|wav|wasm|zip|gz|webmanifest";

/// Maximum number of directory entries examined.
const MAX_ENTRIES: usize = 2000;

/// Serves static files of `folder`. Folder names with a dot are excluded, since they may be scripts followed by
/// PATH_INFO.
pub fn serve_static_files(folder: &Path, text: &mut DirectiveText) {
    let pattern = format!("(?i)^/((?:[^/.]+/)*[^/]+\\.(?:{STATIC}))$");
    text.line("AliasMatch", &[&pattern, &format!("{}/$1", template(folder))]);
}

/// Serves those files of `folder` that exist, beside an application or a handler. All other paths stay with the
/// program, and so do names that begin with a dot.
pub fn find_static_files(folder: &Path, text: &mut DirectiveText) {
    text.line("DocumentRoot", &[&folder.display().to_string()]);
    let name = format!("%{{REQUEST_URI}} =~ m#[.](?:{STATIC})$#i && %{{REQUEST_URI}} !~ m#/[.]#");
    let condition = format!("{name} && -f '%{{DOCUMENT_ROOT}}%{{REQUEST_URI}}'");
    text.section("If", &condition, &[("SetHandler", "none")]);
}

/// Serves scripts by their names, compiled before the fork if `is_kept`. At `/` an existing index.html or a list of
/// scripts is shown.
pub fn serve_scripts(folder: &Path, statics: Option<&Path>, is_kept: bool, text: &mut DirectiveText) {
    let has_index = |folder: &&Path| folder.join("index.html").is_file();
    let home = statics.filter(has_index).unwrap_or(folder);
    text.line("AliasMatch", &["^/(index\\.html)?$", &format!("{}/$1", template(home))]);
    let name = format!("{}/", folder.display());
    text.line("ScriptAlias", &["/", &name]);
    if is_kept {
        // Broken scripts are reported at the start; the others work.
        text.line("RegistryPreload", &["/", &name]);
    }
    let hidden = no_scripts(folder);
    let mut inside = vec![("DirectoryIndex", "index.html"), ("Options", "+Indexes"), ("IndexIgnore", ".*")];
    inside.extend(hidden.iter().map(|name| ("IndexIgnore", name.as_str())));
    text.section("LocationMatch", "^/$", &inside);
}

/// Escapes a folder for the second argument of `AliasMatch`, in which `$1` is a reference.
fn template(folder: &Path) -> String {
    folder.display().to_string().replace('$', "\\$")
}

/// Names of other files in a folder of scripts, as IndexIgnore patterns.
fn no_scripts(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_ENTRIES);
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
