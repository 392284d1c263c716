//! Headers and variables that the phases have set, for the backend that answers the request.

use wire::reply::{MAX_ONWARD, OnwardRequest};

use crate::request_rec::RequestRec;
use crate::request_rec::environment;
use crate::request_rec::field::Text;
use crate::request_rec::table::Table;
use crate::request_rec::tables::Id;
use crate::request_stack::with;

/// Makes the front pass the request to its backend. The error says why it cannot.
pub fn pass_on(request: u64) -> Result<(), &'static str> {
    with(request, RequestRec::pass_on).unwrap_or(Ok(()))
}

impl RequestRec {
    fn pass_on(&mut self) -> Result<(), &'static str> {
        if self.output.is_handed_over {
            // After `$r->internal_redirect` another record has responded.
            return Ok(());
        }
        if !self.output.is_untouched() || self.output.failed.is_some() {
            return Err(
                "a Perl handler of a phase has printed, and let the request pass to its backend; return DONE after a response",
            );
        }
        let onward = self.onward();
        if onward.length() > MAX_ONWARD {
            return Err(
                "the headers, query and variables of the request are longer than 60 kB after its Perl handlers, which is too long for a backend",
            );
        }
        self.output.onward = Some(onward);
        Ok(())
    }

    fn onward(&mut self) -> OnwardRequest {
        let text = |r: &RequestRec, field| r.known_text(field).map(<[u8]>::to_vec);
        let headers = self.tables.is_filled(Id::HeadersIn).then(|| pairs(self.tables.of(Id::HeadersIn)));
        OnwardRequest {
            user: text(self, Text::User),
            auth_type: text(self, Text::AuthType).unwrap_or_default(),
            query: text(self, Text::Args).unwrap_or_default(),
            variables: self.changed_variables(),
            headers,
        }
    }

    /// The variables of `$r->subprocess_env` that the front does not have, and those of `PerlSetEnv`. As in httpd, a
    /// backend does not get the variables of CGI from here.
    fn changed_variables(&mut self) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let place = self.place.clone();
        let set = |(name, value): (&[u8], &[u8])| (name.to_vec(), Some(value.to_vec()));
        let of_place = place.set_env.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        if !self.tables.is_filled(Id::SubprocessEnv) {
            return of_place.map(set).collect();
        }
        let (mut of_front, mut known) = (Table::default(), Table::default());
        environment::variables(&self.frame, &mut |name, value| of_front.set(name, value));
        environment::variables(&self.frame, &mut |name, value| known.set(name, value));
        environment::cgi(self, &mut |name, value| known.set(name, value));
        let table = self.tables.of(Id::SubprocessEnv);
        let is_of_place = |name: &[u8]| place.set_env.iter().any(|(known, _)| known.as_bytes() == name);
        let changed = table.iter().filter(|(name, value)| known.get(name) != Some(value) || is_of_place(name));
        let gone = of_front.iter().filter(|(name, _)| table.get(name).is_none());
        changed.map(set).chain(gone.map(|(name, _)| (name.to_vec(), None))).collect()
    }
}

fn pairs(table: &Table) -> Vec<(Vec<u8>, Vec<u8>)> {
    table.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}
