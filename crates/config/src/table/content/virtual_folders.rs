//! Folders named after the host of a request (mod_vhost_alias).

use crate::model::response::lookup::virtual_folders::{FolderPattern, VirtualFolder};
use crate::table::row::{HOSTS, Row, rows, word};

pub static ROWS: &[Row] = rows![
    "mod_vhost_alias.c",
    word("VirtualDocumentRoot", HOSTS, "none|path", |d, path| {
        d.host().virtual_folders.documents = Some(folder(path, false)?);
        Ok(())
    })
    .because("all hosts have their DocumentRoot"),
    "A folder for each host name, in place of DocumentRoot, for paths without an Alias. In the path, %0 is the name by \
     UseCanonicalName in lower case, %1 its first part and %-1 its last, %2+ all from the second on, %-2+ all up to the \
     last but one, %1.2 the second character of the first part, %p the port, %% a percent sign. What the name lacks is \
     `_`. A host inherits the main server's; none turns it off.",
    word("VirtualDocumentRootIP", HOSTS, "none|path", |d, path| {
        d.host().virtual_folders.documents = Some(folder(path, true)?);
        Ok(())
    })
    .because("all hosts have their DocumentRoot"),
    "As VirtualDocumentRoot, with the address that the client connected to in place of the name.",
    word("VirtualScriptAlias", HOSTS, "none|path", |d, path| {
        d.host().virtual_folders.scripts = Some(folder(path, false)?);
        Ok(())
    })
    .because("no folder is executable by default"),
    "The folder of the CGI programs below `/cgi-bin/`, for each host name. The path is as for VirtualDocumentRoot.",
    word("VirtualScriptAliasIP", HOSTS, "none|path", |d, path| {
        d.host().virtual_folders.scripts = Some(folder(path, true)?);
        Ok(())
    })
    .because("no folder is executable by default"),
    "As VirtualScriptAlias, with the address that the client connected to in place of the name.",
];

fn folder(path: &str, by_address: bool) -> Result<VirtualFolder, String> {
    match path.eq_ignore_ascii_case("none") {
        true => Ok(VirtualFolder::Off),
        false => FolderPattern::parse(path, by_address).map(VirtualFolder::Named),
    }
}
