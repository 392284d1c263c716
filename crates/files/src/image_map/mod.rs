//! Image maps: files that say which part of an image leads where (httpd manual, mod_imagemap).

mod shapes;
mod target;

use config::response::image_map::MenuForm;
use shapes::{MapShape, distance, points};
pub use target::MapPlace;

/// What a map answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapAnswer {
    /// A redirect to this URL.
    To(String),
    /// 204: the page stays.
    NoContent,
    /// 500, on purpose or for an invalid line. The text is for the log.
    Failed(String),
    /// A page of links.
    Menu(String),
}

/// Length of a page in bytes at which it is given up: a short line may stand for a long link.
const MAX_PAGE_BYTES: usize = 1 << 20;

/// A line of a map.
struct Line<'a> {
    name: &'a str,
    value: &'a str,
    rest: &'a str,
}

/// The answer of a map to a query, which has the coordinates: `40,50`. `default` is `ImapDefault`.
pub fn answer(text: &str, query: Option<&str>, place: &MapPlace<'_>, default: &str, menu: MenuForm) -> MapAnswer {
    let at = query.and_then(coordinates).filter(|at| *at != (0.0, 0.0));
    match (at, menu) {
        (None, MenuForm::Formatted | MenuForm::Semiformatted | MenuForm::Unformatted) => page(text, place, menu),
        _ => led(text, at, place, default).unwrap_or_else(MapAnswer::Failed),
    }
}

/// The coordinates of a query. `None` if one is missing.
fn coordinates(query: &str) -> Option<(f64, f64)> {
    let (x, y) = query.split_once(',')?;
    let number = |text: &str| {
        let text = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        text.get(..end)?.parse::<f64>().ok()
    };
    Some((number(x)?, number(y)?))
}

impl<'a> Line<'a> {
    /// Name and value of a line that is neither blank nor a comment.
    fn parse(line: &'a str) -> Result<Line<'a>, String> {
        let (name, rest) = line.split_once(char::is_whitespace).ok_or_else(|| format!("\"{line}\" has no value"))?;
        let rest = rest.trim_start();
        let (value, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Ok(Line { name, value, rest: rest.trim_start() })
    }

    /// `base`, `base_uri`
    fn is_base(&self) -> bool {
        self.name.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("base"))
    }

    fn is_default(&self) -> bool {
        self.name.eq_ignore_ascii_case("default")
    }

    /// The text of the menu's link, which is in quotation marks before the points or behind them.
    fn text(&self) -> Option<&'a str> {
        self.rest.split('"').nth(1)
    }
}

/// Where a click leads. The error is that of a line.
fn led(text: &str, at: Option<(f64, f64)>, place: &MapPlace<'_>, default: &str) -> Result<MapAnswer, String> {
    let (mut base, mut default) = (place.base()?, place.url(default, None)?);
    let mut closest: Option<(f64, String)> = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let line = Line::parse(line)?;
        if line.is_base() {
            base = place.url(line.value, None)?;
            continue;
        }
        if line.is_default() {
            default = place.url(line.value, None)?;
            continue;
        }
        // As in httpd, a line with another name has no effect.
        let Some(shape) = MapShape::named(line.name) else { continue };
        let points = points(line.rest);
        let (Some(at), Some(first)) = (at, points.first()) else { continue };
        if shape == MapShape::Point {
            let far = distance(at, *first);
            if closest.as_ref().is_none_or(|(known, _)| far < *known) {
                closest = Some((far, place.url(line.value, Some(&base))?));
            }
        } else if shape.has(&points, at) {
            return Ok(reply(place.url(line.value, Some(&base))?));
        }
    }
    match closest {
        Some((_, to)) => Ok(reply(to)),
        None => Ok(reply(place.url(&default, Some(&base))?)),
    }
}

fn reply(to: String) -> MapAnswer {
    match to.to_ascii_lowercase().as_str() {
        "error" => MapAnswer::Failed("the map leads to an error".to_owned()),
        "nocontent" => MapAnswer::NoContent,
        _ => MapAnswer::To(to),
    }
}

/// The page with all links. As in httpd, an invalid line ends it.
fn page(text: &str, place: &MapPlace<'_>, form: MenuForm) -> MapAnswer {
    let name = escaped(place.path);
    let mut html = format!("<!DOCTYPE html>\n<html><head>\n<title>Menu for {name}</title>\n</head><body>\n");
    if form == MenuForm::Formatted {
        html += &format!("<h1>Menu for {name}</h1>\n<hr />\n\n");
    }
    // What stands before an invalid line is the page.
    let _ = place.base().and_then(|base| links(text, place, base, form, &mut html));
    match html.len() > MAX_PAGE_BYTES {
        true => MapAnswer::Failed(format!("the page of its links has more than {} MB", MAX_PAGE_BYTES >> 20)),
        false => MapAnswer::Menu(html + "\n\n</body>\n</html>\n"),
    }
}

fn links(text: &str, place: &MapPlace<'_>, mut base: String, form: MenuForm, html: &mut String) -> Result<(), String> {
    let has_comments = form != MenuForm::Formatted;
    for line in text.lines().map(str::trim) {
        if html.len() > MAX_PAGE_BYTES {
            return Ok(());
        }
        if line.is_empty() {
            html.push_str(if form == MenuForm::Semiformatted { "<br />\n" } else { "\n" });
        } else if let Some(comment) = line.strip_prefix('#') {
            html.push_str(if has_comments { comment } else { "" });
            html.push('\n');
        } else {
            let line = Line::parse(line)?;
            if line.is_base() {
                base = place.url(line.value, None)?;
                continue;
            }
            let is_default = line.is_default();
            let to = place.url(line.value, Some(&base))?;
            if ["error", "nocontent"].iter().all(|word| !to.eq_ignore_ascii_case(word)) {
                let label = if is_default { "(Default) " } else { "          " };
                link(form, label, &to, line.text().unwrap_or(line.value), html);
            }
        }
    }
    Ok(())
}

fn link(form: MenuForm, label: &str, to: &str, text: &str, html: &mut String) {
    let (to, text) = (escaped(to), escaped(text));
    html.push_str(&match form {
        MenuForm::Unformatted => format!("<a href=\"{to}\">{text}</a>"),
        _ => format!("<pre>{label}<a href=\"{to}\">{text}</a></pre>\n"),
    });
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "# a comment\nbase /maps/\ndefault /else \"Another <place>\"\n\
        rect /rect.html 10,10 20,20\npoly ../poly.html \"A poly\" 30,0 40,0 35,10\ncircle http://other.example/ 60,60 60,65\n\
        point near.html 100,100\npoint far.html 200,200\n";

    fn ask(text: &str, query: &str) -> MapAnswer {
        let place = MapPlace { path: "/a.map", origin: "http://x", referer: Some("http://x/from"), base: "map" };
        answer(text, Some(query), &place, "nocontent", MenuForm::None)
    }

    #[test]
    fn a_click_leads_to_the_shape_around_it_or_to_the_nearest_point() {
        for (query, to) in [
            ("10,20", "/rect.html"),
            ("35,5", "/poly.html"),
            ("60,65", "http://other.example/"),
            ("90,90", "/maps/near.html"),
            ("190,190", "/maps/far.html"),
            ("0,0", "/else"),
            ("x", "/else"),
        ] {
            assert_eq!(ask(MAP, query), MapAnswer::To(to.to_owned()), "{query}");
        }
    }

    #[test]
    fn words_stand_for_the_map_the_page_before_nothing_and_an_error() {
        assert_eq!(ask("default map", ""), MapAnswer::To("http://x/a.map".to_owned()));
        assert_eq!(ask("default referer", ""), MapAnswer::To("http://x/from".to_owned()));
        assert_eq!(ask("", "1,1"), MapAnswer::NoContent);
        assert!(matches!(ask("rect error 0,0 9,9", "1,1"), MapAnswer::Failed(_)));
        assert!(matches!(ask("rect", "1,1"), MapAnswer::Failed(_)));
        assert_eq!(ask("square /a 0,0 9,9", "1,1"), MapAnswer::NoContent);
    }

    #[test]
    fn a_page_of_many_long_links_is_given_up() {
        let referer = format!("http://x/{}/", "&".repeat(8000));
        let place = MapPlace { path: "/a.map", origin: "http://x", referer: Some(&referer), base: "map" };
        let page = |links: usize| {
            let map = format!("base referer\n{}", "rect a\n".repeat(links));
            answer(&map, None, &place, "nocontent", MenuForm::Unformatted)
        };
        assert!(matches!(page(20), MapAnswer::Menu(html) if html.len() < MAX_PAGE_BYTES));
        let failed = MapAnswer::Failed("the page of its links has more than 1 MB".to_owned());
        assert_eq!(page(30_000), failed);
    }

    #[test]
    fn a_menu_has_the_links_with_escaped_texts() {
        let place = MapPlace { path: "/<a>.map", origin: "http://x", referer: None, base: "map" };
        let MapAnswer::Menu(html) = answer(MAP, None, &place, "nocontent", MenuForm::Formatted) else {
            panic!("no menu");
        };
        assert!(html.contains("<h1>Menu for /&lt;a&gt;.map</h1>"), "{html}");
        assert!(html.contains("<pre>(Default) <a href=\"/else\">Another &lt;place&gt;</a></pre>"), "{html}");
        assert!(html.contains("<a href=\"/poly.html\">A poly</a>") && !html.contains("a comment"), "{html}");
    }
}
