package mod_perl2;

use v5.36;

our $VERSION         = '2.000012';
our $VERSION_TRIPLET = '2.0.12';
our $API_VERSION     = 2;

# Whoever asks for mod_perl from here on has got it.
$mod_perl::VERSION = $VERSION;
$INC{'mod_perl.pm'} = __FILE__;

1;

__END__

=head1 NAME

mod_perl2 - says that this process speaks the API of mod_perl 2

=head1 SYNOPSIS

    use mod_perl2 2.0;
    print "mod_perl $mod_perl2::VERSION_TRIPLET\n" if $ENV{MOD_PERL_API_VERSION} == 2;

=head1 DESCRIPTION

Sets C<$mod_perl::VERSION>, too. It is loaded by L<Apache2::Const>, L<ModPerl::Const> and modules that stand on them, such as
L<ModPerl::Registry>; before that C<$mod_perl::VERSION> is undef.

=cut
