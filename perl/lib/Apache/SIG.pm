package Apache::SIG;

use v5.36;

use Apache            ();
use Apache::Constants qw(DECLINED);

# The variable of the request by which a log tells that nobody read the answer to its end: %{SIGPIPE}e.
our $PipeKey = 'SIGPIPE';

# PerlFixupHandler: SIGPIPE ends the request.
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

# Whoever read what this request wrote has gone.
sub PIPE {
    note( Apache->request );
    Apache::warn('Apache::SIG: pid=' . $$ . ' SIGPIPE: nobody reads any more, the request ends');
    return Apache->exit;
}

1;

__END__

=head1 NAME

Apache::SIG - ends a request that writes to nobody

=head1 SYNOPSIS

    PerlFixupHandler Apache::SIG

    use Apache::SIG ();
    Apache::SIG->set;    # in a script; or Apache::SIG::set

=head1 DESCRIPTION

When a program that the request writes to by a pipe has ended, SIGPIPE comes: a line in the error log, and the request
ends.

As a handler it also looks, in the log phase, whether the client has left before the end. For both C<LogFormat> has
C<%{SIGPIPE}e>: 1 then, C<-> else. C<$Apache::SIG::PipeKey> is another name for it.

=head1 DIFFERENCES

A client that leaves is the front's business and no signal here: the handler goes on until it asks C<aborted>, or what it
prints is refused.

=cut
