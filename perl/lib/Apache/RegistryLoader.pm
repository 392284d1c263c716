package Apache::RegistryLoader;

use v5.36;

use Apache           ();
use Apache::Registry ();

sub new ( $class, %options ) {
    return bless {%options}, $class;
}

# Compiles a script before the fork. Returns 200, or an error status; the error log has the reason.
sub handler ( $self, @script ) {
    my ( $status, $wrong ) = $self->compile(@script);
    Apache::log_error("RegistryLoader: $wrong") if defined $wrong;
    return $status;
}

# Returns (200), or (status, reason). The script gets the name under which requests find it.
sub compile ( $self, $uri = undef, $file = undef, $virtual_host = '' ) {
    return ( 404, 'uri is a required parameter' ) if ( $uri // '' ) eq '';
    $file //= $self->{trans} ? $self->{trans}->($uri) : Apache->server_root_relative( $uri =~ s{\A/}{}r );
    my $mtime = Apache::Registry::mtime($file) // return ( 404, "$file: $!" );
    opendir my $here, '.' or return ( 500, "the current folder: $!" );
    my $done = eval {
        Apache::Registry::enter($file);
        local *0 = \( my $name = $file );
        Apache::Registry::cached( $virtual_host . $uri, $file, $mtime );
    };
    my $error = $@;
    chdir $here;    # File::Find continues in this folder
    return $done ? 200 : ( 500, $error );
}

1;

__END__

=head1 NAME

Apache::RegistryLoader - compiles Registry scripts before the workers are forked

=head1 SYNOPSIS

    # in a PerlRequire file
    use Apache::RegistryLoader ();
    Apache::RegistryLoader->new->handler( '/perl/news.pl', '/srv/perl/news.pl' );

    my $loader = Apache::RegistryLoader->new( trans => sub { "/srv/perl$_[0]" } );
    $loader->handler("/$_") for qw(a.pl b.pl);

=head1 DESCRIPTION

C<handler(URI, FILE, VIRTUAL-HOST)>. Without a file the C<trans> code returns it, and without that
code the URI is relative to C<ServerRoot>. Returns 200, or 404 or 500 with the reason in the error
log. The current folder is preserved, so that C<File::Find> can call it.

=cut
