//! The page for browsers: a few static files, which ask for `status.json`, `history.json`, `slow.json` and `events` and draw what these say.

const JS: &str = "text/javascript; charset=utf-8";

/// Path, media type, contents. All of it is in the program: nothing is loaded from anywhere else.
const FILES: [(&str, &str, &str); 10] = [
    ("/", "text/html; charset=utf-8", include_str!("index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("style.css")),
    ("/main.js", JS, include_str!("main.js")),
    ("/feed.js", JS, include_str!("feed.js")),
    ("/charts.js", JS, include_str!("charts.js")),
    ("/chart.js", JS, include_str!("chart.js")),
    ("/tables.js", JS, include_str!("tables.js")),
    ("/table.js", JS, include_str!("table.js")),
    ("/why.js", JS, include_str!("why.js")),
    ("/format.js", JS, include_str!("format.js")),
];

/// The file of that path, if there is one.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == path).map(|(_, media_type, text)| (*media_type, *text))
}
