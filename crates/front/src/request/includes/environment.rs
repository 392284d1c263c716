//! The variables of a page before its first element: those of CGI, of the configuration, and of includes.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, PROXY_AUTHORIZATION};

use super::document::Document;
use super::variables::{PageValue, PageVariables};
use crate::base::protocol::protocol;
use crate::base::target;
use crate::request::repeated;
use crate::request::rewrite::{self, AskedOf};
use crate::routing::bytes;
use config::response::rewrite::{RuleSource, RuleVariable};
use ssi::codings::{percent_decoded, shell_escaped};

/// Sets the query that `QUERY_STRING` and `QUERY_STRING_UNESCAPED` have.
pub fn set_query(variables: &mut PageVariables, query: &[u8]) {
    let unescaped = shell_escaped(&percent_decoded(query, false));
    for (name, value) in [("QUERY_STRING", query.to_vec()), ("QUERY_STRING_UNESCAPED", unescaped)] {
        let _ = variables.set(name.as_bytes(), PageValue::Text(value));
    }
}

/// The variables of a document that a client has requested.
pub fn of(document: &Document) -> PageVariables {
    let mut variables = PageVariables::default();
    // A variable beyond the size limit is left out; clients send less than the limit.
    let mut set = |name: &str, value: &[u8]| {
        let _ = variables.set(name.as_bytes(), PageValue::Text(value.to_vec()));
    };
    for (name, value) in document.context.variables().iter() {
        set(name, value.as_bytes());
    }
    of_headers(document, &mut set);
    of_server(document, &mut set);
    of_client(document, &mut set);
    of_script(document, &mut set);
    of_document(document, &mut set);
    let lazy = [
        ("DATE_LOCAL", PageValue::DateLocal),
        ("DATE_GMT", PageValue::DateGmt),
        ("LAST_MODIFIED", PageValue::LastModified),
        ("USER_NAME", PageValue::UserName),
    ];
    for (name, value) in lazy {
        let _ = variables.set(name.as_bytes(), value);
    }
    variables
}

type Set<'a> = &'a mut dyn FnMut(&str, &[u8]);

fn of_headers(document: &Document, set: Set<'_>) {
    let cookies = repeated::cookies(&document.head);
    for (name, value) in &document.head.headers {
        if *name == CONTENT_TYPE {
            set("CONTENT_TYPE", value.as_bytes());
        } else if *name == CONTENT_LENGTH {
            set("CONTENT_LENGTH", value.as_bytes());
        } else if *name != AUTHORIZATION && *name != PROXY_AUTHORIZATION && name != "proxy" {
            set(&format!("HTTP_{}", name.as_str().to_ascii_uppercase().replace('-', "_")), value.as_bytes());
        }
    }
    for cookie in cookies.into_iter().flatten() {
        set("HTTP_COOKIE", cookie.as_bytes());
    }
}

fn of_server(document: &Document, set: Set<'_>) {
    let Document { context, head, route, .. } = document;
    let source = AskedOf { context, head, route, answers: &[], trace_level: 0 };
    for (name, known) in [
        ("SERVER_SOFTWARE", RuleVariable::ServerSoftware),
        ("SERVER_NAME", RuleVariable::ServerName),
        ("SERVER_ADDR", RuleVariable::ServerAddr),
        ("SERVER_PORT", RuleVariable::ServerPort),
        ("DOCUMENT_ROOT", RuleVariable::DocumentRoot),
        ("CONTEXT_DOCUMENT_ROOT", RuleVariable::DocumentRoot),
        ("REQUEST_SCHEME", RuleVariable::RequestScheme),
        ("SERVER_ADMIN", RuleVariable::ServerAdmin),
    ] {
        set(name, source.known(known).as_bytes());
    }
    set("CONTEXT_PREFIX", b"");
    set("GATEWAY_INTERFACE", b"CGI/1.1");
    set("SERVER_PROTOCOL", protocol(context.head.version).as_bytes());
}

fn of_client(document: &Document, set: Set<'_>) {
    let context = &document.context;
    set("REMOTE_ADDR", context.remote().ip.as_bytes());
    set("REMOTE_PORT", context.remote().port.to_string().as_bytes());
    let visitor = context.visitor();
    if let Some(name) = visitor.name() {
        set("REMOTE_HOST", name.as_bytes());
    }
    if let Some(user) = visitor.user() {
        set("REMOTE_USER", user.name.as_bytes());
        set("AUTH_TYPE", visitor.auth_type().as_bytes());
    }
}

fn of_script(document: &Document, set: Set<'_>) {
    let Document { context, head, route, .. } = document;
    let uri = &context.head.uri;
    let written = uri.path_and_query().map_or("/", |target| target.as_str());
    set("REQUEST_METHOD", context.head.method.as_str().as_bytes());
    set("REQUEST_URI", target::as_sent(&context.head).unwrap_or(written.as_bytes()));
    set("QUERY_STRING", target::query(head).unwrap_or_default());
    let (script, path_info) = document.split_path();
    set("SCRIPT_NAME", script);
    set("SCRIPT_FILENAME", document.filename());
    if !path_info.is_empty() {
        set("PATH_INFO", path_info);
        let root = bytes(rewrite::document_root(context, route));
        set("PATH_TRANSLATED", &[root, path_info].concat());
    }
}

fn of_document(document: &Document, set: Set<'_>) {
    let Document { head, route, .. } = document;
    let (script, path_info) = document.split_path();
    set("DOCUMENT_URI", &route.path);
    set("DOCUMENT_ARGS", target::query(head).unwrap_or_default());
    if !path_info.is_empty() {
        set("DOCUMENT_PATH_INFO", path_info);
    }
    let file = route.filename.file_name().map(|name| name.as_encoded_bytes());
    let name = script.rsplit(|byte| *byte == b'/').next().filter(|_| !path_info.is_empty());
    set("DOCUMENT_NAME", name.or(file).unwrap_or(script));
    if let Some(query) = target::query(head) {
        set("QUERY_STRING_UNESCAPED", &shell_escaped(&percent_decoded(query, false)));
    }
}
