//! The alerts and the dashboard in `pkg/`, with Prometheus itself: promtool checks the rules, and a Prometheus that
//! scrapes a server evaluates each expression.

use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::support::{Finished, Request, Server, Site, free_port, until};

const PKG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pkg");

fn promtool(arguments: &[&str]) -> Finished {
    let mut promtool = Command::new("promtool");
    Finished::of(promtool.args(arguments).current_dir(format!("{PKG}/prometheus"))).succeeded()
}

#[test]
fn each_alert_fires_in_its_case() {
    promtool(&["check", "rules", "alerts.yml"]);
    promtool(&["check", "config", "scrape.yml"]);
    promtool(&["test", "rules", "alerts.test.yml"]);
    let text = |name: &str| std::fs::read_to_string(format!("{PKG}/prometheus/{name}")).expect("a file of the tree");
    let (alerts, cases) = (text("alerts.yml"), text("alerts.test.yml"));
    let names = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    for name in names {
        assert!(cases.contains(&format!("alertname: {name}\n")), "{name} has no case");
    }
}

/// A Prometheus that scrapes a server every second; killed at the end.
struct Prometheus {
    process: Child,
    port: u16,
}

impl Prometheus {
    fn start(site: &Site, scraped: u16) -> Prometheus {
        let port = free_port();
        site.write(
            "prometheus.yml",
            &format!(
                "scrape_configs:\n- job_name: cameleer\n  scrape_interval: 1s\n  static_configs:\n  \
                 - targets: ['127.0.0.1:{scraped}']\nrule_files: ['{PKG}/prometheus/alerts.yml']\n"
            ),
        );
        let process = Command::new("prometheus")
            .arg(site.filled("--config.file=@DIR@/prometheus.yml"))
            .arg(site.filled("--storage.tsdb.path=@DIR@/tsdb"))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus is installed");
        Prometheus { process, port }
    }

    /// The result of an expression; `Err`: the message of Prometheus.
    fn query(&self, expression: &str) -> Result<Vec<Value>, String> {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--noproxy", "*", "--data-urlencode", &format!("query={expression}")]);
        let said = Finished::of(curl.arg(format!("http://127.0.0.1:{}/api/v1/query", self.port)));
        let answer: Value = serde_json::from_str(&said.out).map_err(|error| format!("{error}: {said:?}"))?;
        match answer["status"].as_str() {
            Some("success") => Ok(answer["data"]["result"].as_array().cloned().unwrap_or_default()),
            _ => Err(answer["error"].to_string()),
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// All expressions of the dashboard, with values for its variables.
fn expressions() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(format!("{PKG}/grafana/cameleer.json")).expect("a file of the tree");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let filled = |text: &str| {
        let text = text.replace("$__rate_interval", "1m");
        text.replace("$job", ".*").replace("$instance", ".*")
    };
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        let title = panel["title"].as_str().unwrap_or_default();
        for target in panel["targets"].as_array().into_iter().flatten() {
            found.push((title.to_owned(), filled(target["expr"].as_str().expect("an expression"))));
        }
    }
    found
}

/// A site with virtual hosts, one of them with TLS, so that each metric has samples.
fn serve(admin: u16) -> Server {
    let site = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").certificate("secure", &["secure.example"]);
    let conf = site.filled(&format!(
        "AdminListen 127.0.0.1:{admin}\nMemoryBudget 2G\nListen 127.0.0.1:{secure} https\n\
         <VirtualHost *:@PORT@>\nServerName a.example\n<Location />\nPsgiApp app.psgi\n</Location>\n</VirtualHost>\n\
         <VirtualHost *:{secure}>\nServerName secure.example\nSSLEngine On\nSSLCertificateFile secure.crt\n\
         SSLCertificateKeyFile secure.key\n</VirtualHost>\n",
        secure = free_port(),
    ));
    site.serve(&conf)
}

#[test]
fn prometheus_evaluates_each_expression_of_the_dashboard() {
    let admin = free_port();
    let server = serve(admin);
    let prometheus = Prometheus::start(&server.site, admin);
    let ask = || drop(server.send(Request::get("/").header("Host", "a.example")).is(200));
    until("Prometheus has scraped a rate of requests", || {
        ask();
        let rate = prometheus.query("sum(rate(cameleer_requests_total[1m]))").unwrap_or_default();
        rate.first().is_some_and(|sample| sample["value"][1] != "0")
    });
    until("memory is measured", || {
        prometheus.query("cameleer_worker_private_bytes").is_ok_and(|found| !found.is_empty())
    });
    let expressions = expressions();
    assert!(expressions.len() > 25, "{expressions:?}");
    // Metrics without samples while nothing of the kind has happened.
    let may_be_empty = |expression: &str| expression.contains("worker_exits_total") || expression.contains("code=~\"");
    for (title, expression) in &expressions {
        let found = prometheus.query(expression).unwrap_or_else(|error| panic!("{title}: {expression}: {error}"));
        assert!(!found.is_empty() || may_be_empty(expression), "{title}: {expression} has no result");
    }
    let expires = prometheus.query("min(cameleer_certificate_expiry_timestamp_seconds)").expect("a query");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs_f64();
    let at: f64 = expires[0]["value"][1].as_str().expect("a number").parse().expect("a number");
    assert!(at > now, "{expires:?}");
    let firing = prometheus.query("ALERTS{alertstate=\"firing\"}").expect("a query");
    assert!(firing.is_empty(), "{firing:?}");
}
