package Cameleer::XS;

use v5.36;
use XSLoader ();

# The compiled half of these packages is linked into the server, where XSLoader finds a sub instead of a shared
# object. Outside of the server there is no such sub, and Cameleer::Outside is used.
sub load (@packages) {
    for my $package (@packages) {
        if ( defined &{"Cameleer::XS::${package}::bootstrap"} ) {
            XSLoader::load("Cameleer::XS::$package");
            next;
        }
        require Cameleer::Outside;
        Cameleer::Outside::stand_in($package);
    }
    return;
}

1;

__END__

=head1 NAME

Cameleer::XS - loads the compiled half of a package, or its replacement outside the server

=head1 SYNOPSIS

    use Cameleer::XS ();
    Cameleer::XS::load(__PACKAGE__);

=cut
