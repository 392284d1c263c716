//! `SetHandler server-metrics`, read by independent clients: prometheus_client's parsers, and the exporter that
//! converts `server-status?auto`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Request, Server, Site, free_port, until};

const APP: &str = "sub { my $path = $_[0]{PATH_INFO}; select undef, undef, undef, 0.2 if $path eq '/slow'; \
    [$path eq '/gone' ? 410 : 200, [], ['ok']] }";

fn serve() -> Server {
    let server = Site::new().file("app.psgi", APP).serve(
        "StartServers 2\nMinSpareServers 2\nMaxSpareServers 2\nMaxClients 2\n<Location />\nPsgiApp app.psgi\n</Location>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n<Location /server-status>\nSetHandler server-status\n</Location>",
    );
    server.until_idle(2);
    server
}

/// The samples that prometheus_client reads, one a line: `name{label=value} number`.
fn samples(module: &str, text: &str) -> Vec<String> {
    let code = format!(
        "import sys\nfrom prometheus_client.{module} import text_string_to_metric_families as families\n\
         for family in families(sys.stdin.read()):\n  for s in family.samples:\n    \
         print(s.name + '{{' + ','.join(k + '=' + v for k, v in sorted(s.labels.items())) + '}}', s.value)"
    );
    let mut python = Command::new("/usr/bin/python3")
        .args(["-c", &code])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3-prometheus-client is installed");
    python.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("read");
    let done = python.wait_with_output().expect("our own child");
    assert!(done.status.success(), "{}\n{text}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[track_caller]
fn value(samples: &[String], name: &str) -> f64 {
    let found = samples.iter().find_map(|sample| sample.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{name} in {samples:#?}"))
}

#[test]
fn prometheus_own_parsers_read_both_formats() {
    let server = serve();
    for target in ["/", "/", "/slow", "/gone"] {
        server.get(target);
    }
    let open = "application/openmetrics-text; version=1.0.0,text/plain;q=0.5";
    for (accept, module, kind) in
        [(open, "openmetrics.parser", "application/openmetrics-text"), ("*/*", "parser", "text/plain")]
    {
        let counted = "cameleer_requests_total{code=200}";
        until("the last request is counted", || {
            server.send(Request::get("/metrics").header("Accept", accept)).is(200).text().contains("code=\"410\"")
        });
        let page = server.send(Request::get("/metrics").header("Accept", accept)).is(200);
        assert!(page.header("content-type").is_some_and(|value| value.starts_with(kind)), "{page:?}");
        let samples = samples(module, &page.text());
        assert!(value(&samples, counted) >= 3.0);
        assert_eq!(value(&samples, "cameleer_requests_total{code=410}"), 1.0);
        assert_eq!(
            value(&samples, "cameleer_service_seconds_count{}"),
            4.0,
            "the pages about the server ask no worker"
        );
        assert_eq!(value(&samples, "cameleer_service_seconds_bucket{le=0.1}"), 3.0);
        assert_eq!(value(&samples, "cameleer_service_seconds_bucket{le=0.25}"), 4.0);
        let sum = value(&samples, "cameleer_service_seconds_sum{}");
        assert!((0.2..0.4).contains(&sum), "{sum}");
        assert_eq!(value(&samples, "cameleer_workers{state=idle}"), 2.0);
        assert_eq!(value(&samples, "cameleer_shed_total{reason=queue_full}"), 0.0);
        assert_eq!(value(&samples, "cameleer_queue_depth{}"), 0.0);
    }
}

/// `cameleer status` reports the same numbers.
#[test]
fn the_command_line_shows_what_requests_took() {
    let server = serve();
    for target in ["/", "/slow", "/gone"] {
        server.get(target);
    }
    until("the last is counted", || server.status()["front"]["codes"]["410"] == 1);
    let front = server.status()["front"].clone();
    assert_eq!(front["codes"]["200"], 2, "{front}");
    let service = &front["times"]["service"];
    assert!(service["count"] == 3 && service["max_us"].as_u64().is_some_and(|us| us > 190_000), "{front}");
    assert!(service["p50_us"].as_u64().is_some_and(|us| us < 190_000), "{front}");
    let output = server.control(["status"]).succeeded().out;
    assert!(output.contains("\nworkers   50 % within ") && output.contains("\nanswered  1 4xx, 0 5xx\n"), "{output}");
}

#[test]
fn the_exporter_for_apache_understands_the_status() {
    let server = serve();
    (0..5).for_each(|_| drop(server.get("/").is(200)));
    let port = free_port();
    let mut exporter = Command::new("prometheus-apache-exporter")
        .arg(format!("--scrape_uri=http://127.0.0.1:{}/server-status?auto", server.site.port))
        .arg(format!("--telemetry.address=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("prometheus-apache-exporter is installed");
    let mut page = String::new();
    until("the exporter answers", || {
        let got =
            Command::new("curl").args(["-fs", &format!("http://127.0.0.1:{port}/metrics")]).output().expect("curl");
        page = String::from_utf8_lossy(&got.stdout).into_owned();
        got.status.success()
    });
    exporter.kill().expect("our own child");
    exporter.wait().expect("our own child");
    let samples = samples("parser", &page);
    assert_eq!(value(&samples, "apache_up{}"), 1.0);
    assert_eq!(value(&samples, "apache_workers{state=idle}"), 2.0);
    assert_eq!(value(&samples, "apache_scoreboard{state=idle}"), 2.0);
    assert!(value(&samples, "apache_accesses_total{}") >= 5.0);
    assert!(value(&samples, "apache_duration_ms_total{}") >= 0.0);
}

#[test]
fn virtual_hosts_certificates_and_the_version_are_labels() {
    let plain =
        |name: &str| format!("<VirtualHost *:@PORT@>\nServerName {name}\nDocumentRoot @DIR@/htdocs\n</VirtualHost>\n");
    let site = Site::new().file("htdocs/a.txt", "hello").certificate("secure", &["secure.example"]);
    let secure = free_port();
    let conf = site.filled(&format!(
        "{}{}Listen 127.0.0.1:{secure} https\n<VirtualHost *:{secure}>\nServerName secure.example\nSSLEngine On\n\
         SSLCertificateFile secure.crt\nSSLCertificateKeyFile secure.key\n</VirtualHost>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n",
        plain("a.example"),
        plain("b.example"),
    ));
    let server = site.serve(&conf);
    for (host, target) in
        [("a.example", "/a.txt"), ("a.example", "/none"), ("b.example", "/a.txt"), ("x.example", "/a.txt")]
    {
        server.send(Request::get(target).header("Host", host));
    }
    let page = || server.send(Request::get("/metrics").header("Host", "b.example")).is(200).text();
    until("all are counted", || page().contains("host=\"b.example\",code=\"2xx\""));
    let samples = samples("parser", &page());
    assert_eq!(value(&samples, "cameleer_host_requests_total{code=2xx,host=a.example}"), 2.0, "and the unknown host");
    assert_eq!(value(&samples, "cameleer_host_requests_total{code=4xx,host=a.example}"), 1.0);
    assert!(value(&samples, "cameleer_host_requests_total{code=2xx,host=b.example}") >= 1.0);
    assert!(value(&samples, "cameleer_host_response_body_bytes_total{host=a.example}") >= 10.0);
    assert!(value(&samples, "cameleer_host_request_seconds_total{host=a.example}") > 0.0);
    let expiry = value(&samples, "cameleer_certificate_expiry_timestamp_seconds{host=secure.example}");
    assert_eq!(expiry, 64_060_588_800.0, "1 January 4000");
    let build = format!("cameleer_build_info{{version={}}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(value(&samples, &build), 1.0);
}
