package Cameleer::Outside;

use v5.36;
use Carp ();

use Cameleer::Outside::Log    ();
use Cameleer::Outside::Server ();
use Cameleer::Outside::Text   ();

# Names that the server's compiled half defines. A name without an implementation in a package below
# Cameleer::Outside needs a request, and dies when it is called.
my %NAMES = (
    'Apache' => [ qw(
        request connection server uri the_request protocol method unparsed_uri query_string filename path_info script_name
        hostname get_server_name content_type content_encoding status_line user auth_type auth_name handler virtual_host
        current_callback dispatcher document_root location status method_number header_only no_cache sent_header bytes_sent
        request_time get_server_port allow_options body_length satisfies some_auth_required allowed expects_header has_file
        proxyreq requires number _speak _perl_options _add_cgi_variables _add_config _merge_location main prev next lookup_uri lookup_file translate_name internal_redirect
        internal_redirect_handler custom_response _stack_touched _configured headers_in headers_out err_headers_out header_in
        header_out err_header_out notes env_table dir_config cgi_env cgi_var extend_timeout want_cleanup child_terminate
        parse_args unescape_url unescape_url_info seqno taint untaint
    ) ],
    'Apache::Body'       => [qw(read_body READ get_client_block read_client_block READLINE GETC)],
    'Apache::Response'   => [
        qw(print PRINT write_client _write_client rflush _rflush _said_to_nobody send_http_header send_cgi_header cgi_header_out basic_http_header give_up _filter_response
            _filter_body _write_filtered _flush_filtered _filter_failed _run_hook _die)
    ],
    'Apache::SubRequest' => [qw(run)],
    'Apache::Connection' => [qw(remote_ip remote_host local_ip user auth_type aborted remote_port local_port)],
    'Apache::Leak'       => [qw(NoteSV count arenas)],
    'Apache::Log'        => [qw(write)],
    'Apache::Registry'   => [qw(go_home look mtime enter words take_end_blocks _take_end_blocks_of output _is_forked_child)],
    'Apache::Request'    => [
        qw(param innermost parse_form multipart_begin multipart_feed multipart_next memory_file)
    ],
    'Apache::Server' => [ qw(
        server_hostname server_admin server_root server_software document_root error_fname port is_virtual timeout_said loglevel
        next variables sections aliases add_version_component _perl_options
    ) ],
    'Apache::Table' => [
        qw(new get FETCH EXISTS set STORE add merge unset DELETE clear CLEAR FIRSTKEY NEXTKEY do apr)
    ],
    'Apache::Util'  => [qw(escape_html escape_uri)],
    'Apache2::Filter' => [qw(read print PRINT _text_brigade _empty_brigade _write_text _filter_response)],
    'B::TerseSize'  => [qw(value_size op_sizes)],
    'Cameleer::Broadcast'            => [qw(_publish _subscribed _presence)],
    'Cameleer::Event'                => [qw(descriptor ready begins ends tick _orders)],
    'Cameleer::ModPerl2'             => [qw(of_request kept_of is_early)],
    'Cameleer::Preload'              => [qw(_values_with _reads_pid _draws _stops_timers)],
    'Cameleer::ModPerl2::RequestRec' => [qw(print puts headers_in headers_out err_headers_out notes set_content_length clength)],
);

# Parts of a package in several files, and packages that come with another.
my %OF   = ( 'Apache::Body' => 'Apache',             'Apache::Response'   => 'Apache' );
my %WITH = ( 'Apache'       => 'Apache::SubRequest', 'Cameleer::ModPerl2' => 'Cameleer::ModPerl2::RequestRec' );

sub stand_in ($part) {
    my $package = $OF{$part} // $part;
    define( $package, $_ ) for @{ $NAMES{$part} };
    if ( my $beside = $WITH{$part} ) { define( $beside, $_ ) for @{ $NAMES{$beside} } }
    return;
}

sub define ( $package, $name ) {
    my $own = __PACKAGE__ . "::${package}::$name";
    no strict 'refs';
    *{"${package}::$name"}
        = defined &$own ? \&$own : sub { Carp::croak("${package}::$name needs a request: it runs under cameleer") };
    return;
}

1;

__END__

=head1 NAME

Cameleer::Outside - modules of the Apache:: API in a plain perl

=head1 SYNOPSIS

    % perl -MApache::Util=escape_html -e 'print escape_html("<b>")'
    % perl -c lib/My/Handler.pm

=head1 DESCRIPTION

C<perl -c> and unit tests load the API's modules outside the server. Constants work, and functions
that depend only on their arguments return the same as in a worker; C<Apache-E<gt>request> is undef;
log lines go to STDERR; the working directory is the ServerRoot. Functions that need a request die
with a message that names them. To call a handler with a request object, use L<Apache::FakeRequest>.

=cut
