package Cameleer::PSGI;

use v5.36;

use Scalar::Util ();

# The class that loads applications in a pool with an event loop: Cameleer::Event.
our $loader;

# Plain responses do not reach this module: the server sends [status, [headers], [strings]] from C. The
# primitives head, emit, flush and request are XS functions of the server.

sub load_file ($file) {
    return $loader ? $loader->load_file($file) : application( evaluate_file($file), $file );
}

sub load_code ($code) {
    return $loader ? $loader->load_code($code) : application( evaluate_code($code), '-e' );
}

# The value of the file, which may be undef; $@ has the error.
sub evaluate_file ($file) {
    -f $file or die "$file: no such file: correct the path, which starts at ServerRoot if it is relative\n";
    my $package = 'Plack::Sandbox::' . $file =~ s/(\W)/sprintf '_%2x', ord $1/egr;
    local $0 = $file;
    # A successful eval clears the $@ that `do` has set.
    return scalar eval sprintf 'package %s; my $app = do %s; die $@ if $@; $app', $package, quoted($file);    ## no critic: loading code is the job
}

sub evaluate_code ($code) {
    return scalar eval "package main; no strict; no warnings; $code";    ## no critic: `-e CODE`
}

sub quoted ($file) {
    my $text = $file =~ s/([\\'])/\\$1/gr;
    return "'" . ( $file =~ m{\A/} ? $text : "./$text" ) . "'";
}

sub application ( $app, $source ) {
    die $@ if $@;
    die "$source: $!\n" unless defined $app || !$!;
    return $app if ref $app && ( ref $app eq 'CODE' || eval { \&$app } );
    if ( ref $app && $app->can('to_app') ) { return $app->to_app }
    die "$source: its last value is not a PSGI application (a code reference)\n";
}

# Sends every response except the plain form.
sub respond ( $response, $env ) {
    # \&"name" would be a reference, too.
    if ( ref $response eq 'CODE' || ( ref $response && ref $response ne 'ARRAY' && eval { \&$response } ) ) {
        return delayed($response);
    }
    return whole($response);
}

sub whole ($response) {
    ref $response eq 'ARRAY' && @$response == 3 or die 'PSGI: the application returned ' . described($response) . ", not a response\n";
    my ( $status, $headers, $body ) = @$response;
    head( $status, $headers );
    send_body($body);
    return;
}

sub described ($value) {
    return 'undef' unless defined $value;
    return ref $value ? 'a ' . ref $value : 'the string "' . substr( $value, 0, 40 ) . '"';
}

sub send_body ($body) {
    if ( ref $body eq 'ARRAY' ) {
        emit($_) for grep { defined } @$body;
        return;
    }
    local $/ = \65536;
    my $is_file = is_file($body);
    while ( defined( my $chunk = $body->getline ) ) {
        emit($chunk);
        $is_file || flush() || last;
    }
    $body->close;
    return;
}

# Whether the body is a regular file. Its pieces may be combined into larger writes; those of other bodies may come
# slowly, so each is sent immediately.
sub is_file ($body) {
    my $type = Scalar::Util::reftype($body);
    return $type && ( $type eq 'GLOB' || $type eq 'IO' ) && !tied *$body && -f $body;
}

sub delayed ($callback) {
    my $answered;
    my $request = request();
    $callback->(
        sub ($response) {
            $request == request() or die "PSGI: this request is over: its responder cannot be called any more\n";
            $answered++ and die "PSGI: the responder was called twice\n";
            return whole($response) if @$response == 3;
            head( @$response[ 0, 1 ] );
            return bless { request => $request }, 'Cameleer::PSGI::Writer';
        }
    );
    $answered or die "PSGI: the application returned without calling its responder; psgi.nonblocking is false\n";
    return;
}

sub cleanup ($env) {
    for my $handler ( @{ $env->{'psgix.cleanup.handlers'} } ) {
        eval { $handler->($env); 1 } or warn $@;
    }
    return;
}

package Cameleer::PSGI::Writer;

sub still_current ($self) {
    return if $self->{request} == Cameleer::PSGI::request();
    die "PSGI: this request is over: its writer cannot be used any more\n";
}

sub write ( $self, $chunk ) {
    $self->still_current;
    die "PSGI: write after close\n" if $self->{closed};
    Cameleer::PSGI::emit($chunk);
    return Cameleer::PSGI::flush();
}

sub close ($self) {
    $self->still_current;
    $self->{closed} = 1;
    return;
}

sub poll_cb { die "PSGI: poll_cb needs psgi.nonblocking; give the place a pool with PsgiMode event\n" }

1;

__END__

=head1 NAME

Cameleer::PSGI - the forms of PSGI responses that need Perl

=head1 DESCRIPTION

PSGI 1.1 with psgi.streaming, psgix.input.buffered, psgix.cleanup, psgix.harakiri and
psgix.informational. psgix.io is not supported, because another process has the client's connection:
the key is absent. In pools with C<PsgiMode event> L<Cameleer::Event::PSGI> serves applications.

=head2 Long responses

A body object is sent piece by piece, as its C<getline> returns; pieces of a file are gathered into
larger ones.

C<< $writer->write >> returns false when the client has disconnected, or wants no body (HEAD). An application that
continues to write for a disconnected client dies with C<PSGI: the client has left>. An application that catches this
three times is ended.

=head2 Lifetime of objects

A responder, a writer, C<psgi.input>, C<psgix.informational> and C<cameleer.extend_timeout> belong
to their request. If an application keeps one, for example in a timer, it dies when it is used after
the request: a later request of the worker belongs to another client. C<psgi.errors> is the error
log, and stays valid.

=head2 Slow requests

C<< $env->{'cameleer.extend_timeout'}->(SECONDS) >> extends C<RequestTimeout> for this request, up to
C<RequestTimeoutLimit>. Otherwise the request dies when the time has passed; an C<eval> around the
slow part can catch this once, to clean up, before C<RequestTimeoutGrace> ends the process.

=head2 Printed output

The response is the application's return value. Output to STDOUT goes to the error log, line by
line, like warnings; output of programs that the application starts goes there directly, like
STDERR. The same applies to cleanup handlers.

=head2 The environment

Variables that an application sets in C<%ENV> are removed before the next request; each request
starts with the C<%ENV> of the start-up code.

C<$ENV{MOD_PERL}> exists if any part of the site has a mod_perl handler, also while a F<.psgi> file
is loaded and in its requests. Modules that check it, such as L<CGI>, do so once per interpreter. If
it depended on the module that loads CGI first, C<< CGI->new->header >> in a handler could print its
header into the page. Applications can use L<CGI::PSGI>, which does not check it. A site with PSGI
only never has the variable.

=cut
