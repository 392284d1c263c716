package mod_perl;

use v5.36;

# `use mod_perl 2.0` is a test for mod_perl 2 in many programs.
use mod_perl2 ();

1;

__END__

=head1 NAME

mod_perl - an alias of mod_perl2

=head1 SYNOPSIS

    use mod_perl 1.9917;
    print "mod_perl $mod_perl::VERSION\n";    # 2.000012

=cut
