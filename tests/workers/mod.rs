//! The pool of workers, and what breaks in it.

/// A number of workers that follows the load.
mod auto_size;
/// What processes leave to their end, and share from one fork.
mod ends;
/// Programs and processes that misbehave: only their own request suffers.
mod faults;
/// How many workers there are, and how long they live.
mod inspection;
/// The budget, and limits of single workers.
mod memory;
/// More requests than workers can answer.
mod overload;
mod pool;
mod refork;
/// Requests that the mold answers before it forks.
mod warm_up;
