//! FastCGI applications behind `ProxyPass` and `SetHandler proxy:`.

use crate::draft::Draft;
use crate::model::fastcgi::fcgi::{FcgiBackendType, is_reserved};
use crate::model::proxy::BackendUrl;
use crate::model::response::expr::Expr;
use crate::model::response::setenv::{SetEnvCondition, SetEnvIf};
use crate::table::row::{FILE_INFO, Row, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_proxy_fcgi.c",
    word("ProxyFCGIBackendType", FILE_INFO, "FPM|GENERIC", |d, word| {
        d.settings().fcgi.backend_type = Some(match word.to_ascii_uppercase().as_str() {
            "FPM" => FcgiBackendType::Fpm,
            "GENERIC" => FcgiBackendType::Generic,
            _ => return Err(format!("expected FPM or GENERIC, got \"{word}\"")),
        });
        Ok(())
    })
    .default("FPM", "as in httpd: most FastCGI applications behind a proxy are PHP-FPM"),
    "What a FastCGI application finds in SCRIPT_FILENAME: `proxy:fcgi://host/file`, from which PHP-FPM removes the \
     beginning, or the file alone. A Perl program that reads SCRIPT_FILENAME needs GENERIC; it can often run as PsgiApp.",
    words("ProxyFCGISetEnvIf", FILE_INFO, "expression [!]variable [value]", 2..=3, set_env_if)
        .because("the variables are those of CGI"),
    "Sets a variable for FastCGI applications, or removes it with `!`, if the expression is true. It is applied to all \
     CGI variables, last; `$1` in the value is the text of the expression's first group.",
];

/// Notes that the configuration itself names a backend: `.htaccess` files of this place may use it, too.
pub fn name(draft: &mut Draft, url: Option<&BackendUrl>) {
    let reserved = url.filter(|url| is_reserved(url) && draft.htaccess.is_none());
    if let Some(url) = reserved {
        draft.settings().fcgi.named.push(url.origin());
    }
}

/// `ProxyFCGISetEnvIf expression [!]variable [value]`
fn set_env_if(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [expression, variable, value @ ..] = args else { return Ok(()) };
    draft.charge_rule()?;
    let value = value.first().cloned().unwrap_or_default();
    if value.contains("%{") {
        return Err(
            "expressions as values are not supported; write the value, with $1 for a group of the condition".to_owned()
        );
    }
    let change = match variable.strip_prefix('!') {
        Some(name) => (name.to_owned(), None),
        None => (variable.clone(), Some(value)),
    };
    let when = SetEnvCondition::Holds(Expr::parse(expression, &mut draft.patterns)?);
    draft.settings().fcgi.set_env_if.push(SetEnvIf { when, changes: vec![change] });
    Ok(())
}
