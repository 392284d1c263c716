//! Debian's chromium without a screen, driven over a pipe by its DevTools protocol: JSON with a zero byte at its end, each way.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::{Site, comes_true, patience};

/// How the page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Dark or light.
    pub dark: bool,
    /// In CSS pixels.
    pub width: u32,
    /// The same.
    pub height: u32,
}

/// A browser with one page; it ends with this.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    session: Option<String>,
    last: u64,
    /// What went wrong in the page, as its console has it.
    pub complaints: Vec<String>,
    /// What it has asked for.
    pub requests: Vec<String>,
}

impl Browser {
    /// Starts it; its files lie in the site's folder.
    pub fn start(site: &Site) -> Browser {
        // The browser reads descriptor 3 and writes 4.
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

    /// Calls a method, and notes the events that come before its answer.
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
        let heard: Value = serde_json::from_slice(&bytes).expect("JSON");
        let params = &heard["params"];
        match heard["method"].as_str() {
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
        heard
    }

    /// Opens a page in that look.
    pub fn open(&mut self, url: &str, look: Look) {
        let Look { dark, width, height } = look;
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// What an expression of the page's own language is.
    #[track_caller]
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        // What a page has not yet is no mistake of whoever waits for it.
        let asked = format!("(() => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }})()");
        let came = comes_true(patience(), || self.eval(&asked) == true);
        assert!(came, "in vain until {expression}: {}", self.eval("document.body.innerText"));
    }

    /// Keeps a picture of all of the page for whoever wants to look at it.
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
