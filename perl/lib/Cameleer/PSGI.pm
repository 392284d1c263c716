package Cameleer::PSGI;

use v5.36;

use Scalar::Util ();

# Plain responses never come here: the server sends [status, [headers], [strings]] from C. The primitives head, emit, flush
# and request are its XS.

sub load_file ($file) {
    -f $file or die "$file: no such file\n";
    my $package = 'Plack::Sandbox::' . $file =~ s/(\W)/sprintf '_%2x', ord $1/egr;
    local $0 = $file;
    # An eval that ends well forgets what `do` left in $@.
    my $app = eval sprintf 'package %s; my $app = do %s; die $@ if $@; $app', $package, quoted($file);    ## no critic: loading code is the job
    return application( $app, $file );
}

sub load_code ($code) {
    my $app = eval "package main; no strict; no warnings; $code";            ## no critic: `-e CODE`
    return application( $app, '-e' );
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

# Everything but the plain response.
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

# Whose next piece never has to be waited for: all others may want the client to see what they have said so far.
sub is_file ($body) {
    my $type = Scalar::Util::reftype($body);
    return $type && ( $type eq 'GLOB' || $type eq 'IO' ) && !tied *$body && -f $body;
}

sub delayed ($callback) {
    my $answered;
    my $request = request();
    $callback->(
        sub ($response) {
            $request == request() or die "PSGI: this request is over: its responder was kept and called later\n";
            $answered++ and die "PSGI: the responder was called twice\n";
            return whole($response) if @$response == 3;
            head( @$response[ 0, 1 ] );
            return bless { request => $request }, 'Cameleer::PSGI::Writer';
        }
    );
    $answered or die "PSGI: the application returned before it called its responder (psgi.nonblocking is false)\n";
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
    die "PSGI: this request is over: its writer was kept and used later\n";
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

sub poll_cb { die "PSGI: poll_cb needs psgi.nonblocking, which this server does not offer\n" }

1;

__END__

=head1 NAME

Cameleer::PSGI - the forms of PSGI responses that need Perl

=head1 DESCRIPTION

PSGI 1.1 with psgi.streaming, psgix.input.buffered, psgix.cleanup, psgix.harakiri and psgix.informational. psgix.io is
not offered: the client's connection belongs to another process, so the key is absent and an application that needs it
must say so.

=head2 Long responses

A body that is an object is sent piece by piece, as its C<getline> returns; a file is gathered to large pieces.

C<< $writer->write >> returns false when nobody waits for the rest any more: the client has left.

=head2 What is kept

A responder, a writer, C<psgi.input>, C<psgix.informational> and C<cameleer.extend_timeout> belong to their request. One that
an application keeps, say in a timer, dies when it is used after that: a later request of the same worker is another client's.
C<psgi.errors> is the error log and stays valid.

=head2 Slow requests

C<< $env->{'cameleer.extend_timeout'}->(SECONDS) >> gives this request more time than C<RequestTimeout>. A request that does
not ask for it dies when that has passed, wherever it is; an C<eval> around the slow part can catch this once, to clean up,
before C<RequestTimeoutGrace> ends the process.

=head2 What is printed

The answer is what the application returns. What it prints to STDOUT meanwhile stands in the error log, line by line like
warnings; what programs print that it starts goes there straight, as on STDERR. The same holds for its cleanup handlers.

=head2 The environment

What an application puts into C<%ENV> is gone at the next request; what it finds there is what the start-up steps left.

C<$ENV{MOD_PERL}> is there if any part of the site is answered by a mod_perl handler, also while a F<.psgi> file is loaded
and in its requests. Modules that ask for it, such as L<CGI>, do so once per interpreter: if it depended on who loads them
first, C<< CGI->new->header >> in a handler would print its header into the page after an application had loaded CGI.
Applications take L<CGI::PSGI>, which does not look at it; a site that is PSGI alone never has it.

=cut
