//! MIME types, handlers, encodings, languages and charsets by file extension.

use crate::draft::Draft;
use crate::model::handler::Handler;
use crate::model::overrides::Class;
use crate::model::response::types::FileAspect;
use crate::table::row::{ANYWHERE, MANY, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "AddType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("type extension…", 2..=MANY, add_type),
        because: "the common extensions are built in",
        about: "The MIME type of files with these extensions.",
        ..ROW
    },
    Row {
        name: "ForceType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("type|None", force),
        because: "extensions determine the type",
        about: "The MIME type of all files, regardless of their extensions; `None` cancels it.",
        ..ROW
    },
    Row {
        name: "TypesConfig",
        contexts: SERVER,
        takes: Takes::Words("file", 1..=MANY, |d, args| {
            types_config(d, args);
            Ok(())
        }),
        because: "the common extensions are built in",
        about: "A file with lines of a MIME type and its extensions, such as /etc/mime.types. Read with the configuration.",
        ..ROW
    },
    Row {
        name: "AddHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("perl-script|cgi-script|send-as-is|default-handler|name extension…", 2..=MANY, add_handler),
        because: "only SetHandler makes files programs",
        about: "The handler of files with these extensions, unless SetHandler sets one. Any extension of a name counts, not only the last. Names are those of SetHandler.",
        ..ROW
    },
    Row {
        name: "AddEncoding",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("encoding extension…", 2..=MANY, |d, args| {
            add(d, FileAspect::Encoding, args);
            Ok(())
        }),
        because: "a compressed file is sent as a file of its own type",
        about: "The Content-Encoding of files with these extensions; the extension before it determines the type: `page.html.gz`.",
        ..ROW
    },
    Row {
        name: "AddLanguage",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("language extension…", 2..=MANY, |d, args| {
            add(d, FileAspect::Language, args);
            Ok(())
        }),
        because: "few file names contain a language",
        about: "The Content-Language of files with these extensions.",
        ..ROW
    },
    Row {
        name: "DefaultLanguage",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("language", |d, language| {
            d.settings().response.types.default_language = Some(language.to_owned());
            Ok(())
        }),
        because: "few sites have one language",
        about: "The Content-Language of files whose extensions determine none, and of responses of handlers that set none.",
        ..ROW
    },
    Row {
        name: "AddCharset",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("charset extension…", 2..=MANY, |d, args| {
            add(d, FileAspect::Charset, args);
            Ok(())
        }),
        because: "pages declare their charset themselves",
        about: "The charset of files with these extensions, added to their type.",
        ..ROW
    },
    Row {
        name: "RemoveType",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            remove(d, FileAspect::Type, args);
            Ok(())
        }),
        because: "see AddType",
        about: "Cancels an AddType of an outer section.",
        ..ROW
    },
    Row {
        name: "RemoveHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            remove_handler(d, args);
            Ok(())
        }),
        because: "see AddHandler",
        about: "Cancels an AddHandler of an outer section.",
        ..ROW
    },
    Row {
        name: "RemoveEncoding",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            remove(d, FileAspect::Encoding, args);
            Ok(())
        }),
        because: "see AddEncoding",
        about: "Cancels an AddEncoding of an outer section.",
        ..ROW
    },
    Row {
        name: "RemoveLanguage",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            remove(d, FileAspect::Language, args);
            Ok(())
        }),
        because: "see AddLanguage",
        about: "Cancels an AddLanguage of an outer section.",
        ..ROW
    },
    Row {
        name: "RemoveCharset",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            remove(d, FileAspect::Charset, args);
            Ok(())
        }),
        because: "see AddCharset",
        about: "Cancels an AddCharset of an outer section.",
        ..ROW
    },
    Row {
        name: "AddDefaultCharset",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("On|Off|charset", |d, name| {
            default_charset(d, name);
            Ok(())
        }),
        because: "httpd's default: pages declare their charset themselves",
        about: "Charset added to responses of type text/html and text/plain without one; On is iso-8859-1.",
        ..ROW
    },
];

/// A handler by its name in `SetHandler` or `AddHandler`. An `Action` may define an unknown name; otherwise requests for it
/// fail.
pub fn handler(draft: &mut Draft, name: &str) -> Result<Handler, String> {
    let handler = Handler::named(name);
    if draft.htaccess.is_some() && handler.is_page() {
        return Err(format!(
            "{name} shows the whole server and is not allowed in .htaccess files: write it in the main configuration"
        ));
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
    if !kind.contains('/') {
        return Err(format!("expected a MIME type like text/html first, got \"{kind}\""));
    }
    // As in httpd, a charset in the argument remains part of the type.
    let whole = if charset.is_empty() { kind.trim().to_owned() } else { args[0].clone() };
    add(draft, FileAspect::Type, &[&[whole], &args[1..]].concat());
    Ok(())
}

/// `AddEncoding`, `AddLanguage`, `AddCharset`: a value and its extensions.
fn add(draft: &mut Draft, kind: FileAspect, args: &[String]) {
    let Some((value, extensions)) = args.split_first() else { return };
    for extension in extensions {
        draft.settings().response.types.added.insert((kind, bare(extension)), Some(value.clone()));
    }
}

/// `RemoveType`, `RemoveEncoding`, …
fn remove(draft: &mut Draft, kind: FileAspect, extensions: &[String]) {
    for extension in extensions {
        draft.settings().response.types.added.insert((kind, bare(extension)), None);
    }
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
fn remove_handler(draft: &mut Draft, extensions: &[String]) {
    for extension in extensions {
        draft.settings().response.types.handlers.insert(bare(extension), None);
    }
}

/// `ForceType type|None`
fn force(draft: &mut Draft, name: &str) -> Result<(), String> {
    if !name.contains('/') && !name.eq_ignore_ascii_case("none") {
        return Err(format!("expected a MIME type like text/html, or None, got \"{name}\""));
    }
    draft.settings().response.types.force = Some(Some(name.to_owned()).filter(|name| name.contains('/')));
    Ok(())
}

/// `AddDefaultCharset On|Off|name`
fn default_charset(draft: &mut Draft, name: &str) {
    draft.settings().response.types.default_charset = Some(match name.to_ascii_lowercase().as_str() {
        "off" => None,
        "on" => Some("iso-8859-1".to_owned()),
        _ => Some(name.to_owned()),
    });
}

/// `TypesConfig file`, followed by the lines of the file, which `parse` appends.
fn types_config(draft: &mut Draft, args: &[String]) {
    for line in args.iter().skip(1) {
        let mut words = line.split_whitespace();
        let Some(kind) = words.next() else { continue };
        for extension in words {
            draft.config.types.insert(extension.to_ascii_lowercase(), kind.to_owned());
        }
    }
}

fn bare(extension: &str) -> String {
    extension.trim_start_matches('.').to_ascii_lowercase()
}
