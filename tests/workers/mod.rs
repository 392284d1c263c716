//! The pool of workers, and failures in it.

/// A number of workers that follows the load.
mod auto_size;
/// Work at the end of a process, and state shared since the fork.
mod ends;
/// Misbehaving programs and processes affect only their own request.
mod faults;
/// State that the mold and the workers report.
mod inspection;
/// The memory budget, and limits of single workers.
mod memory;
/// More requests than the workers can serve.
mod overload;
mod pool;
mod refork;
/// Requests that the mold serves before it forks.
mod warm_up;
