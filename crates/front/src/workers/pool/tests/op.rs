//! What can happen in a generated history.

use proptest::prelude::*;

/// One thing that happens. Numbers choose among those that are there.
#[derive(Debug, Clone, Copy)]
pub enum Op {
    /// `limited`: it counts for a SpeedLimit and for a MaxConcurrentReqs.
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
    /// It has an answer, which lies in its socket until it is heard.
    Answer {
        worker: u8,
        leaving: bool,
    },
    /// The thread of even numbers or that of odd ones hears what is for it.
    Hear {
        worker: u8,
        thread: bool,
    },
    Die(u8),
    Stop(u8),
    Continue(u8),
    /// Nothing can be sent to it any more.
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
    /// It breaks the protocol.
    Lie(u8),
    Wait(u64),
    LeaveIdle(usize),
    /// So many workers may have a request at one time.
    Admit(u8),
    /// It is to leave when it has no request.
    Dismiss(u8),
    /// Requests are quick, so that workers are sent some ahead.
    Quick,
    /// They are short: each worker is sent one ahead.
    Short,
    Drain,
}

/// What may happen, in about the proportion in which it does.
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
