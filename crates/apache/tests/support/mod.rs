//! A minimal worker: sends consecutive requests through the interpreter and parses the responses.

mod fake_front;

use std::cell::RefCell;
use std::rc::Rc;

use apache::{FinishedRequest, HandlerOutcome, Incoming, Level, PlaceConfig, ResponseReceiver};
use base::log::ContextPosition;
use libperl::{Interpreter, Interrupted};
use wire::frame::{Frame, Request};
use wire::reply::{Head, PacketMessages, Reply, RequestEnd};
use wire::transport::in_memory;

use fake_front::{FakeFront, Target, frame};

thread_local!(static LOG: RefCell<String> = const { RefCell::new(String::new()) });

fn log(level: Level, _: ContextPosition, text: &[u8]) {
    LOG.with_borrow_mut(|log| *log += &format!("[{}] {}\n", level.name(), String::from_utf8_lossy(text)));
}

#[derive(Debug, Default)]
pub struct Response {
    pub infos: Vec<Head>,
    pub head: Head,
    pub body: String,
    pub file: Option<String>,
    pub end: RequestEnd,
    pub complete: bool,
    pub packets: usize,
    pub log: String,
}

impl Response {
    pub fn header(&self, name: &str) -> String {
        let values = self.head.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
        values.map(|(_, value)| String::from_utf8_lossy(value)).collect::<Vec<_>>().join("|")
    }

    /// `200 text/plain: body`
    pub fn shown(&self) -> String {
        format!("{} {}: {}", self.head.status, self.header("Content-Type"), self.body)
    }

    fn take(&mut self, packet: &[u8]) {
        self.packets += 1;
        for reply in PacketMessages::new(packet) {
            match reply.expect("well formed").1 {
                Reply::Info(head) => self.infos.push(head),
                Reply::Head(head) => self.head = head,
                Reply::Body(bytes) => self.body += &String::from_utf8_lossy(bytes),
                Reply::File(path) => self.file = Some(String::from_utf8_lossy(path).into_owned()),
                Reply::End(end) => self.end = end,
                Reply::Elsewhere(target) => self.body += &format!("elsewhere {}", target.escape_ascii()),
                Reply::Complete => self.complete = true,
                Reply::Ready { .. }
                | Reply::Greeted { .. }
                | Reply::Extend(_)
                | Reply::Lent { .. }
                | Reply::Refused { .. }
                | Reply::Moved(_)
                | Reply::Onward(_)
                | Reply::Publish(_)
                | Reply::Subscribed { .. }
                | Reply::Taken(_)
                | Reply::Leaves(_) => {}
            }
        }
    }
}

/// The parameters of a request.
pub struct Ask<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a [(&'a [u8], &'a [u8])],
    pub body: &'a str,
    pub root: &'a str,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Ask { method: "GET", path: "/", query: "", headers: &[], body: "", root: "/usr" }
    }
}

impl Ask<'_> {
    fn frame(&self) -> Frame {
        let target = Target { method: self.method, path: self.path, query: self.query, root: self.root };
        let more = Request {
            received: 1_000_000_007_000_000,
            body_length: self.body.len() as u64,
            headers: self.headers,
            body: self.body.as_bytes(),
            ..Default::default()
        };
        frame(&target, more)
    }
}

pub struct Server {
    pub perl: Interpreter,
    pub place: PlaceConfig,
    front: FakeFront,
}

impl Server {
    pub fn boot() -> Server {
        let perl = Interpreter::boot(&apache::hooks(), Some(apache::xs_init())).expect("boots");
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../perl/lib");
        let place = PlaceConfig {
            document_root: "/usr".into(),
            server_root: "/etc/site".into(),
            server_name: "example.org".into(),
            server_admin: "root@example.org".into(),
            server_software: "Cameleer/0 mod_perl/1.31".into(),
            path: "/usr/bin:/bin".into(),
            set_vars: vec![
                ("Colour".into(), "green".into()),
                ("Colour".into(), "blue".into()),
                ("Size".into(), "9".into()),
            ],
            ..Default::default()
        };
        apache::log_to(log);
        apache::servers(vec![Rc::new(place.clone())]);
        let code = format!(
            "unshift @INC, '{library}'; $ENV{{MOD_PERL}} = 'mod_perl/1.31'; require Cameleer; require Apache; require Apache::Registry"
        );
        perl.eval(&code, "boot", 1).expect("loads");
        perl.after_fork();
        Server { perl, place, front: FakeFront::default() }
    }

    /// Sends a request to a handler, given as `sub { … }` or by name.
    pub fn ask(&mut self, handler: &str, ask: &Ask<'_>) -> Response {
        let handler = self.perl.resolve_handler(handler).unwrap_or_else(|e| panic!("{handler}: {e}"));
        let body = (!ask.body.is_empty()).then(|| in_memory("body", ask.body.as_bytes()).expect("memfd").into());
        self.perl.set_stdin(body).expect("stdin");
        let (place, client) = (Rc::new(self.place.clone()), Box::new(self.front.clone()));
        let request = apache::begin(Incoming { frame: ask.frame(), place, client });
        self.perl.env_begin();
        let result = self.perl.call_handler(&handler, request);
        if result.is_err() {
            self.note(|perl| perl.call(c"Apache::unwind", None));
        }
        self.perl.drain_output();
        let finished = self.finish(request, result);
        if finished.cleanup {
            self.clean_up();
        }
        apache::end();
        self.perl.restore_state();
        self.answer()
    }

    fn finish(&mut self, request: u64, result: libperl::Result<i32>) -> FinishedRequest {
        let code = match result {
            Ok(status) => status,
            Err(Interrupted::Exited(_) | Interrupted::Unheard) => 0,
            Err(Interrupted::Died(text)) => {
                apache::log_line(Level::Error, &text);
                apache::fail(request, 500);
                500
            }
        };
        match apache::outcome(request, code) {
            HandlerOutcome::Answered => {}
            HandlerOutcome::File(path) => apache::send_file(request, &path),
            HandlerOutcome::Error(status) => apache::send_page(request, status, apache::ErrorPage::Ours("")),
        }
        apache::finish().expect("a request is current")
    }

    fn clean_up(&mut self) {
        while let Err(Interrupted::Exited(_)) = self.perl.call(c"Apache::run_cleanups", None) {}
        self.note(|perl| perl.call(c"Apache::forget", None));
    }

    fn note(&mut self, run: impl FnOnce(&mut Interpreter) -> libperl::Result<()>) {
        if let Err(error) = run(&mut self.perl) {
            apache::log_line(Level::Error, &error.to_string());
        }
    }

    fn answer(&mut self) -> Response {
        let mut answer = Response { log: LOG.take(), ..Default::default() };
        for packet in self.front.0.take() {
            answer.take(&packet);
        }
        answer
    }
}
