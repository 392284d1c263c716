//! The dashboard: a few static files that fetch `status.json`, `history.json`, `slow.json` and `events` and draw them.

const JS: &str = "text/javascript; charset=utf-8";

/// Path, media type and contents. All files are part of the program.
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

/// The file with this path.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == path).map(|(_, media_type, text)| (*media_type, *text))
}
