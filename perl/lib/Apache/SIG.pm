package Apache::SIG;

use v5.36;

use Apache            ();
use Apache::Constants qw(DECLINED);

# PerlFixupHandler: SIGPIPE ends the request.
sub handler {
    my $r = $_[-1];
    set();
    $r->register_cleanup( \&unset );
    return DECLINED;
}

my ( $is_set, $before );

sub set {
    ( $is_set, $before ) = ( 1, $SIG{PIPE} ) if !$is_set;
    $SIG{PIPE} = \&PIPE;    ## no critic: unset puts it back
    return;
}

sub unset {
    $SIG{PIPE} = $before // 'DEFAULT' if $is_set;    ## no critic
    $is_set = 0;
    return;
}

# Whoever read what this request wrote has gone.
sub PIPE {
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

=head1 DIFFERENCES

A client that leaves is the front's business and no signal here.

=cut
