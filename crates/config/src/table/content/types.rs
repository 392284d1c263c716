//! MIME types, handlers, encodings, languages and charsets by file extension.

use super::proxy::fastcgi;
use crate::draft::Draft;
use crate::model::handler::Handler;
use crate::model::response::types::{FileAspect, is_of_programs};
use crate::syntax::source::ValueFile;
use crate::table::row::{CONTAINERS, FILE_INFO, MANY, Row, SERVER, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_mime.c",
    words("AddType", FILE_INFO, "type extension…", 2..=MANY, add_type).because("the common extensions are built in"),
    "The MIME type of files with these extensions. As in httpd, files of the type cgi-script or application/x-httpd-cgi are \
     programs, unless a handler is set.",
    word("ForceType", FILE_INFO, "type|None", force).of("core.c").because("extensions determine the type"),
    "The MIME type of all files, regardless of their extensions; `None` cancels it. cgi-script and application/x-httpd-cgi \
     are as in AddType.",
    flag("ModMimeUsePathInfo", CONTAINERS, |d, on| d.settings().response.types.use_path_info = Some(on))
        .because("the name of the file determines its type"),
    "Whether the extensions of the last name in PATH_INFO, if there is one, determine type, encoding, language and charset. \
     The handler depends on the file alone.",
    words("TypesConfig", SERVER, "file", 1..=MANY, types_config)
        .file_of_values(ValueFile::Types)
        .because("the common extensions are built in"),
    "A file with lines of a MIME type and its extensions, such as /etc/mime.types. Read with the configuration. As in httpd, \
     files have no other types than those and the ones of AddType; several lines add up.",
    words(
        "AddHandler",
        FILE_INFO,
        "perl-script|cgi-script|server-parsed|type-map|send-as-is|default-handler|name extension…",
        2..=MANY,
        add_handler
    )
    .because("only SetHandler makes files programs"),
    "The handler of files with these extensions, unless SetHandler sets one. Any extension of a name counts, not only \
     the last. Names are those of SetHandler.",
    words("AddEncoding", FILE_INFO, "encoding extension…", 2..=MANY, |d, args| add(d, FileAspect::Encoding, args))
        .because("a compressed file is sent as a file of its own type"),
    "The Content-Encoding of files with these extensions; the extension before it determines the type: `page.html.gz`.",
    words("AddLanguage", FILE_INFO, "language extension…", 2..=MANY, |d, args| add(d, FileAspect::Language, args))
        .because("few file names contain a language"),
    "The Content-Language of files with these extensions.",
    word("DefaultLanguage", FILE_INFO, "language", |d, language| {
        d.settings().response.types.default_language = Some(language.to_owned());
        Ok(())
    })
    .because("few sites have one language"),
    "The Content-Language of files whose extensions determine none, and of responses of handlers that set none.",
    words("AddCharset", FILE_INFO, "charset extension…", 2..=MANY, |d, args| add(d, FileAspect::Charset, args))
        .because("pages declare their charset themselves"),
    "The charset of files with these extensions, added to their type.",
    words("RemoveType", FILE_INFO, "extension…", 1..=MANY, |d, args| remove(d, FileAspect::Type, args))
        .because("see AddType"),
    "Cancels an AddType of an outer section.",
    words("RemoveHandler", FILE_INFO, "extension…", 1..=MANY, remove_handler).because("see AddHandler"),
    "Cancels an AddHandler of an outer section.",
    words("RemoveEncoding", FILE_INFO, "extension…", 1..=MANY, |d, args| remove(d, FileAspect::Encoding, args))
        .because("see AddEncoding"),
    "Cancels an AddEncoding of an outer section.",
    words("RemoveLanguage", FILE_INFO, "extension…", 1..=MANY, |d, args| remove(d, FileAspect::Language, args))
        .because("see AddLanguage"),
    "Cancels an AddLanguage of an outer section.",
    words("RemoveCharset", FILE_INFO, "extension…", 1..=MANY, |d, args| remove(d, FileAspect::Charset, args))
        .because("see AddCharset"),
    "Cancels an AddCharset of an outer section.",
    word("AddDefaultCharset", FILE_INFO, "On|Off|charset", default_charset)
        .of("core.c")
        .because("httpd's default: pages declare their charset themselves"),
    "Charset added to responses of type text/html and text/plain without one; On is iso-8859-1.",
];

/// A handler by its name in `SetHandler` or `AddHandler`. An `Action` may define an unknown name; otherwise requests
/// for it fail.
pub fn handler(draft: &mut Draft, name: &str) -> Result<Handler, String> {
    let handler = Handler::named(name);
    if draft.htaccess.is_some() && handler.is_page() {
        return Err(format!(
            "{name} shows the whole server and is not allowed in .htaccess files; write it in the main configuration"
        ));
    }
    if let Handler::Backend(backend) = &handler {
        fastcgi::name(draft, Some(&backend.url));
    }
    if let Handler::Named(name) = &handler
        && draft.htaccess.is_none()
    {
        draft.named_handlers.push((draft.at.clone(), draft.name.clone(), name.clone()));
    }
    Ok(handler)
}

/// `AddType type extension…`
fn add_type(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((kind, charset)) = args.first().map(|first| first.split_once(';').unwrap_or((first, ""))) else {
        return Ok(());
    };
    if !kind.contains('/') && !is_of_programs(kind) {
        return Err(format!("expected a MIME type like text/html first, got \"{kind}\""));
    }
    // As in httpd, a charset in the argument remains part of the type.
    let whole = if charset.is_empty() { kind.trim().to_owned() } else { args[0].clone() };
    add(draft, FileAspect::Type, &[&[whole], &args[1..]].concat())
}

/// `AddEncoding`, `AddLanguage`, `AddCharset`: a value, in lower case as in httpd, and its extensions.
fn add(draft: &mut Draft, kind: FileAspect, args: &[String]) -> Result<(), String> {
    let Some((value, extensions)) = args.split_first() else { return Ok(()) };
    let value = if kind == FileAspect::Type { value.clone() } else { value.to_ascii_lowercase() };
    for extension in extensions {
        draft.settings().response.types.added.insert((kind, bare(extension)), Some(value.clone()));
    }
    Ok(())
}

/// `RemoveType`, `RemoveEncoding`, …
fn remove(draft: &mut Draft, kind: FileAspect, extensions: &[String]) -> Result<(), String> {
    for extension in extensions {
        draft.settings().response.types.added.insert((kind, bare(extension)), None);
    }
    Ok(())
}

/// `AddHandler name extension…`
fn add_handler(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((name, extensions)) = args.split_first() else { return Ok(()) };
    let handler = handler(draft, name)?;
    for extension in extensions {
        draft.settings().response.types.handlers.insert(bare(extension), Some(handler.clone()));
    }
    Ok(())
}

/// `RemoveHandler extension…`
fn remove_handler(draft: &mut Draft, extensions: &[String]) -> Result<(), String> {
    for extension in extensions {
        draft.settings().response.types.handlers.insert(bare(extension), None);
    }
    Ok(())
}

/// `ForceType type|None`
fn force(draft: &mut Draft, name: &str) -> Result<(), String> {
    let is_none = name.eq_ignore_ascii_case("none");
    if !name.contains('/') && !is_of_programs(name) && !is_none {
        return Err(format!("expected a MIME type like text/html, or None, got \"{name}\""));
    }
    draft.settings().response.types.force = Some((!is_none).then(|| name.to_owned()));
    Ok(())
}

/// `AddDefaultCharset On|Off|name`
fn default_charset(draft: &mut Draft, name: &str) -> Result<(), String> {
    draft.settings().response.types.default_charset = Some(match name.to_ascii_lowercase().as_str() {
        "off" => None,
        "on" => Some("iso-8859-1".to_owned()),
        _ => Some(name.to_owned()),
    });
    Ok(())
}

/// `TypesConfig file`, followed by the lines of the file, which `parse` appends.
fn types_config(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let types = draft.config.types.get_or_insert_default();
    for line in args.iter().skip(1) {
        let mut words = line.split_whitespace();
        let Some(kind) = words.next() else { continue };
        for extension in words {
            types.insert(extension.to_ascii_lowercase(), kind.to_owned());
        }
    }
    Ok(())
}

fn bare(extension: &str) -> String {
    extension.trim_start_matches('.').to_ascii_lowercase()
}
