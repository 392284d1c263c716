//! Requests all pages from both servers, a few at a time.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use tokio::task::LocalSet;

use super::fetch::SiteServer;
use super::page::{ComparedPage, Difference, Sides};
use super::report::SiteDiff;
use bench::plan::ConnectionPlan;
use bench::{Connector, RequestTarget};

/// Paths to request, and the settings of the requests.
pub struct VisitPlan {
    /// Paths with queries.
    pub paths: Vec<String>,
    /// The old and the new server.
    pub servers: [RequestTarget; 2],
    /// Headers of all requests.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Response headers that are not compared.
    pub ignored: Vec<HeaderName>,
    /// Number of requests at the same time.
    pub connections: usize,
    /// How connections are made.
    pub transport: ConnectionPlan,
    /// Time limit of each request.
    pub timeout: Duration,
}

/// Compares all pages.
pub fn visit(plan: VisitPlan) -> anyhow::Result<SiteDiff> {
    let server = |target: &RequestTarget| -> anyhow::Result<SiteServer> {
        let connector = Connector::new(target, &plan.transport)?;
        Ok(SiteServer { target: target.clone(), connector, headers: plan.headers.clone(), timeout: plan.timeout })
    };
    let visitor = Visitor {
        old: server(&plan.servers[0])?,
        new: server(&plan.servers[1])?,
        next: Cell::new(0),
        pages: RefCell::new((0..plan.paths.len()).map(|_| None).collect()),
        plan: &plan,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = (0..plan.connections).map(|_| visitor.work());
    runtime.block_on(LocalSet::new().run_until(all(tasks)));
    Ok(SiteDiff { pages: visitor.pages.into_inner().into_iter().flatten().collect() })
}

/// Runs tasks at the same time, until all have ended.
async fn all(tasks: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut tasks: Vec<_> = tasks.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        tasks.retain_mut(|task| task.as_mut().poll(context).is_pending());
        if tasks.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

struct Visitor<'a> {
    old: SiteServer,
    new: SiteServer,
    /// Index of the next path.
    next: Cell<usize>,
    pages: RefCell<Vec<Option<ComparedPage>>>,
    plan: &'a VisitPlan,
}

impl Visitor<'_> {
    async fn work(&self) {
        while let Some(path) = self.plan.paths.get(self.next.get()) {
            let at = self.next.replace(self.next.get() + 1);
            let page = self.page(path).await;
            if let Some(place) = self.pages.borrow_mut().get_mut(at) {
                *place = Some(page);
            }
        }
    }

    async fn page(&self, path: &str) -> ComparedPage {
        let failure = |server, reason| ComparedPage {
            path: path.to_owned(),
            differences: vec![Difference::Failure { server, reason }],
            varies: false,
            own_pages: false,
        };
        let first = self.old.get(path).await;
        let again = self.old.get(path).await;
        let new = self.new.get(path).await;
        match (first, again, new) {
            (Ok(first), Ok(again), Ok(new)) => {
                let sides = Sides { servers: [&self.old.target, &self.new.target], ignored: &self.plan.ignored };
                sides.compare(path, [&first, &again], &new)
            }
            (Err(reason), ..) | (_, Err(reason), _) => failure("old", reason),
            (.., Err(reason)) => failure("new", reason),
        }
    }
}
