package Cameleer::Captured;

use v5.36;

use POSIX ();

# Returns the output of perl's C code to descriptor 2 while `$code` runs.
sub stderr_of ($code) {
    open my $file, '+>', undef or die "cannot make a temporary file: $!\n";
    my $log  = POSIX::dup(2) // die "cannot duplicate STDERR: $!\n";
    POSIX::dup2( fileno $file, 2 );
    my $done  = eval { $code->(); 1 };
    my $error = $@;
    POSIX::dup2( $log, 2 );
    POSIX::close($log);
    die $error if !$done;
    seek $file, 0, 0;
    local $/ = undef;
    return scalar(<$file>) // '';
}

1;

__END__

=head1 NAME

Cameleer::Captured - the output of Devel::Peek as a string

=head1 SYNOPSIS

    my $dump = Cameleer::Captured::stderr_of( sub { Devel::Peek::Dump($value) } );

=cut
