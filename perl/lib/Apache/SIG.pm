package Apache::SIG;

use v5.36;

use Apache            ();
use Apache::Constants qw(DECLINED);

# The request's variable for the access log: %{SIGPIPE}e is 1 if the response was not read to its end.
our $PipeKey = 'SIGPIPE';

# PerlFixupHandler: makes SIGPIPE end the request.
sub handler {
    my $r = $_[-1];
    set();
    $r->push_handlers( PerlLogHandler => sub ($r) { note($r) if $r->connection->aborted; return DECLINED } ) if $r->is_main;
    return DECLINED;
}

sub note ($r) { return $r->subprocess_env( $PipeKey => 1 ) }

my ( $is_set, $before );

sub set {
    return if $is_set;
    ( $is_set, $before ) = ( 1, $SIG{PIPE} );
    $SIG{PIPE} = \&PIPE;    ## no critic: unset puts it back
    Apache->request->register_cleanup( \&unset );
    return;
}

sub unset {
    return if !$is_set;
    $is_set = 0;
    return delete $SIG{PIPE} if !defined $before;
    $SIG{PIPE} = $before;    ## no critic: as it was
    return;
}

# SIGPIPE: the reader of this request's output has gone.
sub PIPE {
    note( Apache->request );
    Apache::warn('Apache::SIG: pid=' . $$ . ' SIGPIPE: the reader has gone, the request ends');
    return Apache->exit;
}

1;

__END__

=head1 NAME

Apache::SIG - ends a request after SIGPIPE

=head1 SYNOPSIS

    PerlFixupHandler Apache::SIG

    use Apache::SIG ();
    Apache::SIG->set;    # in a script; or Apache::SIG::set

=head1 DESCRIPTION

When a program that the request writes to through a pipe has ended, perl gets SIGPIPE, the error is logged, and the
request ends.

As a handler, it also checks in the log phase whether the client has left before the end. In both
cases C<%{SIGPIPE}e> in C<LogFormat> is 1, otherwise C<->. C<$Apache::SIG::PipeKey> sets another
name.

=head1 DIFFERENCES

A client that disconnects causes no signal, because the front has its socket: the handler continues until it checks
C<aborted>, or until it prints. The first output fails, the second one ends the handler.

=cut
