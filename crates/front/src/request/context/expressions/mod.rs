//! Expressions of the configuration, evaluated for a request.
//!
//! An answer that takes time stops an evaluation: see [`RequestContext::answered`].

mod source;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;

use http::header::{HeaderMap, HeaderValue, VARY};
use http::request::Parts;

use super::RequestContext;
use crate::routing::Route;
use config::response::expr::{Expr, ExprAnswer, ExprFailure, ExprQuestion, ExprResult, ExprText};
pub use source::{ExprOf, SeenResponse};

/// Finds the answer to a question for the request with this head at this route.
pub type Answerer = for<'a> fn(
    &'a RequestContext,
    &'a Parts,
    &'a Route,
    &'a ExprQuestion,
) -> Pin<Box<dyn Future<Output = ExprAnswer> + 'a>>;

/// Maximum number of questions of a request's expressions.
const MAX_QUESTIONS: usize = 50;

/// The answers that a request's expressions have, and the question that stopped one.
pub struct Expressions {
    answerer: Answerer,
    answers: RefCell<Vec<(ExprQuestion, ExprAnswer)>>,
    pending: RefCell<Option<ExprQuestion>>,
    /// The headers of the request after `RequestHeader`.
    changed: RefCell<Option<HeaderMap>>,
    is_complained: Cell<bool>,
}

impl Expressions {
    /// The state of a new request.
    pub fn new(answerer: Answerer) -> Expressions {
        Expressions {
            answerer,
            answers: RefCell::default(),
            pending: RefCell::default(),
            changed: RefCell::default(),
            is_complained: Cell::new(false),
        }
    }

    /// The state of a request whose response becomes a part of this one's.
    pub fn of_part(&self) -> Expressions {
        Expressions::new(self.answerer)
    }

    /// Takes the answers away, for the time when another request is looked at.
    pub(super) fn set_aside(&self) -> Vec<(ExprQuestion, ExprAnswer)> {
        self.pending.take();
        self.answers.take()
    }

    /// Puts answers back.
    pub(super) fn restore(&self, answers: Vec<(ExprQuestion, ExprAnswer)>) {
        self.pending.take();
        self.answers.replace(answers);
    }
}

impl RequestContext {
    /// Whether an evaluation has stopped at a question.
    pub fn has_question(&self) -> bool {
        self.expressions.pending.borrow().is_some()
    }

    /// Evaluates a condition. Headers that it used are added to the response's `Vary`. An error that is no question is
    /// logged once for each request.
    pub fn evaluated(&self, of: &ExprOf<'_>, expr: &Expr) -> Result<ExprResult<bool>, ExprFailure> {
        let result = self.noted(of, expr.as_str(), expr.evaluate(of))?;
        for name in &result.vary {
            if let Ok(name) = HeaderValue::from_str(name) {
                self.add_field(VARY, name);
            }
        }
        Ok(result)
    }

    /// Whether a condition is true. One that fails is false.
    pub fn is_true(&self, of: &ExprOf<'_>, expr: &Expr) -> bool {
        self.apply_rules(|| self.evaluated(of, expr)).is_ok_and(|result| result.value)
    }

    /// A text with variables. One that fails is empty, as in httpd.
    pub fn text_of(&self, of: &ExprOf<'_>, text: &ExprText) -> String {
        match text.constant() {
            Some(constant) => constant.to_owned(),
            None => self.apply_rules(|| self.evaluated_text(of, text)).unwrap_or_default(),
        }
    }

    /// Evaluates a text. An error that is no question is logged once for each request.
    pub fn evaluated_text(&self, of: &ExprOf<'_>, text: &ExprText) -> Result<String, ExprFailure> {
        self.noted(of, text.as_str(), text.evaluate(of))
    }

    fn noted<T>(&self, of: &ExprOf<'_>, source: &str, result: Result<T, ExprFailure>) -> Result<T, ExprFailure> {
        match &result {
            Ok(_) => {}
            Err(ExprFailure::Unknown(question)) => drop(self.expressions.pending.replace(Some(question.clone()))),
            Err(ExprFailure::Failed(why)) => {
                if !self.expressions.is_complained.replace(true) {
                    self.log_error(of.route, &format_args!("the expression \"{source}\" has no value: {why}"));
                }
            }
        }
        result
    }

    /// The answer to a question, if it is known. Beyond the limit no further answers are looked for.
    fn answer_to(&self, question: &ExprQuestion) -> Option<ExprAnswer> {
        let answers = self.expressions.answers.borrow();
        let known = answers.iter().find(|(known, _)| known == question).map(|(_, answer)| answer.clone());
        let too_many = || format!("expressions of the request ask for more than {MAX_QUESTIONS} files or paths");
        known.or_else(|| (answers.len() >= MAX_QUESTIONS).then(|| ExprAnswer::Failed(too_many())))
    }

    /// Runs work that may evaluate expressions, again after each question that it asks.
    pub async fn answered<T>(&self, head: &Parts, route: &Route, work: impl Fn() -> T) -> T {
        loop {
            self.begin_evaluation();
            let done = work();
            if !self.finds_answer(head, route).await {
                return done;
            }
        }
    }

    /// A text with variables, and the answers that it needs.
    pub async fn text(&self, of: &ExprOf<'_>, text: &ExprText) -> String {
        self.answered(of.head, of.route, || self.text_of(of, text)).await
    }

    /// Forgets the question of an earlier evaluation.
    pub fn begin_evaluation(&self) {
        self.expressions.pending.take();
    }

    /// Finds the answer to the question that stopped an evaluation. `false`: there was none.
    pub async fn finds_answer(&self, head: &Parts, route: &Route) -> bool {
        let Some(question) = self.expressions.pending.take() else { return false };
        let answer = match &question {
            // A request that is looked at for a rule looks at no further ones.
            ExprQuestion::LookAhead(_) if self.is_looked_at() => ExprAnswer::Holds(false),
            question => (self.expressions.answerer)(self, head, route, question).await,
        };
        self.expressions.answers.borrow_mut().push((question, answer));
        true
    }

    /// Remembers the headers of the request after `RequestHeader`, for expressions of the response.
    pub fn ask_with(&self, headers: &HeaderMap) {
        self.expressions.changed.replace(Some(headers.clone()));
    }
}
