//! Requests that members of balancers, or workers with an event loop, are answering.

use std::rc::Rc;
use std::sync::Arc;

use super::upload::UploadState;
use crate::generation::View;
use crate::workers::StreamTurn;
use proxy::balancer::Balancers;

/// Counts a request until its response has ended.
pub enum Running {
    Member(RunningAtMember),
    Stream(StreamTurn),
}

impl Running {
    /// Notes the number of bytes of the response's body.
    pub fn received(&mut self, bytes: u64) {
        if let Running::Member(member) = self {
            member.received = bytes;
        }
    }
}

/// A request that a member is answering. Dropping it counts the request as over.
pub struct RunningAtMember {
    pub balancers: Arc<Balancers>,
    pub generation: Rc<View>,
    /// Index of the host whose configuration names the balancer.
    pub host: u16,
    pub name: String,
    pub member: usize,
    pub upload: Rc<UploadState>,
    /// Bytes of the response's body.
    pub received: u64,
}

impl Drop for RunningAtMember {
    fn drop(&mut self) {
        let Some(balancer) = self.generation.config.balancer(self.host, &self.name) else { return };
        let Some(member) = balancer.members.get(self.member) else { return };
        self.balancers.change(balancer, member, |state| {
            state.busy = state.busy.saturating_sub(1);
            state.to_member += self.upload.received.get();
            state.from_member += self.received;
        });
    }
}
