package Cameleer::Regular;

use v5.36;
use Errno qw(EINVAL EISDIR);
use Fcntl qw(O_RDONLY O_NONBLOCK O_NOCTTY);

# Opens a regular file for reading. Returns false, with $!, for other files: opening a pipe would wait for its
# other end.
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

Cameleer::Regular - opens regular files only

=head1 SYNOPSIS

    my $handle = Cameleer::Regular::opened($file) or die "cannot open $file: $!\n";

=head1 DESCRIPTION

C<open> waits, possibly forever, for the other end of a named pipe, and reads devices without end.
C<Cameleer::Regular::opened> opens only regular files.

=cut
