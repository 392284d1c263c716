package Apache2::porting;    ## no critic: the name is the API's

use v5.36;

use Apache2::ServerUtil ();
use Carp qw(croak);
use ModPerl::MethodLookup ();
use mro ();

# mod_perl 1's modules and what there is of them in mod_perl 2. The server has these, loaded or not, and mod_perl 2 does not.
my %INSTEAD = (
    'Apache.pm'            => 'Apache2::RequestRec, Apache2::RequestUtil, Apache2::ServerUtil and ModPerl::Util',
    'Apache/Constants.pm'  => 'Apache2::Const',
    'Apache/File.pm'       => 'Apache2::Response, Apache2::RequestRec and File::Temp',
    'Apache/Table.pm'      => 'APR::Table',
    'Apache/Util.pm'       => 'Apache2::Util, APR::Util and APR::Date',
    'Apache/URI.pm'        => 'Apache2::URI and APR::URI',
    'Apache/Log.pm'        => 'Apache2::Log',
    'Apache/Connection.pm' => 'Apache2::Connection',
    'Apache/Server.pm'     => 'Apache2::ServerRec and Apache2::ServerUtil',
    'Apache/Registry.pm'   => 'ModPerl::Registry',
    'Apache/PerlRun.pm'    => 'ModPerl::PerlRun',
    'Apache/Request.pm'    => 'Apache2::Request',
    'Apache/Cookie.pm'     => 'Apache2::Cookie',
);

our $AUTOLOAD;

# Workers only: what is loaded at the start may be a module of both generations that looks which one it has.
Apache2::ServerUtil->server->push_handlers( PerlChildInitHandler => \&_begin );

sub _begin {
    croak 'Apache2::porting says what Apache2::compat hides: load only one of them' if $INC{'Apache2/compat.pm'};
    no strict 'refs';
    *{'UNIVERSAL::AUTOLOAD'} = \&_explain;
    delete @INC{ keys %INSTEAD };
    unshift @INC, \&_refuse;
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

# In @INC, before the folders. The server's own modules have loaded what they need.
sub _refuse ( $hook, $file ) {
    my $instead = $INSTEAD{$file} or return;
    my ($caller) = caller;
    return \'1;' if $caller =~ /\A(?:Apache2?|APR|ModPerl|Cameleer)(?:::|\z)/;
    croak "mod_perl 2 does not have $file. There is: $instead";
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
of a method of mod_perl 1; and C<require> of a module of mod_perl 1 ends with what there is instead. The errors stand in the error log, as those of
every handler that dies.

It begins when a worker starts: what is loaded before, with the configuration, is not looked at. It hides no error and changes no meaning, but it costs
time at every lookup, and it cannot be loaded beside Apache2::compat: take it out when the site runs.

C<cameleer check --compat> tells the same of a site's files without running them.

=head1 SEE ALSO

L<ModPerl::MethodLookup>, L<Apache2::compat>

=cut
