package Apache::Server;

use v5.36;
use Cwd      ();
use Cameleer::XS ();

use Apache::Server::Variables ();

Cameleer::XS::load(__PACKAGE__);

# The folder for relative names: scripts change the folder, and the server returns to this one.
our ($CWD) = Cwd::getcwd() =~ /\A(.*)\z/s;    # untainted by the match

# While start-up code runs: the number of the reading of the configuration, 1 or 2; $ReStarting is set during
# reloads only.
our $Starting   = 0;
our $ReStarting = 0;
*Apache::ServerStarting   = \$Starting;
*Apache::ServerReStarting = \$ReStarting;

# A timeout that a program has set instead of Timeout, for this process.
my $Timeout;

sub log_error { return Apache::Log::_write( 3, @_ ) }
sub warn      { return Apache::Log::_write( 4, @_ ) }    ## no critic: the name is the API's
sub log ($s)  { return Apache::Log->new($s) }

# The value of a PerlSetVar outside of containers, or all of them as a table-like hash.
sub dir_config {
    my ( $s, $name ) = @_;
    my $variables = Apache::Server::Variables->new( $s->variables );
    return defined $name ? $variables->get($name) : $variables;
}

sub names ($s) { return [ $s->aliases ] }

sub timeout ( $s, @new ) {
    my $before = $Timeout // timeout_said($s);
    $Timeout = $new[0] if @new && $new[0];
    return $before;
}

# The workers' user; in start-up code it may still be root.
sub uid ($s) { return $> }
sub gid ($s) { return 0 + $) }

# Class methods, and methods of $r, that concern the server.
package Apache {
    sub server_root_relative {
        my ( undef, $path ) = @_;
        return $path if defined $path && $path =~ m{\A/};
        return ( Apache::Server::server_root( Apache->server ) // $Apache::Server::CWD ) . '/' . ( $path // '' );
    }

    # Apache->module('Apache::Table') or 'mod_alias.c': httpd's usual modules count as built in.
    my %BUILT_IN = map { $_ => 1 } map { "$_.c" } qw(core http_core prefork mod_access mod_alias mod_auth mod_autoindex
        mod_cgi mod_dir mod_env mod_expires mod_headers mod_log_config mod_mime mod_perl mod_setenvif mod_so);

    sub module {
        my $name = $_[-1];
        return $BUILT_IN{$name} ? 1 : 0 if $name =~ /\.c\z/;
        return $INC{ $name =~ s{::}{/}gr . '.pm' } ? 1 : 0;
    }

    # Adds lines of configuration, which are read in the place of the calling code.
    sub httpd_conf ( $, @lines ) {
        require Cameleer::Sections;
        Cameleer::Sections::hand(@lines);
        return;
    }

    # Apache->define('SSL'): whether the server was started with -DSSL.
    our %DEFINED;
    sub define { return $DEFINED{ $_[-1] } ? 1 : 0 }

    # Appends to SERVER_SOFTWARE and the Server header: modules call this while the server starts.
    sub add_version_component { return Apache::Server::add_version_component( $_[-1] ) }
}

# Cleanups that run at the end of the process that registered them: the mold or a worker.
my @CLEANUPS;

sub register_cleanup ( $s, $code ) {
    push @CLEANUPS, [ $$, $code ];
    return;
}

END {
    for my $cleanup ( grep { $_->[0] == $$ } @CLEANUPS ) {
        eval { Apache::Phases::code( $cleanup->[1] )->(); 1 } or Apache::log_error($@);
    }
}

1;

__END__

=head1 NAME

Apache::Server - a server: the main one or a virtual host

=head1 SYNOPSIS

    my $s = $r->server;          # the request's host
    my $s = Apache->server;      # the main server, also in start-up code
    for ( ; $s; $s = $s->next ) {
        print $s->server_hostname, ':', $s->port, ' ', join( ', ', @{ $s->names } ), "\n";
    }

=head1 DESCRIPTION

=over

=item server_hostname, server_admin, port, is_virtual, error_fname

The values of C<ServerName>, C<ServerAdmin> and C<ErrorLog>. C<port> is C<ServerName>'s or the first
C<Listen>'s.

=item names

A reference to the list of C<ServerAlias>.

=item next

The next virtual host, undef after the last one.

=item dir_config(NAME)

The value of a C<PerlSetVar> outside of containers; without a name a reference to a hash of all.

=item timeout(SECONDS)

C<Timeout>. Setting it affects this process only, and applies to C<< $r->soft_timeout >> and C<<
$r->hard_timeout >>.

=item loglevel(LEVEL)

A number: 0 emerg, 3 error, 4 warn, 7 debug. Setting it affects this process only.

=item uid, gid

The user and group of this process.

=item log, log_error(TEXT), warn(TEXT)

The error log: see L<Apache::Log>.

=item register_cleanup(CODE)

CODE runs when this process ends.

=back

C<$Apache::Server::CWD> is the folder that the server was started in; C<$Starting> is true while start-up code runs.

=cut
