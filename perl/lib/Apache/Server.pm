package Apache::Server;

use v5.36;
use Cwd      ();
use Cameleer::XS ();

use Apache::Server::Variables ();

Cameleer::XS::load(__PACKAGE__);

# Where relative names begin; scripts run elsewhere and are followed by a return to here.
our ($CWD) = Cwd::getcwd() =~ /\A(.*)\z/s;    # by a match: not tainted

# True while start-up code runs: which reading of the configuration this is, 1 or 2; the second at reloads only.
our $Starting   = 0;
our $ReStarting = 0;
*Apache::ServerStarting   = \$Starting;
*Apache::ServerReStarting = \$ReStarting;

# What a program set instead of Timeout, for this process.
my $Timeout;

sub log_error { return Apache::Log::_say( 3, @_ ) }
sub warn      { return Apache::Log::_say( 4, @_ ) }    ## no critic: the name is the API's
sub log ($s)  { return Apache::Log->new($s) }

# The value of a PerlSetVar outside any container, or all as a table-like hash.
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

# Who the workers run as: in the server's start-up code it may be root still.
sub uid ($s) { return $> }
sub gid ($s) { return 0 + $) }

# What code asks of $r or of the class and the server knows.
package Apache {
    sub server_root_relative {
        my ( undef, $path ) = @_;
        return $path if defined $path && $path =~ m{\A/};
        return ( Apache::Server::server_root( Apache->server ) // $Apache::Server::CWD ) . '/' . ( $path // '' );
    }

    # Apache->module('Apache::Table') or 'mod_alias.c': what httpd's usual modules do is built in.
    my %BUILT_IN = map { $_ => 1 } map { "$_.c" } qw(core http_core prefork mod_access mod_alias mod_auth mod_autoindex
        mod_cgi mod_dir mod_env mod_expires mod_headers mod_log_config mod_mime mod_perl mod_setenvif mod_so);

    sub module {
        my $name = $_[-1];
        return $BUILT_IN{$name} ? 1 : 0 if $name =~ /\.c\z/;
        return $INC{ $name =~ s{::}{/}gr . '.pm' } ? 1 : 0;
    }

    # Lines of configuration, which are read where the code stands that hands them over.
    sub httpd_conf ( $, @lines ) {
        require Cameleer::Sections;
        Cameleer::Sections::hand(@lines);
        return;
    }

    # Apache->define('SSL'): was the server started with -DSSL?
    our %DEFINED;
    sub define { return $DEFINED{ $_[-1] } ? 1 : 0 }

    # Text that SERVER_SOFTWARE and the Server header end with; for modules to say that they are there while the server
    # starts.
    sub add_version_component { return Apache::Server::add_version_component( $_[-1] ) }
}

# When the process that registered it ends: the mold's, or one worker's.
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

    my $s = $r->server;          # the host that the request is for
    my $s = Apache->server;      # the main server, also in start-up code
    for ( ; $s; $s = $s->next ) {
        print $s->server_hostname, ':', $s->port, ' ', join( ', ', @{ $s->names } ), "\n";
    }

=head1 DESCRIPTION

=over

=item server_hostname, server_admin, port, is_virtual, error_fname

What C<ServerName>, C<ServerAdmin> and C<ErrorLog> say. C<port> is C<ServerName>'s or the first C<Listen>'s.

=item names

A reference to the list of C<ServerAlias>.

=item next

The next virtual host, undef behind the last.

=item dir_config(NAME)

C<PerlSetVar> outside any container; without a name a reference to a hash of all.

=item timeout(SECONDS)

C<Timeout>. Setting it is for this process, and counts for C<< $r->soft_timeout >> and C<< $r->hard_timeout >>.

=item loglevel(LEVEL)

A number: 0 emerg, 3 error, 4 warn, 7 debug. Setting it is for this process.

=item uid, gid

Of this process.

=item log, log_error(TEXT), warn(TEXT)

The error log: see L<Apache::Log>.

=item register_cleanup(CODE)

CODE runs when this process ends.

=back

C<$Apache::Server::CWD> is the folder that the server was started in; C<$Starting> is true while start-up code runs.

=cut
