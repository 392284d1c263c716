//! Messages of programs to clients: `Cameleer::Broadcast`, held responses, and the stores that servers share.

mod broadcast;
mod held;
mod transport;
mod vanished;
