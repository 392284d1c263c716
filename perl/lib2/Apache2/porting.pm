package Apache2::porting;    ## no critic: the name is the API's

use v5.36;

use Apache2::ServerUtil ();
use Carp qw(croak);
use ModPerl::MethodLookup ();
use mro ();

our $AUTOLOAD;

# Workers only: what is loaded at the start may be a module of both generations that looks which one it has.
Apache2::ServerUtil->server->push_handlers( PerlChildInitHandler => \&_begin );

sub _begin {
    croak 'Apache2::porting says what Apache2::compat hides: load only one of them' if $INC{'Apache2/compat.pm'};
    no strict 'refs';
    *{'UNIVERSAL::AUTOLOAD'} = \&_explain;
    return 0;
}

# In the place of every method that its object does not have.
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

Apache2::porting - says what mod_perl 1 code needs under mod_perl 2

=head1 SYNOPSIS

In the configuration, before what loads the site's modules:

    PerlModule Apache2::porting

=head1 DESCRIPTION

While it is loaded, the call of a method that an object does not have ends with the name of the module that has it, or of what mod_perl 2 has instead
of a method of mod_perl 1. (C<require> of a module of mod_perl 1 ends so in any case.) The errors stand in the error log, as those of every handler that
dies.

It begins when a worker starts: what is loaded before, with the configuration, is not looked at. It hides no error and changes no meaning, but it costs
time at every lookup, and it cannot be loaded beside Apache2::compat: take it out when the site runs.

C<cameleer check --compat> tells the same of a site's files without running them.

=head1 SEE ALSO

L<ModPerl::MethodLookup>, L<Apache2::compat>

=cut
