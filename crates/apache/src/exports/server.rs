//! Servers: the objects `$s`.

use super::{ApacheText, Out, XsText};
use crate::request_rec::field::{Number, Text};
use crate::request_rec::server::{server_number, server_text};
use crate::request_stack::{place, server};

#[unsafe(no_mangle)]
extern "C" fn apache_server_text(host: u32, field: u32, out: Out<'_, ApacheText>) {
    let server = server(host);
    let field = Text::from_number(field);
    let text = server.as_ref().zip(field).and_then(|(server, field)| server_text(server, field));
    out.write(ApacheText::of_option(text));
}

/// Returns -1 when no such server exists.
#[unsafe(no_mangle)]
extern "C" fn apache_server_number(host: u32, field: u32) -> i64 {
    server(host).zip(Number::from_number(field)).map_or(-1, |(server, field)| server_number(&server, field))
}

#[unsafe(no_mangle)]
extern "C" fn apache_section(at: usize) -> i64 {
    place().and_then(|place| place.sections.get(at).copied()).map_or(-1, i64::from)
}

#[unsafe(no_mangle)]
extern "C" fn apache_server_var(host: u32, at: usize, name: Out<'_, ApacheText>, value: Out<'_, ApacheText>) {
    let server = server(host);
    let pair = server.as_ref().and_then(|server| server.set_vars.get(at));
    let (n, v) = match pair {
        Some((name, value)) => (ApacheText::of(name.as_bytes()), ApacheText::of(value.as_bytes())),
        None => (ApacheText::UNDEF, ApacheText::UNDEF),
    };
    name.write(n);
    value.write(v);
}

#[unsafe(no_mangle)]
extern "C" fn apache_server_alias(host: u32, at: usize, name: Out<'_, ApacheText>) {
    let server = server(host);
    let alias = server.as_ref().and_then(|server| server.names.get(at));
    name.write(ApacheText::of_option(alias.map(String::as_bytes)));
}

#[unsafe(no_mangle)]
extern "C" fn apache_add_version_component(text: XsText<'_>) {
    crate::request_stack::add_version_component(&String::from_utf8_lossy(text.bytes()));
}

#[unsafe(no_mangle)]
extern "C" fn apache_set_server_port(host: u32, port: u16) {
    crate::request_stack::set_server_port(host, port);
}
