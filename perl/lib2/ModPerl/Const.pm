package ModPerl::Const;

use v5.36;

use Cameleer::Consts ();
use mod_perl2        ();

# What `$@` is, as a number, when ModPerl::Util::exit was caught by an eval.
Cameleer::Consts::offer( __PACKAGE__, common => EXIT => 120_000 );

# Known under both names.
sub ModPerl::EXIT () { return 120_000 }

1;

__END__

=head1 NAME

ModPerl::Const - EXIT: what a caught ModPerl::Util::exit is, as a number

=head1 SYNOPSIS

    use ModPerl::Const -compile => 'EXIT';
    eval { code(); 1 } or $@ == ModPerl::EXIT or die $@;

=cut
