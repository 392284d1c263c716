package Apache2::Status;

use v5.36;

use Apache::Status     ();
use Cameleer::ModPerl2 ();
use mod_perl2          ();

our $VERSION = '4.01';

sub handler { return Apache::Status::handler( Cameleer::ModPerl2::as_mod_perl_1( $_[-1] ) ) }

# Apache2::Status->menu_item( name => 'Title', \&code ): code gets ($r, $q) and returns a reference to a list of HTML.
sub menu_item ( $class, $name, $title, $code ) {
    return Apache::Status->menu_item( $name, $title, sub ( $r, $q ) { return $code->( Cameleer::ModPerl2::as_mod_perl_2($r), $q ) } );
}

sub registry_cache ( $class, @cache ) { return Apache::Status->registry_cache(@cache) }

1;

__END__

=head1 NAME

Apache2::Status - the Perl inside a worker: packages, scripts, modules

=head1 SYNOPSIS

    <Location /perl-status>
        SetHandler modperl
        PerlResponseHandler Apache2::Status
        Require local
    </Location>

    Apache2::Status->menu_item( mine => 'My Page', sub ( $r, $q ) { return ['<p>Hello</p>'] } ) if Apache2::Module::loaded('Apache2::Status');

=head1 DESCRIPTION

The same as L<Apache::Status>, with its options.

=cut
