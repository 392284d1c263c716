package ModPerl::RegistryLoader;

use v5.36;

use Apache2::Const -compile => qw(OK HTTP_OK OPT_EXECCGI);
use Apache2::Log            ();
use Apache2::ServerUtil     ();
use ModPerl::RegistryCooker ();

# The class of the scripts, during compilation.
our @ISA;

sub new ( $class, %options ) {
    my $self = bless { package => 'ModPerl::Registry', %options }, ref $class || $class;
    $self->load_package( $self->{package} );
    return $self;
}

sub load_package ( $self, $package ) {
    require Carp;
    Carp::croak('the package of the scripts is missing') unless defined $package;
    require( $package =~ s{::}{/}gr . '.pm' );
    return;
}

# Compiles a script before the fork, so that its class finds it at the first request. Returns
# Apache2::Const::OK, or an error status, or nothing if the script's file does not exist.
sub handler ( $self, $uri = undef, $file = undef, $virtual_host = undef ) {
    return $self->warn('uri is a required argument') unless defined $uri;
    $file //= $self->file_of($uri);
    return $self->warn("Cannot find: $file") unless -e $file;
    local @ISA = $self->{package};
    my $request = bless { uri => $uri, filename => $file, package => $self->{package}, virthost => $virtual_host }, ref $self;
    my $cooker  = bless {}, ref $self;
    $cooker->init($request);
    return $cooker->default_handler;
}

# The file of a URI: from the `trans` code, or else below ServerRoot.
sub file_of ( $self, $uri ) {
    return $self->{trans}->($uri) if ref $self->{trans} eq 'CODE';
    return Apache2::ServerUtil::server_root() . '/' . $uri =~ s{\A/+}{}r;
}

sub warn ( $self, @words ) {    ## no critic: the name is the API's
    Apache2::ServerRec::warn( __PACKAGE__ . ": @words\n" );
    return;
}

# --- methods of a request

sub filename        ($self)      { return $self->{filename} }
sub uri             ($self)      { return $self->{uri} }
sub path_info       ($self)      { return '' }
sub status          ( $self, @ ) { return Apache2::Const::HTTP_OK }
sub server          ($self)      { return $self }
sub is_virtual      ($self)      { return defined $self->{virthost} }
sub get_server_name ($self)      { return $self->{virthost} }
sub slurp_filename  ( $self, @ ) { return Apache2::RequestRec::slurp_filename( $self, 0 ) }

# The option is checked when a client requests the script.
sub allow_options ($self) { return Apache2::Const::OPT_EXECCGI }

# --- overrides of the class's methods

sub run ( $self, @ ) { return Apache2::Const::OK }

sub namespace_root ($self) { return join '::', ModPerl::RegistryCooker::NAMESPACE_ROOT, $self->{REQ}{package} }

# A script that does not compile stops the server's start.
sub log_error ( $self, @error ) {
    die @error if $@;
    return $self->warn(@error);
}

1;

__END__

=head1 NAME

ModPerl::RegistryLoader - compiles Registry scripts before the workers are forked

=head1 SYNOPSIS

    # in a PerlPostConfigRequire file
    use ModPerl::RegistryLoader ();

    my $loader = ModPerl::RegistryLoader->new( package => 'ModPerl::Registry' );
    $loader->handler( '/perl/news.pl', '/srv/perl/news.pl' );

    my $other = ModPerl::RegistryLoader->new( package => 'ModPerl::RegistryBB', trans => sub { "/srv$_[0]" } );
    $other->handler("/perl/$_") for qw(a.pl b.pl);

=head1 DESCRIPTION

C<handler(URI, FILE, VIRTUAL-HOST)>. Without a file the C<trans> code returns it, and without that
code the URI is relative to C<ServerRoot>. A script that does not compile stops the server's start
with its error. C<package> must be the class that requests use.

=cut
