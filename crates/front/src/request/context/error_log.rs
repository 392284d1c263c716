//! Lines about a request in the error log of its host.

use std::fmt::Display;

use wire::frame::name_in_logs;

use super::RequestContext;
use crate::log::entry::since_1970;
use crate::log::error_logs::LineClass;
use crate::routing::Route;
use base::log;
use config::LogLevel;

impl RequestContext {
    /// Writes a problem with the request or its response to the error log of its host.
    pub fn log_error(&self, route: &Route, why: &dyn Display) {
        self.log(route, LineClass { level: LogLevel::Error, module: "front" }, why);
    }

    /// Writes a line about the request to the error log of its host, if the `LogLevel` of the module permits it.
    pub fn log(&self, route: &Route, class: LineClass<'_>, message: &dyn Display) {
        let path = String::from_utf8_lossy(&route.path);
        let about = log::Subject {
            context: log::ContextPosition::default(),
            client: Some(self.remote()),
            worker: None,
            request: Some(log::RequestSubject {
                name: name_in_logs(since_1970(self.received), self.number()),
                method: "",
                path: &path,
            }),
        };
        self.generation.error_logs.write(route.host, class, &about, message);
    }
}
