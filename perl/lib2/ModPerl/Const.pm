package ModPerl::Const;

use v5.36;

use Cameleer::Consts ();
use mod_perl2        ();

# The numeric value of `$@` when an eval has caught ModPerl::Util::exit.
Cameleer::Consts::offer( __PACKAGE__, common => EXIT => 120_000 );

# mod_perl 2 has both names.
sub ModPerl::EXIT () { return 120_000 }

1;

__END__

=head1 NAME

ModPerl::Const - EXIT, the numeric value of a caught ModPerl::Util::exit

=head1 SYNOPSIS

    use ModPerl::Const -compile => 'EXIT';
    eval { code(); 1 } or $@ == ModPerl::EXIT or die $@;

=cut
