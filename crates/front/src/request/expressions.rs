//! Answers to the questions of expressions: files on disk, and requests that would follow.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use http::request::Parts;

use super::context::RequestContext;
use super::rewrite;
use crate::base::blocking;
use crate::routing::Route;
use base::path::Text;
use config::response::expr::{DiskFact, ExprAnswer, ExprQuestion};
use files::facts::about;

/// The answer to a question. The result of a test that fails is false.
pub fn answer<'a>(
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Route,
    question: &'a ExprQuestion,
) -> Pin<Box<dyn Future<Output = ExprAnswer> + 'a>> {
    Box::pin(async move {
        match question {
            ExprQuestion::LookAhead(ahead) => {
                ExprAnswer::Holds(rewrite::look_ahead(context, head, route, ahead).await.passes(ahead))
            }
            ExprQuestion::Disk(fact @ (DiskFact::NameOfFile | DiskFact::PathInfo), _) => {
                let parted = context.generation.wait_for(|| Ok(rewrite::parted(context, route))).await;
                let rewrite::PartedName { file, path_info, .. } = parted.unwrap_or_default();
                ExprAnswer::Text(if *fact == DiskFact::PathInfo { path_info } else { file })
            }
            ExprQuestion::Disk(fact, name) => on_disk(*fact, name).await,
        }
    })
}

async fn on_disk(fact: DiskFact, name: &str) -> ExprAnswer {
    // A relative name has no folder that it could be relative to: there is no such file.
    let path = Some(Text::bytes_of(PathBuf::from(name))).filter(|path| path.is_absolute()).unwrap_or_default();
    match blocking::run("look at a file", move || about(fact, &path)).await {
        Ok(answer) => answer,
        Err(_) => ExprAnswer::Failed("there is no thread to look at a file".to_owned()),
    }
}
