package Apache2::ServerUtil;

use v5.36;

use Apache2::ServerRec   ();
use Cameleer::ModPerl2   ();
use Cameleer::PhaseNames ();

sub server ($class) { return Apache->server }

# Number of readings of the configuration: the first one is only a check.
sub restart_count { return Cameleer::ModPerl2::restart_count() }

sub exists_config_define { return Apache::define( $_[-1] ) }

sub server_root { return Apache->server->Apache::Server::server_root }

# A path below ServerRoot; absolute paths are returned unchanged.
sub server_root_relative ( $pool, $path = '' ) {
    require Scalar::Util;
    Cameleer::ModPerl2::croak('p is not of type APR::Pool') unless Scalar::Util::blessed($pool) && $pool->isa('APR::Pool');
    return Apache->server_root_relative($path);
}

sub get_server_version     { return Apache->server->Apache::Server::server_software }
sub get_server_banner      { return Apache->server->Apache::Server::server_software }
sub get_server_description { return Apache->server->Apache::Server::server_software }

# Time of the build of the server.
sub get_server_built { return Cameleer::ModPerl2::built() }

sub user_id  { return $> }
sub group_id { return 0 + $) }

# Registers a cleanup for the end of the process that forks the workers.
sub server_shutdown_cleanup_register ( $code, @arguments ) {
    Cameleer::ModPerl2::croak("Can't run 'server_shutdown_cleanup_register' after server startup") unless $Apache::Server::Starting;
    return Apache->server->Apache::Server::register_cleanup( sub { Cameleer::ModPerl2::clean_up( $code, @arguments ) } );
}

package Apache2::ServerRec {
    # For a phase of the process: registers code that the process runs. For a phase of requests: becomes a line of
    # configuration in the current section.
    sub push_handlers {
        my ( $s, $name, @handlers ) = @_;
        my $phase = Cameleer::PhaseNames::directive($name) // return 0;
        return Apache::push_handlers( $s, $phase, @handlers ) if $phase =~ /\APerl(?:OpenLogs|PostConfig|ChildInit|ChildExit)Handler\z/;
        require Cameleer::Sections;
        my @names = map { ref eq 'CODE' ? Cameleer::Sections::Text::code_name($_) : $_ } map { ref eq 'ARRAY' ? @$_ : $_ } @handlers;
        Cameleer::Sections::hand("$phase @names\n");
        return 1;
    }

    sub set_handlers ( $s, $name, $handlers ) {
        my $phase = Cameleer::PhaseNames::directive($name) // return 0;
        return Apache::set_handlers( $s, $phase, $handlers );
    }

    # The configured handlers, then the pushed ones.
    sub get_handlers ( $s, $name ) {
        my $phase    = Cameleer::PhaseNames::directive($name) // return undef;    ## no critic: a list context expects one value
        my @handlers = ( Cameleer::ModPerl2::configured_handlers( $s, $phase ), @{ Apache::Phases::of_process($phase) } );
        return \@handlers;
    }

    sub add_config ( $s, $lines ) { return Cameleer::ModPerl2::add_server_config( $s, $lines ) }
    sub add_version_component ( $s, $text ) { return Apache::Server::add_version_component($text) }

    sub dir_config {
        my ( $s, @words ) = @_;
        return Cameleer::ModPerl2::server_variables( $s, @words );
    }

    sub is_perl_option_enabled ( $s, $name ) { return Cameleer::ModPerl2::has_server_option( $s, $name ) }
    sub method_register ( $s, $name ) { return Cameleer::ModPerl2::register_method($name) }
    sub server_root_relative ( $s, $path = '' ) { return Apache->server_root_relative($path) }
    # STDERR is always the error log.
    sub error_log2stderr ($s) { return }

    sub get_server_version ($s) { return Apache2::ServerUtil::get_server_version() }
}

1;

__END__

=head1 NAME

Apache2::ServerUtil - the server, its handlers and its configuration

=head1 SYNOPSIS

    use Apache2::ServerUtil ();

    my $s = Apache2::ServerUtil->server;
    $s->push_handlers( PerlChildInitHandler => \&connect );
    $s->add_config( [ '<Location /x>', 'SetHandler modperl', 'PerlResponseHandler My::X', '</Location>' ] );
    Apache2::ServerUtil::server_root();
    Apache2::ServerUtil::restart_count();    # 1 while the configuration is checked, 2 or more afterwards

=cut
