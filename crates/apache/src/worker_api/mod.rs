//! The worker's access to the records, which are named by their record numbers.

mod client;
mod onward;
mod phases;
mod record;
mod response;
mod translation;

pub use client::{
    addresses, change_variables, has_variable, header_in, headers_in, protocol, remote_host, set_authentication_info,
    set_challenge, target_as_sent, user, user_is, variables,
};
pub use onward::pass_on;
pub use phases::{enter_phase, running_phase, stack};
pub use record::{
    AskedServer, Requested, SetByHandlers, asked_server, certificate, element, filename, handler, has_file, is_https,
    is_internal, is_unheard, keep_content_type, method, path_info, place_is, requested, server_name, set_by_handlers,
    set_location, set_note, set_status, status,
};
pub use response::{
    HandlerOutcome, begin_body, commit, custom_response, declined_file, discard, error_before, fail, failed,
    has_sent_status, outcome, refuse, send_file, send_page, set_file_type, set_language,
};
pub use translation::{begin_translation, end_translation, retarget, without_file};
