//! `exec`: CGI programs and commands. `perl`: subs of the site's Perl.

use http::header::{HeaderValue, LOCATION};

use super::attributes::{decoded, unknown, with_values};
use super::page::Page;
use super::subrequest::Subrequest;
use super::values::{Fault, failed, fault};
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::request::ask_worker::{self, WorkerReply};
use crate::request::body::RequestBody;
use crate::request::context::Task;
use crate::request::files::LookupResult;
use crate::request::{self, Dispatched};
use config::response::rewrite::ForcedByRule;
use ssi::entities;
use ssi::parser::Argument;
use ssi::substitute::Undefined;

impl Page {
    pub async fn exec(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if !self.may_exec() {
            return Err(fault("Options IncludesNOEXEC applies; write Options +Includes to allow programs"));
        }
        for (name, value) in with_values(arguments) {
            match name {
                b"cmd" => {
                    let command = self.substituted(&decoded(value), Undefined::Stays)?;
                    self.run_task(Task::Command(command)).await?;
                }
                b"cgi" => {
                    let url = self.substituted(&decoded(value), Undefined::Empty)?;
                    self.run_cgi(&url).await?;
                }
                other => return Err(unknown(other)),
            }
        }
        Ok(())
    }

    /// Executes mod_perl's element, which calls a Perl sub with arguments.
    pub async fn perl(&mut self, arguments: &[Argument]) -> Result<(), Fault> {
        if !self.may_exec() {
            return Err(fault("Options IncludesNOEXEC applies; write Options +Includes to allow Perl"));
        }
        let (mut sub, mut values) = (None, Vec::new());
        for (name, value) in with_values(arguments) {
            let value = self.substituted(&decoded(value), Undefined::Empty)?;
            match name {
                b"sub" => sub = Some(value),
                b"arg" => values.push(value),
                b"args" => values.extend(value.split(|byte| *byte == b',').map(<[u8]>::to_vec)),
                other => return Err(unknown(other)),
            }
        }
        let sub = sub.ok_or_else(|| fault("the attribute sub is missing"))?;
        let parts: Vec<Vec<u8>> = std::iter::once(sub).chain(values).collect();
        if parts.iter().any(|part| part.contains(&0)) {
            return Err(fault("a value contains a zero byte"));
        }
        self.run_task(Task::Perl(parts.join(&0))).await
    }

    /// Runs a command or a Perl sub as a part of the document.
    async fn run_task(&mut self, task: Task) -> Result<(), Fault> {
        let document = self.document();
        let (route, uri) = (document.route.clone(), document.head.uri.clone());
        let Subrequest { context, head } = self.subrequest(uri)?;
        let handler = if matches!(task, Task::Command(_)) { "cgi-script" } else { "perl-script" };
        let route = std::rc::Rc::new(route.forced(ForcedByRule {
            handler: Some(handler.to_owned()),
            content_type: route.forced.as_ref().and_then(|forced| forced.content_type.clone()),
        }));
        context.leads_to(route.clone());
        context.take_over_variables();
        context.set_task(task);
        let reply = ask_worker::request(&context, &head, &route, &mut RequestBody::none()).await;
        match reply.map_err(|refusal| failed(&"the program", refusal.status))? {
            // The error page for the failure is not included.
            WorkerReply::Response(response) if response.status().is_server_error() => {
                Err(failed(&"the program", response.status()))
            }
            WorkerReply::Response(response) => {
                self.deliver_plain(response.into_body()).await;
                Ok(())
            }
            WorkerReply::File(..) | WorkerReply::Elsewhere(..) | WorkerReply::Onward(..) | WorkerReply::Refused(..) => {
                Err(fault("the program printed no text"))
            }
        }
    }

    /// Runs a CGI program with the query and PATH_INFO of the document.
    async fn run_cgi(&mut self, url: &[u8]) -> Result<(), Fault> {
        let shown = url.escape_ascii().to_string();
        let Subrequest { context, mut head } = self.subrequest(self.target(url)?)?;
        let found = request::look_up(&context, &head).await;
        let found = found.map_err(|refusal| failed(&shown, refusal.status))?;
        let (LookupResult::File(route, _) | LookupResult::Handled(route)) = found else {
            return Err(fault(format!("{shown} is no program")));
        };
        if head.uri.query().is_some() || route.script_length.is_some_and(|length| (length as usize) < route.path.len())
        {
            return Err(fault(format!(
                "{shown}: the program gets the query and PATH_INFO of the document; remove those of the URL"
            )));
        }
        self.check_program(&route, &shown).await?;
        if let Some(query) = target::query(&self.document().head) {
            let with_query = format!("{}?{}", head.uri.path(), String::from_utf8_lossy(query));
            head.uri = with_query.try_into().map_err(|_| fault("the query of the document cannot be sent"))?;
        }
        let forced = ForcedByRule { handler: Some("cgi-script".to_owned()), content_type: None };
        let route = std::rc::Rc::new(route.forced(forced));
        request::place::settle(&context, &head, &route)
            .map_err(|_| fault("the variables of the program's location cannot be computed"))?;
        match request::run(&context, &head, &route, &mut RequestBody::none()).await {
            Ok(Dispatched::Response(response)) if response.status().is_redirection() => {
                let location = response.headers().get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
                self.write_link(location).await;
                Ok(())
            }
            Ok(Dispatched::Response(response)) => self.deliver(url, Subrequest { context, head }, response).await,
            Ok(Dispatched::InternalRedirect(target)) => self.include_redirected(url, context, &target).await,
            Ok(_) => Err(fault(format!("{shown}: the response of another URL cannot be included"))),
            Err(refusal) => {
                // As in httpd, the page gets no error message for a failed program.
                self.note(format_args!("exec: {}", failed(&shown, refusal.status)));
                Ok(())
            }
        }
    }

    async fn check_program(&self, route: &crate::routing::Route, shown: &str) -> Result<(), Fault> {
        let file = route.filename.clone();
        let found = crate::base::blocking::run("look at a program", move || std::fs::metadata(file)).await;
        match found.ok().and_then(Result::ok).is_some_and(|found| found.is_file()) {
            true => Ok(()),
            false => Err(fault(format!("{shown}: there is no such program"))),
        }
    }

    async fn include_redirected(
        &mut self,
        url: &[u8],
        context: std::rc::Rc<crate::request::context::RequestContext>,
        target: &[u8],
    ) -> Result<(), Fault> {
        let refused = |refusal: Refusal| failed(&url.escape_ascii(), refusal.status);
        let head = request::redirected(&context.head, target).map_err(refused)?;
        let mut body = RequestBody::none();
        let answer = request::reach(&context, &head, &mut body).await.map_err(refused)?;
        let (response, head) = (answer.0, answer.1.into_owned());
        self.deliver(url, Subrequest { context, head }, response).await
    }

    async fn write_link(&self, location: &[u8]) {
        let location = entities::encode(location);
        self.whole.output.write(&[b"<a href=\"", &*location, b"\">", &location, b"</a>"].concat()).await;
    }
}
