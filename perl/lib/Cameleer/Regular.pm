package Cameleer::Regular;

use v5.36;
use Errno qw(EINVAL EISDIR);
use Fcntl qw(O_RDONLY O_NONBLOCK O_NOCTTY);

# A handle on a regular file, to be read. False, with $!, for anything else: nobody waits for the other end of a pipe.
sub opened ($file) {
    sysopen my $handle, $file, O_RDONLY | O_NONBLOCK | O_NOCTTY or return;
    if ( -f $handle ) {
        binmode $handle;
        return $handle;
    }
    $! = -d _ ? EISDIR : EINVAL;    ## no critic: it is how a file that cannot be opened is told
    return;
}

1;

__END__

=head1 NAME

Cameleer::Regular - opens files that somebody else names

=head1 SYNOPSIS

    my $handle = Cameleer::Regular::opened($file) or die "$file: $!\n";

=head1 DESCRIPTION

C<open> waits for the other end of a named pipe, for ever if nobody comes, and reads devices without end.
C<Cameleer::Regular::opened> opens regular files and nothing else.

=cut
