//! Events of a generated history.

use proptest::prelude::*;

/// An event. Numbers select one of the existing workers or requests.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    /// `limited`: the request counts for a `SpeedLimit` and a `MaxConcurrentReqs`.
    Submit {
        lane: usize,
        small: bool,
        limited: bool,
    },
    Join {
        adopted: bool,
    },
    Ready(u8),
    /// A worker receives the next request from its socket.
    Take(u8),
    /// A worker ends its request; the reply lies in its socket until a thread reads it.
    Answer {
        worker: u8,
        leaving: bool,
    },
    /// A thread reads a reply. Two threads own the even and the odd request ids.
    Hear {
        worker: u8,
        thread: bool,
    },
    Die(u8),
    Stop(u8),
    Continue(u8),
    /// Sending to the worker fails from now on.
    Break(u8),
    Leave {
        request: u8,
        owed: bool,
        unfinished: bool,
    },
    HangUp(u8),
    Hold(u8),
    Resume(u8),
    Extend(u8),
    /// The worker breaks the protocol.
    Lie(u8),
    Wait(u64),
    LeaveIdle(usize),
    /// Limits the number of busy workers.
    Admit(u8),
    /// Asks the worker to leave when it has no request.
    Dismiss(u8),
    /// Requests are quick, so workers are sent several ahead.
    Quick,
    /// Requests are short, so each worker is sent one ahead.
    Short,
    Drain,
}

/// Events, in about the proportions of real operation.
pub fn any_op() -> impl Strategy<Value = Op> {
    let one = || any::<u8>();
    prop_oneof![
        12 => (0..3usize, prop::bool::weighted(0.8), prop::bool::weighted(0.3)).prop_map(|(lane, small, limited)| Op::Submit { lane, small, limited }),
        2 => prop::bool::weighted(0.2).prop_map(|adopted| Op::Join { adopted }),
        5 => one().prop_map(Op::Ready),
        12 => one().prop_map(Op::Take),
        10 => (one(), prop::bool::weighted(0.1)).prop_map(|(worker, leaving)| Op::Answer { worker, leaving }),
        14 => (one(), any::<bool>()).prop_map(|(worker, thread)| Op::Hear { worker, thread }),
        1 => one().prop_map(Op::Die),
        1 => one().prop_map(Op::Stop),
        1 => one().prop_map(Op::Continue),
        1 => one().prop_map(Op::Break),
        3 => (one(), any::<bool>(), any::<bool>()).prop_map(|(request, owed, unfinished)| Op::Leave { request, owed, unfinished }),
        1 => one().prop_map(Op::HangUp),
        1 => one().prop_map(Op::Hold),
        1 => one().prop_map(Op::Resume),
        1 => one().prop_map(Op::Extend),
        1 => one().prop_map(Op::Lie),
        3 => (0..400u64).prop_map(Op::Wait),
        1 => (0..4_000u64).prop_map(Op::Wait),
        1 => (0..3usize).prop_map(Op::LeaveIdle),
        1 => (0..6u8).prop_map(Op::Admit),
        1 => one().prop_map(Op::Dismiss),
        3 => Just(Op::Quick),
        2 => Just(Op::Short),
        1 => Just(Op::Drain),
    ]
}
