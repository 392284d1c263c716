//! The dashboard in a real browser, while the site serves requests. The screenshots are in `target/tmp/`.

use super::browser::{Browser, Look};
use crate::support::{Address, Connection, Load, Request, Server, Site, free_port, look_alike, until};

/// An application with fast and slow pages, errors and redirects; `/slow` waits for the file `go`.
const APP: &str = "sub { my $p = $_[0]{PATH_INFO}; \
    if ($p eq '/slow') { until (-e '@DIR@/go') { select undef, undef, undef, 0.02 } } \
    select undef, undef, undef, 0.02 + rand(0.06) unless $p eq '/slow'; \
    [$p eq '/broken' ? 500 : $p eq '/moved' ? 302 : $p eq '/gone' ? 404 : 200, [Location => '/'], ['ok']] }";

fn serve() -> (Server, u16) {
    let port = free_port();
    let conf = format!(
        "ServerName shop.example\nSlowLog 5s\nAdminListen 127.0.0.1:{port}\nHistoryFile history\nStartServers 8\nMinSpareServers 2\n\
         MaxSpareServers 8\nMaxClients 8\n<Location />\nPsgiApp app.psgi\n</Location>"
    );
    let server = Site::new().file("app.psgi", APP).serve(&conf);
    let ask = || Connection::open(&Address::Tcp(port)).ok()?.try_ask(&Request::get("/status.json")).ok();
    until("the monitor answers", || ask().is_some_and(|answer| answer.status == 200));
    (server, port)
}

const DESK: Look = Look { dark: false, width: 1360, height: 1500 };

/// The dashboard of a site under load, in a browser of its own. `/slow` occupies a worker.
struct Dashboard {
    browser: Browser,
    load: [Load; 6],
    slow: Connection,
    origin: String,
    server: Server,
}

impl Dashboard {
    fn open(look: Look) -> Dashboard {
        let (server, port) = serve();
        let targets = ["/", "/report", "/report", "/moved", "/gone", "/broken"];
        let load = targets.map(|target| Load::start(&server, 1, target, |_| true));
        let mut slow = server.connect();
        slow.raw("GET /slow HTTP/1.1\r\nHost: shop.example\r\n\r\n");
        let browser = Browser::start(&server.site);
        let mut dashboard = Dashboard { browser, load, slow, origin: format!("http://127.0.0.1:{port}/"), server };
        dashboard.look(look);
        dashboard
    }

    /// Loads the page anew, and waits for its table and its charts.
    fn look(&mut self, look: Look) {
        self.browser.open(&self.origin, look);
        self.browser.until("document.querySelector('#connection').dataset.state === 'live'");
        self.browser.until("document.querySelectorAll('#worker-table tbody tr').length > 1");
        self.browser.until("document.querySelectorAll('.chart path').length > 8");
    }

    fn release_slow(&mut self) {
        self.server.site.write("go", "");
        self.slow.response().is(200);
    }

    /// The page must have logged no error, and must have requested nothing but the monitor.
    fn end(mut self) {
        self.load.into_iter().for_each(|load| drop(load.end()));
        let browser = &mut self.browser;
        until("the page has sent more than 10 requests", || {
            browser.eval("true") == true && browser.requests.len() > 10
        });
        assert_eq!(browser.complaints, Vec::<String>::new(), "errors in the browser's console");
        let allowed = |url: &&String| url.starts_with(&self.origin) || url.starts_with("data:");
        let strangers: Vec<_> = browser.requests.iter().filter(|url| !allowed(url)).collect();
        assert!(strangers.is_empty(), "requests to other servers than the monitor: {strangers:?}");
    }
}

#[test]
fn the_dashboard_shows_workers_and_charts_of_a_site_under_load() {
    let mut dashboard = Dashboard::open(DESK);
    let browser = &mut dashboard.browser;
    numbers_and_charts_change(browser);
    a_busy_worker_shows_its_request(browser);
    column_heads_sort_the_workers(browser);
    charts_have_labels_and_tips(browser);
    buttons_choose_the_range_of_the_charts(browser);
    browser.picture("dashboard-light");
    dashboard.release_slow();
    dashboard.end();
}

#[test]
fn the_dashboard_can_be_read_in_both_colour_schemes_and_on_a_phone() {
    let mut dashboard = Dashboard::open(Look { dark: true, ..DESK });
    dashboard.browser.picture("dashboard-dark");
    for dark in [false, true] {
        dashboard.look(Look { dark, width: 375, height: 2400 });
        let width = dashboard.browser.eval("document.documentElement.scrollWidth");
        assert_eq!(width, 375, "dark={dark}: the page is wider than a phone of 375 pixels");
        dashboard.browser.picture(if dark { "dashboard-phone-dark" } else { "dashboard-phone-light" });
        dashboard.look(Look { dark, ..DESK });
        texts_contrast_with_their_background(&mut dashboard.browser, dark);
        lines_of_a_chart_have_different_colours(&mut dashboard.browser, dark);
    }
    dashboard.release_slow();
    dashboard.end();
}

#[test]
fn the_dashboard_explains_slow_requests_by_samples() {
    let mut dashboard = Dashboard::open(DESK);
    until("the profiler has looked at /slow, which SlowLog calls slow after 5 s", || {
        let workers = dashboard.server.status()["front"]["workers"].as_array().cloned().unwrap_or_default();
        let slow = workers.iter().find(|worker| worker["request"].as_str().is_some_and(|text| text.contains("/slow")));
        slow.is_some_and(|worker| worker["since_ms"].as_u64() > Some(8000))
    });
    dashboard.release_slow();
    let (browser, server) = (&mut dashboard.browser, &dashboard.server);
    browser.until("document.querySelector('#slow-table').innerText.includes('GET /slow')");
    a_slow_request_shows_where_it_was(browser, server);
    a_quick_request_has_no_samples(browser);
    dashboard.end();
}

fn numbers_and_charts_change(browser: &mut Browser) {
    browser.until("Number(document.querySelector('#now-requests').textContent.replace(',', '')) > 0");
    let total = "[...document.querySelectorAll('#code-table tbody td.number')]\
        .reduce((sum, cell) => sum + Number(cell.textContent.replaceAll(',', '')), 0)";
    let before = browser.eval(total);
    browser.until(&format!("{total} > {before}"));
    browser.until("document.querySelectorAll('.chart path').length > 8");
    let drawn = browser.eval("document.querySelector('.chart path').getAttribute('d')");
    browser.until(&format!("document.querySelector('.chart path').getAttribute('d') !== {drawn}"));
}

fn a_busy_worker_shows_its_request(browser: &mut Browser) {
    let row =
        "[...document.querySelectorAll('#worker-table tbody tr')].find(row => row.innerText.includes('GET /slow'))";
    browser.until(&format!("{row}?.querySelector('.state').dataset.state === 'W'"));
    let text = browser.eval(&format!("{row}.innerText"));
    assert!(
        text.as_str().is_some_and(|text| text.contains("shop.example GET /slow") && text.contains("busy")),
        "{text}"
    );
    browser.eval("{ const f = document.querySelector('#worker-filter'); f.value = '/slow'; f.dispatchEvent(new Event('input')) }");
    assert_eq!(
        browser.eval("document.querySelectorAll('#worker-table tbody tr').length"),
        1,
        "workers whose line contains /slow"
    );
    browser.eval(
        "{ const f = document.querySelector('#worker-filter'); f.value = ''; f.dispatchEvent(new Event('input')) }",
    );
}

/// Opens the dialog of the first slow request whose text contains `request`.
fn open_dialog(browser: &mut Browser, request: &str) {
    let links = "[...document.querySelectorAll('#slow-table button.link')]";
    let named = format!("b => b.textContent.includes('{request}')");
    // The table may not show the request yet.
    browser.until(&format!("{links}.some({named})"));
    browser.eval(&format!("{links}.find({named}).click()"));
}

fn close_dialog(browser: &mut Browser) {
    browser.eval("document.querySelector('#why-close').click()");
    assert_eq!(browser.eval("document.querySelector('#why').open"), false, "the dialog is still open");
}

const DIALOG: &str = "document.querySelector('#why[open] #why-body')?.innerText";

/// `/slow` was in its loop.
fn a_slow_request_shows_where_it_was(browser: &mut Browser, server: &Server) {
    open_dialog(browser, "GET /slow");
    browser.until(&format!("{DIALOG}?.includes('samples')"));
    let dialog = browser.eval(DIALOG);
    let text = dialog.as_str().expect("a text");
    let place = server.site.filled("(sselect) at @DIR@/app.psgi line 1");
    assert!(text.contains(&place), "the dialog does not name {place}: {text}");
    assert!(text.contains("GET shop.example/slow") && text.contains(" · CPU "), "no request or no CPU time: {text}");
    browser.picture("dashboard-why");
    close_dialog(browser);
}

/// `/report` was never among the slow requests.
fn a_quick_request_has_no_samples(browser: &mut Browser) {
    open_dialog(browser, "GET /report");
    browser.until(&format!("{DIALOG}?.includes('No recent slow request has this path')"));
    close_dialog(browser);
}

fn column_heads_sort_the_workers(browser: &mut Browser) {
    let column =
        "[...document.querySelectorAll('#worker-table tbody tr td:first-child')].map(cell => Number(cell.textContent))";
    let head = "document.querySelector('#worker-table th[data-key=slot]')";
    let ascending = browser.eval(column);
    assert_eq!(browser.eval(&format!("{head}.getAttribute('aria-sort')")), "ascending", "at first");
    browser.eval(&format!("{head}.querySelector('button').click()"));
    assert_eq!(browser.eval(&format!("{head}.getAttribute('aria-sort')")), "descending", "after a click");
    let mut turned = ascending.as_array().expect("numbers").clone();
    assert!(turned.len() >= 2, "{turned:?}");
    turned.reverse();
    assert_eq!(browser.eval(column).as_array(), Some(&turned), "the slots, descending");
    browser.eval(&format!("{head}.querySelector('button').click()"));
    assert_eq!(browser.eval(column), ascending, "the slots after a second click");
}

fn charts_have_labels_and_tips(browser: &mut Browser) {
    let first = "document.querySelector('.chart svg')";
    let label = browser.eval(&format!("{first}.getAttribute('aria-label')"));
    assert!(label.as_str().is_some_and(|label| label.starts_with("Requests per second, at ")), "{label}");
    browser
        .eval(&format!("{first}.focus(); {first}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowLeft'}}))"));
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelector('.tip')).visibility"),
        "visible",
        "the tip after ArrowLeft"
    );
    assert!(browser.eval("document.querySelector('.tip').innerText").as_str().is_some_and(|tip| tip.contains("2xx")));
    browser.eval(&format!("{first}.blur()"));
    let unnamed = "[...document.querySelectorAll('button, input, table')].filter(e => !(e.innerText || e.labels?.length || \
        e.ariaLabel || e.rows)).length";
    assert_eq!(browser.eval(unnamed), 0, "elements without a name for screen readers");
}

fn buttons_choose_the_range_of_the_charts(browser: &mut Browser) {
    browser.eval("document.querySelector('[data-range=\"3600\"]').click()");
    assert_eq!(
        browser.eval("document.querySelector('[data-range=\"3600\"]').getAttribute('aria-pressed')"),
        "true",
        "the button of an hour"
    );
    browser.until("document.querySelectorAll('.chart path').length > 8");
    browser.eval("document.querySelector('[data-range=\"300\"]').click()");
    browser.until("document.querySelectorAll('.chart path').length > 8");
}

/// The lowest contrast of text against its background (WCAG), at least 4.5.
fn texts_contrast_with_their_background(browser: &mut Browser, dark: bool) {
    let contrast = "(() => { \
        const light = text => { const c = text.match(/[\\d.]+/g).slice(0, 3).map(n => n / 255) \
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; }; \
        const below = e => { const c = getComputedStyle(e).backgroundColor; return c === 'rgba(0, 0, 0, 0)' ? below(e.parentElement) : c; }; \
        return Math.min(...[...document.querySelectorAll('h1, h2, dt, dd, b, th button, td, button, .hint, #about, #connection')] \
            .filter(e => e.innerText?.trim()).map(e => { const [a, b] = [light(getComputedStyle(e).color), light(below(e))].sort(); \
            return (b + 0.05) / (a + 0.05); })); })()";
    let least = browser.eval(contrast);
    assert!(least.as_f64() >= Some(4.5), "dark={dark}: a text has a contrast of {least}");
}

/// The entries of each chart's legend, whose lines have the same colours.
fn lines_of_a_chart_have_different_colours(browser: &mut Browser, dark: bool) {
    let charts = "[...document.querySelectorAll('.chart')].map(chart => \
        [...chart.querySelectorAll('.legend li')].map(item => [item.childNodes[1].textContent, \
            getComputedStyle(item.querySelector('i')).backgroundColor.match(/\\d+/g).slice(0, 3) \
                .map(n => Number(n).toString(16).padStart(2, '0')).join('')]))";
    let charts: Vec<Vec<(String, String)>> = serde_json::from_value(browser.eval(charts)).expect("names and colours");
    let names = |chart: &Vec<(String, String)>| chart.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert!(charts.iter().any(|chart| names(chart) == ["p50", "p90", "p99"]), "{charts:?}");
    for chart in &charts {
        for (at, (name, colour)) in chart.iter().enumerate() {
            for (other, its) in &chart[..at] {
                assert!(!look_alike(colour, its), "dark={dark}: {name} and {other} are #{colour} and #{its}");
            }
        }
    }
}
