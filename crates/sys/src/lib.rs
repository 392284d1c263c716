//! System calls that Rust cannot check: the only unsafe code of this package, each block with its reason.
//!
//! Start at the caller: each function is one system call, or a few that belong together.

#![allow(
    unsafe_code,
    reason = "fork, clone, pre_exec, mmap, raw descriptors, pidfds, options of sockets, crypt and getnameinfo have no safe form"
)]

pub mod exposed;
pub mod privileges;

mod crypt;
mod descriptors;
mod fork;
mod memory;
mod pages;
mod pidfd;
mod process;
mod programs;
mod resolver;
mod roles;
mod signals;
mod sockets;
mod tracee;
mod words;

pub use crypt::crypt;
pub use descriptors::{
    file_limit, keep_inherited_from_children, out_of_the_way, passed_descriptors, raise_file_limit, replace,
};
pub use fork::{exit_now, fork, fork_orphan};
pub use memory::map_memory;
pub use pages::merge_same_pages;
pub use pidfd::{pidfd_exists, pidfd_kill, pidfd_open, pidfd_queue, queue};
pub use process::{allow_profiling, do_not_preempt, is_stopped, is_traced, keep_some_freed_memory, run_delay};
pub use programs::{Image, ResourceLimit, lead_group, start_program, with_signals_unblocked};
pub use resolver::name_of;
pub use roles::{become_role, control_channel, die_with, follow, outlive_master};
pub use signals::{
    Reaping, deadline_signal, default_child_signal, default_faults, default_signals, ended_children, reap_at_once,
    request_on_term, survive_deadline_signal,
};
pub use sockets::defer_accept;
pub use tracee::{SystemCall, system_call};
pub use words::{Words, map_words, new_words};
