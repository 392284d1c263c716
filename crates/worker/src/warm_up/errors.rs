//! Standard error of a rehearsal's requests: logged only if the request fails.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};

/// Collects the standard error of a rehearsal. The output of a successful request is dropped, since the mold repeats
/// the request and its output.
pub struct Errors {
    pub pipe: File,
    /// Output of finished requests, and whether each was successful.
    outputs: VecDeque<Vec<u8>>,
    verdicts: VecDeque<bool>,
    /// Last bytes of the current request's output.
    last: Vec<u8>,
}

/// Separates the output of two requests.
const SEPARATOR: &[u8] = b"\0\x1ewarm-up\x1e\0";
/// Maximum number of trailing bytes of a request's stderr that are stored.
const MAX_STDERR_BYTES: usize = 64 * 1024;

/// Marks the end of a request's output.
pub fn separate_errors() {
    let _ = io::stderr().write_all(SEPARATOR);
}

impl Errors {
    pub fn new(pipe: File) -> Errors {
        Errors { pipe, outputs: VecDeque::new(), verdicts: VecDeque::new(), last: Vec::new() }
    }

    pub fn take_in(&mut self) {
        let mut piece = vec![0; MAX_STDERR_BYTES];
        while let Ok(length @ 1..) = self.pipe.read(&mut piece) {
            self.last.extend_from_slice(piece.get(..length).unwrap_or_default());
            while let Some(at) = self.last.windows(SEPARATOR.len()).position(|bytes| bytes == SEPARATOR) {
                let rest = self.last.split_off(at);
                let output =
                    std::mem::replace(&mut self.last, rest.get(SEPARATOR.len()..).unwrap_or_default().to_vec());
                self.outputs.push_back(output);
            }
            let surplus = self.last.len().saturating_sub(MAX_STDERR_BYTES);
            self.last.drain(..surplus);
        }
        self.settle();
    }

    pub fn belong_to(&mut self, is_well: bool) {
        self.verdicts.push_back(is_well);
        self.settle();
    }

    fn settle(&mut self) {
        while let (Some(output), Some(is_well)) = (self.outputs.front(), self.verdicts.front()) {
            if !is_well {
                log_line(output);
            }
            self.outputs.pop_front();
            self.verdicts.pop_front();
        }
    }

    /// Logs the remaining output after the process has ended, in its last request or because of it.
    pub fn log_rest(&mut self) {
        self.take_in();
        self.outputs.drain(..).for_each(|output| log_line(&output));
        log_line(&self.last);
    }
}

fn log_line(text: &[u8]) {
    let _ = io::stderr().write_all(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warm_up::watch::pipe;

    #[test]
    fn only_output_of_failed_requests_is_retained() {
        let (read, mut write) = pipe().unwrap();
        let mut errors = Errors::new(read);
        write.write_all(&[b"one", SEPARATOR, b"two", SEPARATOR, b"three"].concat()).unwrap();
        errors.take_in();
        assert_eq!((errors.outputs.len(), &errors.last[..]), (2, &b"three"[..]));
        errors.belong_to(true);
        assert_eq!(errors.outputs, [b"two".to_vec()]);
    }

    #[test]
    fn the_end_of_endless_output_is_stored() {
        let (read, mut write) = pipe().unwrap();
        let mut errors = Errors::new(read);
        for _ in 0..40 {
            write.write_all(&[b'x'; 8000]).unwrap();
            errors.take_in();
        }
        assert_eq!(errors.last.len(), MAX_STDERR_BYTES);
    }
}
