package APR::Const;

use v5.36;
use APR              ();
use Cameleer::Consts ();

# Under mod_perl 2, APR::Const also loads mod_perl2, as under httpd.
require mod_perl2 if $INC{'Cameleer/ModPerl2.pm'};

Cameleer::Consts::offer( __PACKAGE__, _all() );

1;

__END__

=head1 NAME

APR::Const - the numbers of the Apache Portable Runtime

=head1 SYNOPSIS

    use APR::Const -compile => qw(:common TIMEUP);
    use APR::Const qw(:table);

    print APR::Const::TIMEUP, OVERLAP_TABLES_SET;

=head1 DESCRIPTION

With C<-compile>, constants become subs of C<APR::Const> only; otherwise also of the calling package. Groups: C<:common
:error :fopen :filetype :finfo :flock :fprot :hook :lockmech :poll :read_type :shutdown_how :socket :status :table :uri
:filepath :limit>. An unknown name is an error.

=cut
