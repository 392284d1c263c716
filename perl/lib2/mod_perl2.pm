package mod_perl2;

use v5.36;

our $VERSION         = '2.000012';
our $VERSION_TRIPLET = '2.0.12';
our $API_VERSION     = 2;

# Later `use mod_perl` finds this module.
$mod_perl::VERSION = $VERSION;
$INC{'mod_perl.pm'} = __FILE__;

1;

__END__

=head1 NAME

mod_perl2 - the version of the Apache API of this process

=head1 SYNOPSIS

    use mod_perl2 2.0;
    print "mod_perl $mod_perl2::VERSION_TRIPLET\n" if $ENV{MOD_PERL_API_VERSION} == 2;

=head1 DESCRIPTION

Also sets C<$mod_perl::VERSION>, which is undef before. L<Apache2::Const>, L<ModPerl::Const> and
modules that use them, such as L<ModPerl::Registry>, load this module.

=cut
