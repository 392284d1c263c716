package Apache;

use v5.36;
use Exporter ();
use Cameleer::XS ();

use Apache::Connection ();
use Apache::Constants  ();
use Apache::Log        ();
use Apache::Phases     ();
use Apache::Server     ();
use Apache::Table      ();
use Cameleer::Regular  ();
use mod_perl           ();

our $VERSION = '1.27';

Cameleer::XS::load(__PACKAGE__);
Cameleer::XS::load(qw(Apache::Body Apache::Response));

# PerlTaintCheck
our $__T = ${^TAINT} ? 1 : 0;

our @EXPORT_OK = qw(exit warn);
*import = \&Exporter::import;

@Apache::SubRequest::ISA = 'Apache';

# %PNOTES, by the record's number, and @CLEANUPS live for one client's request: the server calls run_cleanups at
# its end.
our ( %PNOTES, @CLEANUPS );

# Undo actions for handlers left by exit or die, each with the number of its request: the server then calls unwind.
our @UNWIND;

# --- the request line and the arguments

sub args {
    my $r = shift;
    return parse_args( wantarray, $r->query_string(@_) );
}

sub as_string ($r) {
    my $out = $r->the_request . "\n";
    $r->headers_in->do( sub ( $name, $value ) { $out .= "$name: $value\n" } );
    $out .= "\n" . $r->protocol . ' ' . ( $r->status_line // $r->status ) . "\n";
    for my $table ( scalar $r->headers_out, scalar $r->err_headers_out ) {
        $table->do( sub ( $name, $value ) { $out .= "$name: $value\n" } );
    }
    return "$out\n";
}

# Without a PerlTransHandler that sets a file, the filename is the URI, which is no file.
sub finfo ($r) {
    stat( has_file($r) ? $r->filename : '' );
    return \*main::_;
}

sub is_main        { return !defined $_[0]->main }
sub is_initial_req { return !defined $_[0]->main && !defined $_[0]->prev }

sub last ($r) {
    while ( my $later = $r->next ) { $r = $later }
    return $r;
}

# --- the body, which STDIN holds: see Apache-body.xs

# A tie of STDIN takes precedence over the body: Apache::ASP has read the body, and passes it to CGI.pm by such
# a tie. The tie itself reads the real body.
our $ASKED;

sub read {
    my $tied = $ASKED ? undef : tied *STDIN;
    goto &read_body if !$tied || $tied->isa('Apache') || !$tied->can('READ');
    local $ASKED = 1;
    return $tied->READ( $_[1], $_[2], $_[3] // 0 );
}

sub setup_client_block  { return Apache::Constants::OK() }
sub should_client_block { return $_[0]->body_length > 0 ? 1 : 0 }

sub content ($r) {
    my $type = header_in( $r, 'Content-Type' ) // '';
    return unless $type =~ m{\Aapplication/x-www-form-urlencoded}i;
    my $body = '';
    $r->read( $body, $r->body_length );
    return parse_args( wantarray, $body );
}

# --- the response

sub printf {
    my ( $r, $format, @values ) = @_;
    return $r->print( sprintf $format, @values );
}
*PRINTF = \&printf;

sub write {
    my ( $r, $buffer, $length, $offset ) = @_;
    $buffer = substr $buffer, $offset // 0, $length if defined $length;
    $r->print($buffer);
    return length $buffer;
}
*WRITE = \&write;

# Reopening the handle ends `tie *STDOUT, 'Apache'`.
sub TIEHANDLE ( $class, $r = Apache->request ) { return $r }
sub CLOSE     { return 1 }
sub BINMODE   { return 1 }
sub FILENO    { return 1 }

sub OPEN ( $r, $mode, @name ) {
    no warnings 'untie';    # $r itself is a reference to the tied object
    untie *STDOUT;
    return @name ? open( STDOUT, $mode, @name ) : open STDOUT, $mode;    ## no critic: the caller's words
}

# Sends the handle's content from its current position, to the end or up to `length` bytes. Returns the number
# of bytes.
sub send_fd ( $r, $handle, $length = -1 ) {
    my $sent = 0;
    while ( $length < 0 || $sent < $length ) {
        my $next = $length < 0 || $length - $sent > 65536 ? 65536 : $length - $sent;
        my $got = CORE::read( $handle, my $chunk, $next ) or last;
        $r->print($chunk) or last;
        $sent += $got;
    }
    return $sent;
}

# One language or several, as in the header.
sub content_language ( $r, @new ) { return scalar $r->header_out( 'Content-Language', @new ) }

sub content_languages ( $r, @new ) {
    my $before = $r->content_language( map { join ', ', @$_ } @new );
    return defined $before ? [ split /,\s*/, $before ] : undef;
}

sub subprocess_env {
    my $r = shift;
    return env_table( $r, @_ ) if @_ || defined wantarray;
    my %added = cgi_env($r);
    @ENV{ keys %added } = values %added;
    return;
}

# --- the client

# Returns (OK, password), or (status, undef); the user's name is then in $r->connection->user.
sub get_basic_auth_pw ($r) {
    my $type = auth_type($r);
    return ( Apache::Constants::DECLINED(), undef ) if defined $type && lc $type ne 'basic';
    my $given = header_in( $r, $r->proxyreq ? 'Proxy-Authorization' : 'Authorization' );
    if ( !defined $given || $given !~ /\A\s*Basic\s+([^\s,]+)/i ) {
        note_basic_auth_failure($r);
        return ( Apache::Constants::AUTH_REQUIRED(), undef );
    }
    require MIME::Base64;
    my ( $user, $password ) = split /:/, MIME::Base64::decode_base64($1), 2;
    Apache->untaint($password);    # as in mod_perl 1.31, where the password comes from httpd
    my $c = connection($r);
    Apache::Connection::user( $c, $user // '' );
    Apache::Connection::auth_type( $c, 'Basic' );
    return ( Apache::Constants::OK(), $password // '' );
}

# Sets the challenge header for a 401.
sub note_basic_auth_failure ($r) {
    my $name  = auth_name($r) // '';
    my $field = $r->proxyreq ? 'Proxy-Authenticate' : 'WWW-Authenticate';
    $r->err_headers_out->set( $field => 'Basic realm="' . $name =~ s/(["\\\\])/\\$1/gr . '"' );
    return;
}

# --- values that live as long as the request

sub pnotes {
    my $r = shift;
    $r->want_cleanup;
    my $notes = $PNOTES{ $r->number } //= {};
    return $notes unless @_;
    my $before = $notes->{ $_[0] };
    $notes->{ $_[0] } = $_[1] if @_ > 1;
    return $before;
}

sub register_cleanup ( $r, $code ) {
    $r->want_cleanup if Apache->request;
    push @CLEANUPS, [ $code, ref $r ? $r->number : 0 ];
    return;
}
sub post_connection { goto &register_cleanup }

# --- phases: see Apache::Phases

# The server calls this after the response, and again if a cleanup called exit or died.
sub run_cleanups {
    while ( my $cleanup = shift @CLEANUPS ) { _clean_up( Apache->request, $cleanup->[0] ) }
    return;
}

sub _clean_up ( $r, $code ) {
    return eval { Apache::Phases::call( $r, $code ); 1 } || log_error($@);
}

# A subrequest ends with the object that lookup_uri returned: its cleanups run then, not at the end of the main
# request. CGI.pm needs this to forget a script's parameters before the next script reads its own.
sub Apache::SubRequest::DESTROY ($sub) {
    return unless @CLEANUPS && Apache->request;
    local ( $@, $!, $? );
    my $number = $sub->number;
    my @own = grep { $_->[1] == $number } @CLEANUPS or return;
    @CLEANUPS = grep { $_->[1] != $number } @CLEANUPS;
    _clean_up( $sub, $_->[0] ) for @own;
    return;
}

# The server calls this at the end of a request.
sub forget {
    %PNOTES = ();
    %@      = ();
    Apache::Phases::forget();
    return;
}

# The server calls this when a handler died: the error handler finds the text in `$@{$r->prev->uri}`.
sub _remember ($error) {
    my $r = Apache->request;
    want_cleanup($r);
    $@{ uri($r) } = $error;
    return;
}

# The server calls this when exit or die left a handler, before it finishes the response.
sub unwind {
    my $number = Apache->request->number;
    while ( @UNWIND && $UNWIND[-1][0] == $number ) { pop(@UNWIND)->[1]->() }
    return;
}

# Ends the request, or the process. DONE makes the worker leave after this request.
sub exit {    ## no critic: the name is the API's
    my $code = @_ && !ref $_[-1] ? $_[-1] : 0;
    $code = 0 if $code eq 'Apache';
    Apache->child_terminate if $code == Apache::Constants::DONE() && Apache->request;
    CORE::exit( $code < 0 ? 0 : $code );
}

# --- the error log

sub log_error { return Apache::Log::_write( 3, @_ ) }
sub warn      { return Apache::Log::_write( 4, @_ ) }    ## no critic: the name is the API's
sub log ($r)  { return Apache::Log->new($r) }

sub log_reason ( $r, $reason, $file = $r->uri ) {
    return $r->log_error( "access to $file failed for " . $r->get_remote_host . ", reason: $reason" );
}

# --- the client and the process; for the server's own values see Apache::Server

# No identd is queried, so the name is never known.
sub get_remote_logname ($r) { return Apache::Connection::remote_logname( connection($r) ) }

# The name that the front has looked up; for REMOTE_DOUBLE_REV, a name whose addresses include the client's.
sub get_remote_host ( $r, $type = Apache::Constants::REMOTE_NAME() ) {
    my $c = connection($r);
    return Apache::Connection::verified_host($c) if $type == Apache::Constants::REMOTE_DOUBLE_REV();
    my $name = Apache::Connection::remote_host($c);
    return $type == Apache::Constants::REMOTE_HOST() ? $name : $name // Apache::Connection::remote_ip($c);
}

sub chdir_file ( $r, $file = $r->filename ) {
    return chdir( $file =~ s{/[^/]*\z}{}r || '/' );
}

sub slurp_filename ($r) {
    my $handle = Cameleer::Regular::opened( $r->filename ) or _croak( $r->filename . ": $!" );
    local $/ = undef;
    my $text = <$handle>;
    return \$text;
}

sub gensym {
    require Symbol;
    return Symbol::gensym();
}

# --- timers

sub soft_timeout ( $r, $what ) { return _timeout( start => $r, $what, 0 ) }
sub hard_timeout ( $r, $what ) { return _timeout( start => $r, $what, 1 ) }
sub kill_timeout  ($r)         { return _timeout('stop') }
sub reset_timeout ($r)         { return _timeout('again') }

sub _timeout ( $what, @arguments ) {
    require Apache::Timeout;
    return Apache::Timeout->can($what)->(@arguments);
}

sub _croak ($message) {
    require Carp;
    Carp::croak($message);
}

1;

__END__

=head1 NAME

Apache - the request object of mod_perl 1.x

=head1 SYNOPSIS

    package My::Handler;
    use Apache::Constants qw(:common);

    sub handler {
        my $r    = shift;
        my %args = $r->args;
        $r->send_http_header('text/plain');
        return OK if $r->header_only;
        $r->print("Hello, $args{name}\n");
        return OK;
    }

=head1 DESCRIPTION

C<$r> is the request that this process answers now; C<< Apache->request >> returns it anywhere.
Names, return values and contexts are those of mod_perl 1.31. A setter returns the old value.

=head2 The request

C<the_request uri unparsed_uri args query_string method method_number protocol proxyreq header_only hostname filename path_info
script_name finfo headers_in header_in read content location handler allow_options request_time connection server dir_config
subprocess_env cgi_env cgi_var document_root server_root_relative get_server_name get_server_port virtual_host get_remote_host
user auth_type is_main is_initial_req main prev next last as_string requires satisfies some_auth_required auth_name allowed>

C<read> has httpd's companions C<setup_client_block should_client_block get_client_block
read_client_block>. C<content> is the body of a form, in list context its names and values;
C<parse_args(WANTS_LIST, TEXT)> parses such a text, C<unescape_url> and C<unescape_url_info> decode
one. C<body_length> is the length of the body, independent of headers.

C<requires> is a reference to a list of C<< { method_mask => -1, requirement => 'user ana ben' } >>,
one for each line of C<Require>, or undef. C<auth_type> and C<auth_name> are the configured ones;
C<< $r->connection->auth_type >> is the scheme by which the client was authenticated.

In list context C<args>, C<content>, C<headers_in>, C<headers_out>, C<err_headers_out> and
C<dir_config> return alternating names and values.

C<content_type>, unless a handler has set it, is the MIME type by the file's name (C<AddType>,
C<TypesConfig>), for subrequests and for handlers that run before the response. The response has the
type that a handler sets, else C<DefaultType>.

C<lookup_uri(URI)> and C<lookup_file(FILE)> run the phases of a subrequest up to Fixup and return
its object. Its C<run> adds the subrequest's output to this response. C<internal_redirect(URI)> lets
another request respond instead of this one; C<internal_redirect_handler> also keeps the content
type.

C<get_basic_auth_pw> returns a status and the password; the name is then in C<< $r->connection->user
>>. If the client has sent none, it returns C<AUTH_REQUIRED> and calls C<note_basic_auth_failure>,
which sets the challenge.

C<translate_name> finds the C<filename> for the current C<uri>, with the PerlTransHandlers; it
returns OK or the status of the handler that ended the phase.

=head2 The response

C<status status_line content_type content_encoding content_language content_languages headers_out header_out err_headers_out err_header_out no_cache
send_http_header send_cgi_header basic_http_header cgi_header_out print printf write write_client send_fd rflush bytes_sent
sent_header>

C<custom_response(STATUS, RESPONSE)> sets the response to an error of that status: a text, a path of
this server, or a URL. It returns the old one, set by C<ErrorDocument> or by code; a text has a
quotation mark in front. C<undef> removes the response that code has set.

=head2 The rest

C<notes pnotes register_cleanup post_connection child_terminate exit log_error log_reason warn log gensym module define
httpd_conf chdir_file slurp_filename soft_timeout hard_timeout kill_timeout reset_timeout extend_timeout
add_version_component seqno taint untaint>

C<push_handlers(PHASE, CODE...)> adds handlers to this request's phase, C<set_handlers(PHASE,
[CODE...])> replaces them, C<get_handlers(PHASE)> returns a reference to their list.
C<current_callback> is the running phase, C<dispatcher> the value of C<PerlDispatchHandler>.
C<can_stack_handlers> is true; C<perl_hook(NAME)> tells whether a phase of that name exists.

C<soft_timeout(WHAT)> and C<hard_timeout(WHAT)> start an alarm of C<Timeout> seconds,
C<reset_timeout> restarts it, C<kill_timeout> stops it. After the alarm, further output is dropped;
C<hard_timeout> also ends the handler.

C<extend_timeout(SECONDS)> extends the directive C<RequestTimeout> for this request, up to
C<RequestTimeoutLimit>. When the time has passed, the handler dies; an C<eval> can catch this once,
to clean up, before C<RequestTimeoutGrace> ends the process.

C<print> returns false when the client has disconnected, and C<< $r->connection->aborted >> returns true. A handler that
continues to print is ended at the next output, as by C<exit>.

=head1 DIFFERENCES

=over

=item * A C<$r> that is used after its request dies; mod_perl 1 crashed or read another request.

=item * A handler that prints without C<send_http_header> gets a head nevertheless, made from
C<status>, C<content_type> and C<headers_out> when the first bytes leave.

=item * C<die 404> and C<exit 403> answer with that status, as in mod_perl 1, from 300 on; other
numbers have no special meaning.

=item * C<args> in list context keeps a value that contains C<=> whole; mod_perl 1 split it.

=item * C<get_remote_logname> is undef: the server asks no ident services.

=item * C<< $r->document_root(PATH) >> is for this request only.

=item * The client's descriptor is not available: C<< $r->connection->fileno >> is the descriptor
whose output is added to the response.

=back

=cut
