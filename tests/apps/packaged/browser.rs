//! Debian's headless chromium: pages as they are after their scripts have run.

use super::tool::output;
use crate::support::Server;

/// The document of `target` when the browser is idle.
#[track_caller]
pub fn shows(server: &Server, target: &str) -> String {
    let profile = server.site.filled("--user-data-dir=@DIR@/chromium");
    let options =
        ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=30000"];
    let url = format!("http://127.0.0.1:{}{target}", server.site.port);
    let page = output("chromium", &[&options[..], &[&profile, "--dump-dom", &url]].concat(), b"");
    String::from_utf8_lossy(&page).into_owned()
}

/// A page that opens `first` in a frame. Each time that the frame loads a document, the page runs the next of `steps`.
/// A step is JavaScript that gets the frame's `page`, and may `show` a text in the outer document.
pub fn visitor(first: &str, steps: &[&str]) -> String {
    let steps: String = steps.iter().map(|step| format!("(page) => {{ {step} }},\n")).collect();
    format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<pre id=\"seen\"></pre>\n<iframe id=\"frame\"></iframe>\n<script>\n\
         const seen = document.getElementById('seen'), frame = document.getElementById('frame');\n\
         const show = (text) => {{ seen.textContent += text + '\\n' }};\n\
         const steps = [\n{steps}];\n\
         frame.addEventListener('load', () => {{ const step = steps.shift(); if (step) step(frame.contentDocument) }});\n\
         frame.src = '{first}';\n</script>\n"
    )
}
