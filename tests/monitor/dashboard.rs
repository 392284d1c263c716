//! The dashboard in a real browser, while the site serves requests. The screenshots are in `target/tmp/`.

use super::browser::{Browser, Look};
use crate::support::{Address, Connection, Load, Request, Server, Site, free_port, until};

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

#[test]
fn the_dashboard_in_a_browser_sends_requests_to_the_monitor_only() {
    let (server, port) = serve();
    let targets = ["/", "/report", "/report", "/moved", "/gone", "/broken"];
    let load = targets.map(|target| Load::start(&server, 1, target, |_| true));
    let mut slow = server.connect();
    slow.raw("GET /slow HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    let origin = format!("http://127.0.0.1:{port}/");
    let mut browser = Browser::start(&server.site);
    browser.open(&origin, DESK);
    browser.until("document.querySelector('#connection').dataset.state === 'live'");
    numbers_move(&mut browser);
    a_busy_worker_shows_its_request(&mut browser);
    heads_sort(&mut browser);
    charts_speak(&mut browser);
    ranges_are_chosen(&mut browser);
    browser.picture("dashboard-light");
    browser.open(&origin, Look { dark: true, ..DESK });
    browser.until("document.querySelectorAll('#worker-table tbody tr').length > 1");
    browser.until("document.querySelectorAll('.chart path').length > 8");
    browser.picture("dashboard-dark");
    for dark in [false, true] {
        browser.open(&origin, Look { dark, width: 375, height: 2400 });
        browser.until("document.querySelectorAll('#worker-table tbody tr').length > 1");
        browser.until("document.querySelectorAll('.chart path').length > 8");
        assert_eq!(browser.eval("document.documentElement.scrollWidth"), 375, "it fits a phone");
        browser.picture(if dark { "dashboard-phone-dark" } else { "dashboard-phone-light" });
    }
    colours_can_be_read(&mut browser, &origin);
    until("the profiler has looked at /slow, which SlowLog calls slow after 5 s", || {
        let workers = server.status()["front"]["workers"].as_array().cloned().unwrap_or_default();
        let slow = workers.iter().find(|worker| worker["request"].as_str().is_some_and(|text| text.contains("/slow")));
        slow.is_some_and(|worker| worker["since_ms"].as_u64() > Some(8000))
    });
    server.site.write("go", "");
    slow.response().is(200);
    browser.until("document.querySelector('#slow-table').innerText.includes('GET /slow')");
    a_slow_request_says_why(&mut browser, &server);
    load.into_iter().for_each(|load| drop(load.end()));
    assert_eq!(browser.complaints, Vec::<String>::new());
    let strangers: Vec<_> =
        browser.requests.iter().filter(|url| !url.starts_with(&origin) && !url.starts_with("data:")).collect();
    assert!(strangers.is_empty() && browser.requests.len() > 10, "{strangers:?}");
}

fn numbers_move(browser: &mut Browser) {
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
    assert_eq!(browser.eval("document.querySelectorAll('#worker-table tbody tr').length"), 1);
    browser.eval(
        "{ const f = document.querySelector('#worker-filter'); f.value = ''; f.dispatchEvent(new Event('input')) }",
    );
}

/// `/slow` was in its loop; `/report` was never among the slow requests.
fn a_slow_request_says_why(browser: &mut Browser, server: &Server) {
    let open = |request: &str| {
        format!(
            "[...document.querySelectorAll('#slow-table button.link')].find(b => b.textContent.includes('{request}')).click()"
        )
    };
    let body = "document.querySelector('#why[open] #why-body')?.innerText";
    browser.eval(&open("GET /slow"));
    browser.until(&format!("{body}?.includes('samples')"));
    let said = browser.eval(body);
    let said = said.as_str().expect("a text");
    assert!(said.contains(&server.site.filled("(sselect) at @DIR@/app.psgi line 1")), "{said}");
    assert!(said.contains("GET shop.example/slow") && said.contains(" · CPU "), "{said}");
    browser.picture("dashboard-why");
    browser.eval("document.querySelector('#why-close').click()");
    assert_eq!(browser.eval("document.querySelector('#why').open"), false);
    // The table may not show the line of `/report` yet.
    browser.until(
        "[...document.querySelectorAll('#slow-table button.link')].some(b => b.textContent.includes('GET /report'))",
    );
    browser.eval(&open("GET /report"));
    browser.until(&format!("{body}?.includes('No recent slow request has this path')"));
    browser.eval("document.querySelector('#why-close').click()");
}

fn heads_sort(browser: &mut Browser) {
    let column =
        "[...document.querySelectorAll('#worker-table tbody tr td:first-child')].map(cell => Number(cell.textContent))";
    let head = "document.querySelector('#worker-table th[data-key=slot]')";
    let ascending = browser.eval(column);
    assert_eq!(browser.eval(&format!("{head}.getAttribute('aria-sort')")), "ascending");
    browser.eval(&format!("{head}.querySelector('button').click()"));
    assert_eq!(browser.eval(&format!("{head}.getAttribute('aria-sort')")), "descending");
    let mut turned = ascending.as_array().expect("numbers").clone();
    assert!(turned.len() >= 2, "{turned:?}");
    turned.reverse();
    assert_eq!(browser.eval(column).as_array(), Some(&turned));
    browser.eval(&format!("{head}.querySelector('button').click()"));
    assert_eq!(browser.eval(column), ascending);
}

fn charts_speak(browser: &mut Browser) {
    let first = "document.querySelector('.chart svg')";
    let label = browser.eval(&format!("{first}.getAttribute('aria-label')"));
    assert!(label.as_str().is_some_and(|label| label.starts_with("Requests per second, at ")), "{label}");
    browser
        .eval(&format!("{first}.focus(); {first}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowLeft'}}))"));
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('.tip')).visibility"), "visible");
    assert!(browser.eval("document.querySelector('.tip').innerText").as_str().is_some_and(|tip| tip.contains("2xx")));
    browser.eval(&format!("{first}.blur()"));
    let unnamed = "[...document.querySelectorAll('button, input, table')].filter(e => !(e.innerText || e.labels?.length || \
        e.ariaLabel || e.rows)).length";
    assert_eq!(browser.eval(unnamed), 0, "whoever cannot see it is told what each thing is");
}

fn ranges_are_chosen(browser: &mut Browser) {
    browser.eval("document.querySelector('[data-range=\"3600\"]').click()");
    assert_eq!(browser.eval("document.querySelector('[data-range=\"3600\"]').getAttribute('aria-pressed')"), "true");
    browser.until("document.querySelectorAll('.chart path').length > 8");
    browser.eval("document.querySelector('[data-range=\"300\"]').click()");
    browser.until("document.querySelectorAll('.chart path').length > 8");
}

/// The lowest contrast of text against its background (WCAG), in both colour schemes.
fn colours_can_be_read(browser: &mut Browser, origin: &str) {
    let contrast = "(() => { \
        const light = text => { const c = text.match(/[\\d.]+/g).slice(0, 3).map(n => n / 255) \
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; }; \
        const below = e => { const c = getComputedStyle(e).backgroundColor; return c === 'rgba(0, 0, 0, 0)' ? below(e.parentElement) : c; }; \
        return Math.min(...[...document.querySelectorAll('h1, h2, dt, dd, b, th button, td, button, .hint, #about, #connection')] \
            .filter(e => e.innerText?.trim()).map(e => { const [a, b] = [light(getComputedStyle(e).color), light(below(e))].sort(); \
            return (b + 0.05) / (a + 0.05); })); })()";
    for dark in [false, true] {
        browser.open(origin, Look { dark, ..DESK });
        browser.until("document.querySelectorAll('#worker-table tbody tr').length > 1");
        let least = browser.eval(contrast);
        assert!(least.as_f64() >= Some(4.5), "dark={dark}: {least}");
    }
}
