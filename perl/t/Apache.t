# Every method of the 1.x API exists. Other tests check their results.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %NAMES = (
    Apache => [ qw(
        request as_string main prev next last is_main is_initial_req method method_number bytes_sent the_request proxyreq
        header_only protocol hostname request_time uri filename finfo location path_info args query_string headers_in
        header_in content read get_client_block setup_client_block should_client_block read_client_block READ READLINE
        GETC get_remote_host get_remote_logname user connection server dir_config auth_type document_root
        server_root_relative allow_options get_server_port get_server_name push_handlers can_stack_handlers
        current_callback perl_hook send_http_header basic_http_header send_cgi_header cgi_header_out sent_header handler
        notes pnotes subprocess_env cgi_env cgi_var content_type content_encoding content_language content_languages
        status status_line headers_out header_out err_headers_out err_header_out no_cache print printf write write_client
        send_fd rflush soft_timeout hard_timeout kill_timeout reset_timeout extend_timeout post_connection register_cleanup
        child_terminate log_reason log_error warn log exit chdir_file slurp_filename gensym seqno clear_rgy_endav
        stash_rgy_endav taint untaint module define add_version_component unescape_url unescape_url_info parse_args
        TIEHANDLE PRINT PRINTF OPEN CLOSE FILENO BINMODE WRITE
        set_content_length set_last_modified set_etag meets_conditions update_mtime mtime discard_request_body
        set_byterange each_byterange parsed_uri
        allowed lookup_uri lookup_file get_handlers set_handlers requires satisfies some_auth_required auth_name
        get_basic_auth_pw note_basic_auth_failure internal_redirect internal_redirect_handler custom_response
        translate_name unparsed_uri httpd_conf
    ) ],
    'Apache::SubRequest' => [ qw(run lookup_uri content_type status filename) ],
    'Apache::Connection' =>
        [ qw(remote_host remote_ip remote_addr local_addr remote_logname user auth_type aborted fileno) ],
    'Apache::Server' => [ qw(server_admin server_hostname port is_virtual names dir_config next timeout uid gid error_fname
            register_cleanup log_error warn loglevel log) ],
    'Apache::Log'   => [ qw(emerg alert crit error warn notice info debug emergency critical DEBUG) ],
    'Apache::Table' => [ qw(new get set add unset merge do clear TIEHASH FETCH STORE DELETE EXISTS FIRSTKEY NEXTKEY CLEAR) ],
    'Apache::File'  => [ qw(new open tmpfile close) ],
    'Apache::URI'   => [ qw(parse unparse scheme hostinfo user password hostname path query fragment port path_info rpath) ],
    'Apache::Util'  => [ qw(escape_uri escape_html unescape_uri unescape_uri_info ht_time parsedate size_string
            validate_password) ],
    'Apache::ModuleConfig'   => [qw(get)],
    'Apache::CmdParms'       => [ qw(info GETC getline path server cmd override limited) ],
    'Apache::Constants'      => [ qw(export name OK) ],
    'Apache::Request'        => [ qw(new instance parse param parms query_params post_params upload expires) ],
    'Apache::Upload'         => [ qw(name filename fh size info type next tempname link) ],
    'Apache::Cookie'         => [ qw(new bake parse fetch as_string name value domain path expires secure) ],
    'Apache::Registry'       => [qw(handler)],
    'Apache::RegistryNG'     => [ qw(handler new namespace_from) ],
    'Apache::RegistryBB'     => [ qw(handler can_compile should_compile chdir_file) ],
    'Apache::RegistryLoader' => [ qw(new handler) ],
    'Apache::PerlRun'        => [ qw(new handler can_compile mark_line sub_wrap cached should_compile set_mtime compile run
            status namespace_from namespace readscript error_check parse_cmdline chdir_file set_script_name
            flush_namespace) ],
    'Apache::PerlRunXS' => [ qw(handler new) ],
);

package My::Names {
    sub handler ($r) {
        for my $package ( keys %NAMES ) {
            $package->isa('Apache') or eval "require $package; 1" or print "$package: $@\n";    ## no critic: the names stand above
        }
        for my $package ( sort keys %NAMES ) {
            my @missing = grep { !$package->can($_) } @{ $NAMES{$package} };
            print "$package lacks @missing\n" if @missing;
        }
        no warnings 'once';
        print "$Apache::Server::Starting $Apache::Server::ReStarting $Apache::__T $ENV{MOD_PERL} $mod_perl::VERSION\n";
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END_OF_CONF');
<Location /names>
    SetHandler perl-script
    PerlHandler My::Names
</Location>
END_OF_CONF

my $taint = TestServer::is_tainted();
is $server->get('/names')->{content}, "0 0 $taint mod_perl/1.31 1.31\n", 'no method is missing';

done_testing;
