//! `CookieTracking`: the cookie for a client that has none (httpd manual, mod_usertrack).

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use http::header::{COOKIE, HeaderMap, HeaderName, HeaderValue, SET_COOKIE};

use super::header_tables::HeaderTables;
use crate::request::context::RequestContext;
use config::response::tracking::{CookieStyle, Tracking};

const SET_COOKIE_2: HeaderName = HeaderName::from_static("set-cookie2");

/// Adds the cookie to the response's headers, unless the client has one.
pub fn track(context: &RequestContext, tables: &mut HeaderTables, rules: &Tracking) {
    let name = rules.name.as_deref().unwrap_or("Apache");
    if rules.on != Some(true) || has_cookie(&context.head.headers, name) {
        return;
    }
    let style = rules.style.unwrap_or_default();
    let header = if style == CookieStyle::Cookie2 { SET_COOKIE_2 } else { SET_COOKIE };
    let micros = context.received.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let cookie = format!("{name}={}.{micros}; path=/{}", context.remote().ip, attributes(rules, style));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        tables.of_rule(true, header.as_str()).append(header, cookie);
    }
}

fn attributes(rules: &Tracking, style: CookieStyle) -> String {
    let mut text = String::new();
    if let Some(period) = rules.expires {
        let until = SystemTime::now().checked_add(period).map(DateTime::<Utc>::from);
        match (style, until) {
            (CookieStyle::Netscape, Some(until)) => {
                text += &until.format("; expires=%a, %d-%b-%y %H:%M:%S GMT").to_string();
            }
            _ => text += &format!("; max-age={}", period.as_secs()),
        }
    }
    if let Some(domain) = &rules.domain {
        text += &format!("; domain={domain}");
        text += if style == CookieStyle::Cookie2 { "; version=1" } else { "" };
    }
    if let Some(same_site) = &rules.same_site {
        text += &format!("; SameSite={same_site}");
    }
    text += if rules.secure == Some(true) { "; Secure" } else { "" };
    text += if rules.http_only == Some(true) { "; HttpOnly" } else { "" };
    text
}

fn has_cookie(headers: &HeaderMap, name: &str) -> bool {
    let lists = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let value = |pair: &str| Some(!pair.trim_start().strip_prefix(name)?.strip_prefix('=')?.is_empty());
    lists.flat_map(|list| list.split([';', ','])).any(|pair| value(pair) == Some(true))
}
