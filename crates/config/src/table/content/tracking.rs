//! `CookieTracking` (mod_usertrack) and `CheckSpelling` (mod_speling).

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::response::tracking::{CookieStyle, Tracking, period};
use crate::table::row::{ANYWHERE, Contexts, FILE_INFO, Row, flag, rows, word};

/// Contexts of `CheckSpelling`.
const OPTIONS: Contexts = ANYWHERE.and_htaccess(Class::OPTIONS);

pub static ROWS: &[Row] = rows![
    "mod_usertrack.c",
    flag("CookieTracking", FILE_INFO, |d, on| tracking(d).on = Some(on)).because("Off: clients are not recognised"),
    "Whether a client without the cookie of CookieName gets one, with its address and the time.",
    word("CookieName", FILE_INFO, "name", name).default("Apache", "httpd's default"),
    "The name of the cookie of CookieTracking.",
    word("CookieDomain", FILE_INFO, ".domain", domain).because("the cookie is for the host that sent it"),
    "The domain of the cookie: begins with a dot, and has another one.",
    word("CookieExpires", FILE_INFO, "seconds|\"number unit…\"", |d, text| {
        tracking(d).expires = Some(period(text)?);
        Ok(())
    })
    .because("the cookie ends with the browser"),
    "How long the cookie is valid: `3600`, or `\"2 weeks 3 days\"` with years, months, weeks, days, hours, minutes and \
     seconds.",
    word("CookieStyle", FILE_INFO, "Netscape|Cookie|Cookie2|RFC2109|RFC2965", style)
        .default("Netscape", "httpd's default"),
    "The format of the cookie: Netscape has a date of its end, Cookie (RFC2109) a max-age; Cookie2 (RFC2965) is sent in \
     Set-Cookie2.",
    flag("CookieHTTPOnly", FILE_INFO, |d, on| tracking(d).http_only = Some(on)).because("httpd's default: Off"),
    "Whether the cookie has the attribute HttpOnly.",
    flag("CookieSecure", FILE_INFO, |d, on| tracking(d).secure = Some(on)).because("httpd's default: Off"),
    "Whether the cookie has the attribute Secure.",
    word("CookieSameSite", FILE_INFO, "None|Lax|Strict", same_site).because("httpd's default: no attribute"),
    "The attribute SameSite of the cookie.",
    flag("CheckSpelling", OPTIONS, |d, on| d.settings().response.spelling.on = Some(on))
        .of("mod_speling.c")
        .because("Off: a wrong address is answered 404"),
    "Whether a GET of a missing file is redirected to the one file with a similar name: another case, or one wrong, \
     missing, additional or exchanged character. Several such files are listed with status 300.",
    flag("CheckCaseOnly", OPTIONS, |d, on| d.settings().response.spelling.case_only = Some(on))
        .of("mod_speling.c")
        .because("Off: all corrections of CheckSpelling"),
    "Whether CheckSpelling corrects upper and lower case only.",
    flag("CheckBasenameMatch", OPTIONS, |d, on| d.settings().response.spelling.basename = Some(on))
        .of("mod_speling.c")
        .default("On", "httpd's default"),
    "Whether CheckSpelling lists files of the same name with another extension.",
];

fn tracking(draft: &mut Draft) -> &mut Tracking {
    &mut draft.settings().response.tracking
}

/// `CookieName name`
fn name(draft: &mut Draft, name: &str) -> Result<(), String> {
    let is_token =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte));
    if !is_token {
        return Err(format!("expected a name of letters, digits, - and _, got \"{name}\""));
    }
    tracking(draft).name = Some(name.to_owned());
    Ok(())
}

/// `CookieDomain .example.com`
fn domain(draft: &mut Draft, domain: &str) -> Result<(), String> {
    let is_name = domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    if !is_name || !domain.strip_prefix('.').is_some_and(|rest| rest.contains('.')) {
        return Err(format!("expected a domain that begins with a dot and has another one, got \"{domain}\""));
    }
    tracking(draft).domain = Some(domain.to_owned());
    Ok(())
}

/// `CookieStyle style`
fn style(draft: &mut Draft, name: &str) -> Result<(), String> {
    let style = CookieStyle::named(name);
    let style =
        style.ok_or_else(|| format!("expected Netscape, Cookie, Cookie2, RFC2109 or RFC2965, got \"{name}\""))?;
    tracking(draft).style = Some(style);
    Ok(())
}

/// `CookieSameSite None|Lax|Strict`
fn same_site(draft: &mut Draft, word: &str) -> Result<(), String> {
    let known = ["None", "Lax", "Strict"].into_iter().find(|known| known.eq_ignore_ascii_case(word));
    tracking(draft).same_site =
        Some(known.ok_or_else(|| format!("expected None, Lax or Strict, got \"{word}\""))?.to_owned());
    Ok(())
}
