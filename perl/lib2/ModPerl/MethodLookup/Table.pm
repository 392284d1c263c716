package ModPerl::MethodLookup::Table;

use v5.36;

# The modules of mod_perl 2.0.12: "Module Class: name name ...". The class is that of the first argument, or "-"
# for functions. A line that begins with a blank continues the one before.
sub methods { return split /\n(?!\h)/, <<'END' }
APR::Base64 -: decode encode
APR::Base64 APR::Base64: encode_len
APR::Brigade APR::Brigade: bucket_alloc cleanup concat destroy first flatten insert_head insert_tail is_empty last length new next pool prev split
APR::Bucket APR::Bucket: data delete destroy eos_create flush_create insert_after insert_before is_eos is_flush length new read remove setaside start
    type
APR::BucketAlloc APR::BucketAlloc: destroy new
APR::BucketType APR::BucketType: name
APR::Date APR::Date: parse_http parse_rfc
APR::Error APR::Error: strerror
APR::Finfo APR::Finfo: atime csize ctime device filetype fname group inode mtime name nlink protection size stat user valid
APR::IpSubnet APR::IpSubnet: new test
APR::OS APR::OS: current_thread_id
APR::Pool APR::Pool: cleanup_for_exec cleanup_register clear DESTROY destroy is_ancestor new parent_get tag
APR::SockAddr APR::SockAddr: equal ip_get port
APR::Socket APR::Socket: bind close connect fileno listen opt_get opt_set poll recv recvfrom send sendto timeout_get timeout_set
APR::Status APR::Status: is_EACCES is_EAGAIN is_ECONNABORTED is_ECONNRESET is_ENOENT is_EOF is_TIMEUP
APR::String APR::String: format_size
APR::Table APR::Table: add CLEAR clear compress copy DELETE do EXISTS FETCH FIRSTKEY get make merge NEXTKEY overlap overlay set STORE unset
APR::ThreadMutex APR::ThreadMutex: DESTROY lock new pool_get trylock unlock
APR::ThreadRWLock APR::ThreadRWLock: DESTROY new pool_get rdlock tryrdlock trywrlock unlock wrlock
APR::URI APR::URI: fragment hostinfo hostname parse password path port port_of_scheme query rpath scheme unparse user
APR::UUID APR::UUID: format new parse
APR::Util APR::Util: filepath_name_get password_get password_validate
Apache2::Access Apache2::RequestRec: allow_methods allow_options allow_override_opts allow_overrides auth_name auth_type get_basic_auth_pw
    get_remote_logname note_auth_failure note_basic_auth_failure note_digest_auth_failure satisfies some_auth_required
Apache2::CmdParms Apache2::CmdParms: add_config check_cmd_context cmd context directive info method_is_limited override override_opts path pool server
    temp_pool
Apache2::Command Apache2::Command: args_how errmsg name next req_override
Apache2::Connection Apache2::Connection: aborted base_server bucket_alloc client_addr client_ip client_socket conn_config get_remote_host id
    input_filters keepalive keepalives local_addr local_host local_ip log_id notes output_filters pool remote_host sbh
Apache2::ConnectionUtil Apache2::Connection: pnotes pnotes_kill
Apache2::Directive Apache2::Directive: args as_hash as_string conftree directive filename first_child line_num lookup next parent
Apache2::Filter -: MODIFY_CODE_ATTRIBUTES
Apache2::Filter APR::Brigade: filter_flush
Apache2::Filter Apache2::Connection: add_input_filter add_output_filter
Apache2::Filter Apache2::Filter: c ctx fflush frec get_brigade next pass_brigade PRINT print r read remove seen_eos TIEHANDLE
Apache2::Filter Apache2::RequestRec: add_input_filter add_output_filter
Apache2::FilterRec Apache2::FilterRec: name
Apache2::HookRun Apache2::RequestRec: die invoke_handler run_access_checker run_auth_checker run_check_user_id run_fixups run_handler
    run_header_parser run_log_transaction run_map_to_storage run_post_read_request run_translate_name run_type_checker
Apache2::Log -: LOG_MARK
Apache2::Log Apache2::Log: alert crit debug emerg error info log_pid notice warn
Apache2::Log Apache2::RequestRec: log log_error log_reason log_rerror warn
Apache2::Log Apache2::ServerRec: log log_error log_serror warn
Apache2::MPM Apache2::MPM: query
Apache2::Module Apache2::Module: add ap_api_major_version ap_api_minor_version cmds find_linked_module get_config loaded module_index name next
    remove_loaded_module top_module
Apache2::Process Apache2::Process: pconf pool short_name
Apache2::RequestIO Apache2::RequestRec: BINMODE CLOSE discard_request_body FILENO get_client_block GETC OPEN PRINT print PRINTF printf puts READ read
    rflush sendfile setup_client_block should_client_block TIEHANDLE UNTIE WRITE write
Apache2::RequestRec Apache2::RequestRec: allowed allowed_methods allowed_xmethods ap_auth_type args assbackwards bytes_sent connection
    content_encoding content_languages content_type err_headers_out filename finfo handler header_only headers_in headers_out hostname input_filters
    main method method_number mtime next no_local_copy notes output_filters path_info per_dir_config pool prev proto_input_filters proto_num
    proto_output_filters protocol proxyreq request_config request_time server status status_line subprocess_env the_request unparsed_uri uri
    used_path_info user useragent_addr useragent_ip
Apache2::RequestUtil Apache2::RequestRec: add_config as_string child_terminate dir_config document_root get_handlers get_limit_req_body
    get_server_name get_server_port is_initial_req is_perl_option_enabled location location_merge new no_cache pnotes pnotes_kill psignature
    push_handlers set_basic_credentials set_handlers slurp_filename
Apache2::RequestUtil Apache2::RequestUtil: get_status_line register_auth_provider request
Apache2::Response Apache2::RequestRec: custom_response make_etag meets_conditions rationalize_mtime send_cgi_header send_error_response send_mmap
    set_content_length set_etag set_keepalive set_last_modified update_mtime
Apache2::ServerRec Apache2::ServerRec: addrs context error_fname is_virtual keep_alive keep_alive_max keep_alive_timeout limit_req_fields
    limit_req_fieldsize limit_req_line lookup_defaults module_config names next path port process server_admin server_hostname server_scheme timeout
    wild_names
Apache2::ServerUtil Apache2::ServerRec: add_config add_version_component dir_config error_log2stderr get_handlers is_perl_option_enabled loglevel
    method_register push_handlers set_handlers
Apache2::ServerUtil Apache2::ServerUtil: exists_config_define get_server_banner get_server_description get_server_version group_id restart_count
    server server_root_relative server_shutdown_cleanup_register user_id
Apache2::SubProcess Apache2::RequestRec: spawn_proc_prog
Apache2::SubRequest Apache2::RequestRec: internal_fast_redirect internal_redirect internal_redirect_handler lookup_dirent lookup_file
    lookup_method_uri lookup_uri
Apache2::SubRequest Apache2::SubRequest: DESTROY run
Apache2::URI Apache2::RequestRec: construct_server construct_url parse_uri parsed_uri
Apache2::URI Apache2::URI: unescape_url
Apache2::Util Apache2::Util: escape_path ht_time
ModPerl::Global ModPerl::Global: special_list_call special_list_clear special_list_register
ModPerl::Util ModPerl::Util: current_callback current_perl_id unload_package_xs untaint
END

# mod_perl 1's methods that mod_perl 2 lacks: "name replacement word ...", where "-" means no replacement.
sub former { return split /\n/, <<'END' }
gensym              - perl makes a handle of its own for open my $fh
module              Apache2::Module::loaded
define              Apache2::ServerUtil::exists_config_define
httpd_conf          add_config
SERVER_VERSION      Apache2::ServerUtil::get_server_version
can_stack_handlers  - handlers can always be stacked
soft_timeout        - the server watches the time of a request
hard_timeout        - the server watches the time of a request
kill_timeout        - the server watches the time of a request
reset_timeout       - the server watches the time of a request
send_http_header    content_type the header leaves with the first of the body
header_in           headers_in which mod_perl 1 has, too
header_out          headers_out which mod_perl 1 has, too
err_header_out      err_headers_out which mod_perl 1 has, too
register_cleanup    cleanup_register of $r->pool
post_connection     cleanup_register of $r->connection->pool
content             - Apache2::Request and CGI have the parameters of a body, $r->read its bytes
clear_rgy_endav     special_list_clear
run_rgy_endav       special_list_call
stash_rgy_endav     - ModPerl::RegistryCooker keeps END blocks by itself
seqno               - $r->connection->keepalives counts the requests of a connection
chdir_file          - chdir() does it: a worker has one request at a time
send_fd             sendfile which takes a file's name, an offset and a length
send_fd_length      sendfile which takes a file's name, an offset and a length
is_main             main which is undef in a request that is no subrequest
cgi_var             subprocess_env which mod_perl 1 has, too
cgi_env             subprocess_env which mod_perl 1 has, too
each_byterange      - the server makes the ranges that a client asks for
set_byterange       - the server makes the ranges that a client asks for
tmpfile             - File::Temp makes temporary files
size_string         format_size
escape_uri          escape_path which takes a pool, too
escape_url          escape_path which takes a pool, too
unescape_uri        unescape_url
unescape_url_info   - CGI::Util::unescape() does it
escape_html         - CGI::escapeHTML() and HTML::Entities do it
parsedate           parse_http
validate_password   password_validate
END

1;

__END__

=head1 NAME

ModPerl::MethodLookup::Table - the methods of mod_perl 2 and the modules that have them

=head1 DESCRIPTION

The data of L<ModPerl::MethodLookup>.

=cut
