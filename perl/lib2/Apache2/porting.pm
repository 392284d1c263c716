package Apache2::porting;    ## no critic: the name is the API's

use v5.36;

use Apache2::ServerUtil ();
use Carp qw(croak);
use ModPerl::MethodLookup ();
use mro ();

our $AUTOLOAD;

# _begin runs in workers only: code loaded at start-up may support both versions, and test for methods.
Apache2::ServerUtil->server->push_handlers( PerlChildInitHandler => \&_begin );

sub _begin {
    croak 'Apache2::porting and Apache2::compat exclude each other; load only one of them' if $INC{'Apache2/compat.pm'};
    no strict 'refs';
    *{'UNIVERSAL::AUTOLOAD'} = \&_explain;
    return 0;
}

# AUTOLOAD for methods that an object does not have.
sub _explain {
    my ($object) = @_;
    my ( $class, $method ) = $AUTOLOAD =~ /\A(.*)::(.*)\z/s;
    return if $method eq 'DESTROY';
    if ( _is_ours($class) ) {
        my ( $hint, @modules ) = ModPerl::MethodLookup::lookup_method( $method, $object );
        croak "$class has no method $method yet. $hint" if @modules || grep { $_ eq $method } ModPerl::MethodLookup::avail_methods_compat();
    }
    croak sprintf q{Can't locate object method "%s" via package "%s"}, $method, $class;
}

sub _is_ours ($class) {
    return grep { /\A(?:Apache2?|APR|ModPerl)(?:::|\z)/ } $class, @{ mro::get_linear_isa($class) };
}

1;

__END__

=head1 NAME

Apache2::porting - hints for mod_perl 1 code under mod_perl 2

=head1 SYNOPSIS

In the configuration, above the directives that load the site's modules:

    PerlModule Apache2::porting

=head1 DESCRIPTION

While this module is loaded, a call of a missing method dies with the name of the module that has
the method, or with mod_perl 2's replacement for a method of mod_perl 1. (C<require> of a mod_perl 1
module dies so in any case.) The errors are in the error log, like those of every handler that dies.

The checks begin when a worker starts: code that runs earlier, with the configuration, is not
checked. The module hides no error and changes no behaviour, but it slows down method lookups, and
cannot be loaded together with Apache2::compat: remove it when the site works.

C<cameleer check --compat> checks a site's files in the same way, without running them.

=head1 SEE ALSO

L<ModPerl::MethodLookup>, L<Apache2::compat>

=cut
