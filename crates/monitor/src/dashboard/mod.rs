//! The dashboard: a few static files that fetch `events`, `history.json` and `slow.json` and draw them.
//! Each section of the page is a script in `sections/`, in the order of the page.

const JS: &str = "text/javascript; charset=utf-8";

/// A script below this folder, with its path.
macro_rules! script {
    ($path:literal) => {
        (concat!("/", $path), JS, include_str!($path))
    };
}

/// Path, media type and contents. All files are part of the program.
const FILES: [(&str, &str, &str); 19] = [
    ("/", "text/html; charset=utf-8", include_str!("index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("style.css")),
    script!("main.js"),
    script!("feed.js"),
    script!("format.js"),
    script!("element.js"),
    script!("table.js"),
    script!("chart.js"),
    script!("scale.js"),
    script!("sections/header.js"),
    script!("sections/range.js"),
    script!("sections/tiles.js"),
    script!("sections/charts.js"),
    script!("sections/measures.js"),
    script!("sections/workers.js"),
    script!("sections/slowest.js"),
    script!("sections/why.js"),
    script!("sections/exits.js"),
    script!("sections/codes.js"),
];

pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == path).map(|(_, media_type, text)| (*media_type, *text))
}
