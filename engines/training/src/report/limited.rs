//! Searches whose results a section shows; they end at the deadline of the section.

use crate::search::circuits::Proposal;
use lightbay_core::clock::Deadline;
use lightbay_core::context::Stop;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::report::Unavailable;
use lightbay_core::watch::Watch;

/// A watch that stops a search at a deadline and ignores the reports of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limited(pub Deadline);

impl Limited {
    /// The reason that a search ended without a result.
    pub fn why(self, error: MethodError) -> Unavailable {
        match error {
            MethodError::Stopped(_) => Unavailable::late(self.0),
            other => Unavailable::failed(other),
        }
    }
}

impl Watch<Proposal> for Limited {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        if self.0.is_over() { Err(Stop::Time.into()) } else { Ok(()) }
    }

    fn report(&mut self, _body: EventBody) {}

    fn count(&mut self, _evaluations: u64) {}
}
