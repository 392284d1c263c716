//! The inquiries of the rules of one request, and the answers found so far.

use std::cell::RefCell;

use crate::requires::AccessInquiry;

/// Maximum number of answers of directories and name servers for one request.
const MAX_ANSWERS: usize = 100;
/// Error message of a request whose rules need too many answers.
pub const TOO_MANY_INQUIRIES: &str = "Require needs more than 100 answers of directories and name servers";

/// Answered inquiries of a request, and the inquiry that the last evaluation lacked.
#[derive(Debug, Default)]
pub struct Inquiries {
    answers: Vec<(AccessInquiry, bool)>,
    open: RefCell<Option<AccessInquiry>>,
}

impl Inquiries {
    /// The answer to `inquiry`. `None`: unknown; the inquiry is then open.
    pub fn learned(&self, inquiry: &AccessInquiry) -> Option<bool> {
        let known = self.answers.iter().find(|(known, _)| known == inquiry).map(|(_, met)| *met);
        if known.is_none() {
            self.open.replace(Some(inquiry.clone()));
        }
        known
    }

    /// Whether an inquiry was answered.
    pub fn has(&self, inquiry: &AccessInquiry) -> bool {
        self.answers.iter().any(|(known, _)| known == inquiry)
    }

    /// The open inquiry. An error if there is none, or if the request has its maximum of answers.
    pub fn take_open(&self) -> Result<AccessInquiry, &'static str> {
        self.open.take().filter(|_| self.answers.len() < MAX_ANSWERS).ok_or(TOO_MANY_INQUIRIES)
    }

    /// Stores an answer: whether `inquiry` is met.
    pub fn add(&mut self, inquiry: AccessInquiry, met: bool) {
        self.answers.push((inquiry, met));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_answer_is_open_until_it_is_added_and_the_number_of_answers_is_bounded() {
        let mut inquiries = Inquiries::default();
        let about = |name: usize| AccessInquiry::Forward(vec![name.to_string()]);
        for name in 0..MAX_ANSWERS {
            assert_eq!(inquiries.learned(&about(name)), None);
            let open = inquiries.take_open().expect("an open inquiry");
            assert_eq!(open, about(name));
            inquiries.add(open, name % 2 == 0);
            assert_eq!(inquiries.learned(&about(name)), Some(name % 2 == 0));
        }
        assert_eq!(inquiries.learned(&about(MAX_ANSWERS)), None);
        assert_eq!(inquiries.take_open(), Err(TOO_MANY_INQUIRIES));
        assert!(TOO_MANY_INQUIRIES.contains(&MAX_ANSWERS.to_string()));
    }
}
