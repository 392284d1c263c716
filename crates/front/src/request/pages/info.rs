//! `server-info`: the configuration with file and line of each directive, in the shape of httpd's mod_info.

use std::fmt::Write;

use http::Response;

use super::{HTML, escape, response};
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use config::{Config, Directive, PoolSettings, is_secret, modules};

/// The page; the query `config`, `server` or `list` selects one part of it.
pub fn page(context: &RequestContext, route: &Route, query: &str) -> Response<BodySource> {
    let wants = |part: &str| query.is_empty() || query == part;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Server Information</title></head>\n<body>\n\
         <h1>Server Information for {}</h1>\n",
        escape(&route.server_name)
    );
    if wants("server") {
        server(&mut page, context);
    }
    if wants("list") {
        page.push_str("<h2>Supported httpd modules</h2>\n<ul>\n");
        for (name, _) in modules() {
            let _ = writeln!(page, "<li>{}</li>", escape(name));
        }
        page.push_str("</ul>\n");
    }
    if wants("config") {
        page.push_str("<h2>Configuration</h2>\n<pre>\n");
        directives(&mut page, &context.generation.tree, 0);
        page.push_str("</pre>\n");
    }
    response(page + "</body></html>\n", HTML)
}

fn server(page: &mut String, context: &RequestContext) {
    let config = &context.generation.config;
    let listen: Vec<String> = config.listen.iter().map(|listen| format!("{listen:?}")).collect();
    page.push_str("<h2>Server Settings</h2>\n<dl>\n");
    for (name, value) in [
        ("Server Version", context.generation.software.clone()),
        ("Server Root", config.server_root.display().to_string()),
        ("Configuration Generation", context.generation.number.to_string()),
        ("Listening On", listen.join(", ")),
        ("Timeouts", format!("connection: {:?}", config.timeouts.client)),
        ("Workers", workers(config)),
        ("Virtual Hosts", config.hosts.len().saturating_sub(1).to_string()),
    ] {
        let _ = writeln!(page, "<dt><b>{name}:</b> {}</dt>", escape(&value));
    }
    page.push_str("</dl>\n");
}

fn workers(config: &Config) -> String {
    let numbers = |pool| {
        let PoolSettings { start, max_clients, .. } = config.pool_of(pool);
        let label = config.pool_label(pool).replace(" pool=", "pool ");
        format!("{label}{}{start} initially, at most {max_clients}", if label.is_empty() { "" } else { ": " })
    };
    config.pool_numbers().map(numbers).collect::<Vec<_>>().join("; ")
}

fn directives(page: &mut String, tree: &[Directive], depth: usize) {
    for directive in tree {
        let indent = "  ".repeat(depth);
        let mut words = vec![directive.name.clone()];
        match is_secret(&directive.name) {
            true => words.push("(hidden)".to_owned()),
            false => words.extend(directive.args.iter().map(|arg| quoted(arg))),
        }
        let line = escape(&words.join(" "));
        let at = escape(&directive.at.to_string());
        match &directive.section {
            Some(inside) => {
                let _ = writeln!(page, "{indent}&lt;{line}&gt;  # {at}");
                directives(page, inside, depth + 1);
                let _ = writeln!(page, "{indent}&lt;/{}&gt;", escape(&directive.name));
            }
            None => {
                let _ = writeln!(page, "{indent}{line}  # {at}");
            }
        }
    }
}

fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains([' ', '"', '\n', '\t']);
    if is_plain { word.to_owned() } else { format!("\"{}\"", word.replace('"', "\\\"")) }
}
