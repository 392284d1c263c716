package Apache::PerlRun;

use v5.36;

use Apache::Registry          ();
use Apache::Registry::Package ();
use Apache::Registry::Script  ();

sub handler {
    return Apache::Registry::serve( $_[-1], \&fresh );
}

# Compiled for this run only. What an earlier run left in the package goes first.
sub fresh ( $key, $file, $mtime ) {
    my $package = Apache::Registry::Package::name_of($key);
    Apache::Registry::Package::flush($package);
    return Apache::Registry::Script->new( $package, $file, $mtime );
}

1;

__END__

=head1 NAME

Apache::PerlRun - CGI scripts that are compiled anew for every request

=head1 SYNOPSIS

    SetHandler perl-script
    PerlHandler Apache::PerlRun
    Options +ExecCGI
    PerlSendHeader On

=head1 DESCRIPTION

For scripts that rely on fresh global variables. Everything else is as in L<Apache::Registry>; perl itself and the
modules stay loaded.

=cut
