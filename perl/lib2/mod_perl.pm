package mod_perl;

use v5.36;

# Before a module has loaded it: code that asks `use mod_perl 2.0` wants to know whether this is mod_perl 2.
use mod_perl2 ();

1;

__END__

=head1 NAME

mod_perl - mod_perl 2 under the name of mod_perl 1

=head1 SYNOPSIS

    use mod_perl 1.9917;
    print "mod_perl $mod_perl::VERSION\n";    # 2.000012

=cut
