//! Scripts that answer for others.

use super::super::rules::actions;
use super::{ANYWHERE, Class, Effect, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "Action",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler|type /script [virtual]", 2..=3, actions::action),
        default: None,
        because: "files are sent as they are",
        effect: Effect::Reload,
        about: "A script that answers for files of a handler's name or of a media type: their path is its PATH_INFO, REDIRECT_HANDLER the \
            name. With `virtual` there need be no such file.",
    },
    Row {
        name: "Script",
        aliases: &[],
        contexts: ANYWHERE,
        takes: Takes::Words("method /script", 2..=2, actions::script),
        default: None,
        because: "files know GET, HEAD and OPTIONS",
        effect: Effect::Reload,
        about: "A script that answers requests of this method that no program answers; those of GET only when they have a query.",
    },
];
