//! Answers of databases, for one request.

use databases::{SqlQuestion, SqlRows, ask};

/// Answers that an authentication has got so far.
#[derive(Default)]
pub struct SqlAnswers(Vec<(SqlQuestion, Result<SqlRows, String>)>);

impl SqlAnswers {
    /// The answer to a question, or the question back.
    pub fn get(&self, question: SqlQuestion) -> Result<&Result<SqlRows, String>, SqlQuestion> {
        let known = self.0.iter().find(|(known, _)| *known == question);
        known.map(|(_, answer)| answer).ok_or(question)
    }

    /// Adds the answer that [`ask`] has returned.
    pub fn add(&mut self, question: SqlQuestion, answer: Result<SqlRows, String>) {
        self.0.push((question, answer));
    }

    /// Asks, which may take seconds.
    pub fn find(&mut self, question: SqlQuestion) {
        let answer = ask(&question);
        self.add(question, answer);
    }
}
