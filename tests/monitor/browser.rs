//! Debian's headless chromium, driven over a pipe by the DevTools protocol: JSON messages that end with a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::{Site, comes_true, patience};

/// Colour scheme and size of the browser's window.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Dark colour scheme; light otherwise.
    pub dark: bool,
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
}

/// A browser with one page. Dropping it ends the browser.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    last: u64,
    /// Errors of the page, from its console.
    pub complaints: Vec<String>,
    /// URLs that the page has requested.
    pub requests: Vec<String>,
}

impl Browser {
    /// Starts the browser with its profile in the site's folder.
    pub fn start(site: &Site) -> Browser {
        // --remote-debugging-pipe reads descriptor 3 and writes descriptor 4.
        let piped = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", piped, "sh", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--disable-background-networking", "--hide-scrollbars", "--mute-audio"])
            .arg(site.filled("--user-data-dir=@DIR@/browser"))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("chromium is installed");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let (complaints, requests) = (Vec::new(), Vec::new());
        let mut browser = Browser { child, to, from, session: None, last: 0, complaints, requests };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a DevTools method, and records the events that arrive before its result.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(message.to_string().as_bytes()).and_then(|()| self.to.write_all(b"\0")).expect("it listens");
        loop {
            let answer = self.hear();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn hear(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).expect("it speaks");
        assert_eq!(bytes.pop(), Some(0), "chromium has ended");
        let json: Value = serde_json::from_slice(&bytes).expect("JSON");
        let params = &json["params"];
        match json["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Log.entryAdded") if params["entry"]["level"] == "error" => {
                self.complaints.push(params["entry"].to_string());
            }
            Some("Runtime.consoleAPICalled") if params["type"] == "error" => self.complaints.push(params.to_string()),
            Some("Network.requestWillBeSent") => {
                self.requests.push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
            _ => {}
        }
        json
    }

    /// Opens `url` with the colour scheme and size of `look`.
    pub fn open(&mut self, url: &str, look: Look) {
        let Look { dark, width, height } = look;
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// The value of a JavaScript expression in the page.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until a JavaScript expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        // An expression that throws counts as false, because the element it needs may not exist yet.
        let script = format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        let came = comes_true(patience(), || self.eval(&script) == true);
        assert!(came, "in vain until {expression}: {}", self.eval("document.body.innerText"));
    }

    /// Saves a screenshot of the whole page in `target/tmp/` for inspection.
    pub fn picture(&mut self, name: &str) {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        let png = BASE64_STANDARD.decode(taken["data"].as_str().unwrap_or_default()).expect("base64");
        assert!(png.len() > 10_000, "{name}: {} bytes", png.len());
        std::fs::write(format!("{}/{name}.png", env!("CARGO_TARGET_TMPDIR")), png).expect("written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
