//! What a file's extensions say of it.

use super::super::rules::types::{self, Kind};
use super::{ANYWHERE, Class, Effect, MANY, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "AddType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("type extension…", 2..=MANY, types::add_type),
        default: None,
        because: "the usual extensions are known",
        effect: Effect::Reload,
        about: "The MIME type of files with these extensions.",
    },
    Row {
        name: "ForceType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("type|None", types::force),
        default: None,
        because: "extensions say it",
        effect: Effect::Reload,
        about: "The MIME type of all files, whatever their extensions say; `None` takes it back.",
    },
    Row {
        name: "TypesConfig",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Words("file", 1..=MANY, |d, args| {
            types::types_config(d, args);
            Ok(())
        }),
        default: None,
        because: "the usual extensions are known without a file",
        effect: Effect::Reload,
        about: "A file with lines of a MIME type and its extensions, for instance /etc/mime.types. It is read with the configuration.",
    },
    Row {
        name: "AddHandler",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words(
            "perl-script|cgi-script|send-as-is|default-handler|name extension…",
            2..=MANY,
            types::add_handler,
        ),
        default: None,
        because: "only SetHandler says what is a program",
        effect: Effect::Reload,
        about: "Who answers for files with these extensions, where no SetHandler says it. Any extension of a name counts, not only the last. Names are those of SetHandler.",
    },
    Row {
        name: "AddEncoding",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("encoding extension…", 2..=MANY, |d, args| {
            types::add(d, Kind::Encoding, args);
            Ok(())
        }),
        default: None,
        because: "a compressed file is sent as what it is",
        effect: Effect::Reload,
        about: "The Content-Encoding of files with these extensions; the type is that of the extension before: `page.html.gz`.",
    },
    Row {
        name: "AddLanguage",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("language extension…", 2..=MANY, |d, args| {
            types::add(d, Kind::Language, args);
            Ok(())
        }),
        default: None,
        because: "few files say their language",
        effect: Effect::Reload,
        about: "The Content-Language of files with these extensions.",
    },
    Row {
        name: "AddCharset",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("charset extension…", 2..=MANY, |d, args| {
            types::add(d, Kind::Charset, args);
            Ok(())
        }),
        default: None,
        because: "pages say it themselves",
        effect: Effect::Reload,
        about: "The charset of files with these extensions, added to their type.",
    },
    Row {
        name: "RemoveType",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            types::remove(d, Kind::Type, args);
            Ok(())
        }),
        default: None,
        because: "see AddType",
        effect: Effect::Reload,
        about: "Takes back an AddType of an outer section.",
    },
    Row {
        name: "RemoveHandler",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            types::remove_handler(d, args);
            Ok(())
        }),
        default: None,
        because: "see AddHandler",
        effect: Effect::Reload,
        about: "Takes back an AddHandler of an outer section.",
    },
    Row {
        name: "RemoveEncoding",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            types::remove(d, Kind::Encoding, args);
            Ok(())
        }),
        default: None,
        because: "see AddEncoding",
        effect: Effect::Reload,
        about: "Takes back an AddEncoding of an outer section.",
    },
    Row {
        name: "RemoveLanguage",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            types::remove(d, Kind::Language, args);
            Ok(())
        }),
        default: None,
        because: "see AddLanguage",
        effect: Effect::Reload,
        about: "Takes back an AddLanguage of an outer section.",
    },
    Row {
        name: "RemoveCharset",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("extension…", 1..=MANY, |d, args| {
            types::remove(d, Kind::Charset, args);
            Ok(())
        }),
        default: None,
        because: "see AddCharset",
        effect: Effect::Reload,
        about: "Takes back an AddCharset of an outer section.",
    },
    Row {
        name: "AddDefaultCharset",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("On|Off|charset", |d, name| {
            types::default_charset(d, name);
            Ok(())
        }),
        default: None,
        because: "as httpd: pages say it themselves",
        effect: Effect::Reload,
        about: "Added to answers of type text/html and text/plain that say no charset; On is iso-8859-1.",
    },
];
