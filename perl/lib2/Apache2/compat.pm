package Apache2::compat;    ## no critic: the name is the API's

use v5.36;
no warnings 'redefine';

use APR::Date               ();
use APR::Finfo              ();
use APR::Pool               ();
use APR::Table              ();
use APR::URI                ();
use APR::Util               ();
use Apache                  ();
use Apache2::Access         ();
use Apache2::Connection     ();
use Apache2::Const -compile => qw(:common :http :methods :options :remotehost :satisfy :types);
use Apache2::Log            ();
use Apache2::Module         ();
use Apache2::RequestIO      ();
use Apache2::RequestRec     ();
use Apache2::RequestUtil    ();
use Apache2::Response       ();
use Apache2::ServerRec      ();
use Apache2::ServerUtil     ();
use Apache2::SubRequest     ();
use Apache2::URI            ();
use Apache2::Util           ();
use Apache2::compat::Differing ();
use Apache::Constants       ();
use Apache::File            ();
use Apache::Server          ();
use Apache::Util            ();
use Cameleer::ModPerl2      ();
use ModPerl::Util           ();

# This server implements mod_perl 1's API in any case, as the classes Apache::*. This module adds their methods
# to mod_perl 2's objects, unless mod_perl 2 has a different method of that name.

( $Apache::Server::Starting, $Apache::Server::ReStarting ) = ( Apache2::ServerUtil::restart_count() // 0 ) == 1 ? ( 1, 0 ) : ( 0, 1 );
$Apache::Server::CWD = Apache2::ServerUtil::server_root();
# Code for mod_perl 1 that loads these modules gets this one instead.
BEGIN { $INC{$_} = __FILE__ for qw(Apache.pm Apache/Constants.pm Apache/File.pm Apache/Table.pm) }

our $AddPerlVersion = $Apache::Server::AddPerlVersion = 1;

# Methods whose meaning differs, by the sub's full name: they get mod_perl 1's meaning until restore_mp2_api.
*override_mp2_api = \&Apache2::compat::Differing::override;
*restore_mp2_api  = \&Apache2::compat::Differing::restore;

sub request ( $what = 'this' ) {
    return Apache->request // die "cannot use $what outside of a request\n";
}

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(soft_timeout hard_timeout kill_timeout reset_timeout chdir_file is_main cgi_env seqno) );
    *cgi_var = \&cgi_env;

    sub current_callback ($r) { return ModPerl::Util::current_callback() }
    sub cleanup_for_exec ($r) { return }

    # mod_perl 2 decides the head later, so this only sets the type.
    sub send_http_header ( $r, $type = $r->content_type // 'text/html' ) { $r->content_type($type); return }

    for my $name (qw(header_out header_in err_header_out)) {
        my $table = $name =~ s/header/headers/r;
        no strict 'refs';
        *$name = sub ( $r, @words ) { return Apache2::compat::of_table( scalar $r->$table, @words ) };
    }

    sub register_cleanup ( $r, @code ) { return $r->pool->cleanup_register(@code) }
    *post_connection = \&register_cleanup;

    sub get_remote_host ( $r, $type = Apache2::Const::REMOTE_NAME ) { return $r->connection->get_remote_host($type) }

    sub parse_args ( $r, $text ) { return Apache2::compat::parsed($text) }

    # The body as text, or parsed as a form.
    sub content ($r) {
        my $body = '';
        1 while $r->read( $body, 65536, length $body );
        return wantarray ? Apache2::compat::parsed($body) : $body;
    }

    sub READLINE ($r) {
        my $got = $r->read( my $body, $r->headers_in->get('Content-Length') // 0 );
        return $got ? $body : undef;
    }

    sub send_fd ( $r, $handle ) { return Apache::send_fd( $r, $handle ) }
    sub send_fd_length ( $r, $handle, $length ) { return Apache::send_fd( $r, $handle, $length ) }

    sub server_root_relative ( $r, @path ) { return Apache->server_root_relative(@path) }

    # ModPerl::Registry and similar handlers run scripts' END blocks themselves.
    sub clear_rgy_endav ( $r, @ ) { return }
    sub stash_rgy_endav ( $r, @ ) { return }
}

# Gets a field: its value, or in list context all values; sets it, or removes it with undef.
sub of_table ( $table, @words ) {
    return $table if !@words;
    my ( $name, @value ) = @words;
    return $table->get($name) if !@value;
    return defined $value[0] ? $table->set( $name, $value[0] ) : $table->unset($name);
}

# Parses `a=1&b=2` into a list.
sub parsed ($text) {
    return if ( $text // '' ) eq '';
    return map { tr/+/ /r =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger } split /[=&;]/, $text // '', -1;
}

package Apache {
    sub args ( $r, @new ) {
        my $text = $r->args(@new);
        return wantarray ? Apache2::compat::parsed($text) : $text;
    }

    # Adds directives for this request or, outside of requests, for the server.
    sub httpd_conf ( $, @lines ) {
        my $r     = Apache->request;
        my $error = ( $r // Apache2::ServerUtil->server )->add_config( [ split /\n/, join '', @lines ] );
        die $error if $error;
        return;
    }

    sub unescape_url_info ( $, $text ) { return Apache2::URI::unescape_url( $text =~ tr/+/ /r ) }

    sub exit { return ModPerl::Util::exit( ( grep { !ref && /\A\d+\z/ } @_ )[-1] // 0 ) }    ## no critic: the name is the API's

    sub module { return Apache2::Module::loaded( $_[-1] ) }

    sub log_error { shift if @_ && ( ref $_[0] || $_[0] eq 'Apache' ); return Apache2::ServerUtil->server->log_error(@_) }
    sub warn      { shift if @_ && ( ref $_[0] || $_[0] eq 'Apache' ); return Apache2::ServerRec::warn(@_) }    ## no critic
}

# Class methods in mod_perl 1, functions in mod_perl 2.
{
    my ( $top, $config ) = ( \&Apache2::Module::top_module, \&Apache2::Module::get_config );
    *Apache2::Module::top_module = sub { return $top->() };
    *Apache2::Module::get_config = sub { shift if $_[0] eq 'Apache2::Module'; return $config->(@_) };
}

sub Apache::Server::warn { shift if @_ && $_[0] eq 'Apache::Server'; return Apache2::ServerRec::warn(@_) }

sub Apache::Table::new ( $class, $r, $size = 10 ) { return APR::Table::make( $r->pool, $size ) }

# In mod_perl 2 this decodes in place.
*Apache::Util::unescape_uri      = \&Apache2::URI::unescape_url;
*Apache::Util::escape_path       = \&Apache2::Util::escape_path;
*Apache::Util::parsedate         = \&APR::Date::parse_http;

sub Apache::Util::escape_uri ($text) { return Apache2::Util::escape_path( $text, undef ) }

sub Apache2::URI::parse ( $class, $r, $text = $r->construct_url ) { return APR::URI->parse( $r->pool, $text ) }

*Apache2::Connection::user = sub ( $c, @new ) { return request()->user(@new) };
*Apache2::Connection::auth_type = sub ( $c, @new ) { return request()->ap_auth_type(@new) };

1;

__END__

=head1 NAME

Apache2::compat - runs handlers for mod_perl 1 with mod_perl 2's API

=head1 SYNOPSIS

    use Apache2::compat ();
    use Apache::Constants qw(:common);

    sub handler {
        my $r = shift;
        $r->send_http_header('text/plain');
        my %args = $r->Apache::args;
        $r->print( $r->header_in('User-Agent') );
        return OK;
    }

=head1 DESCRIPTION

Adds methods that mod_perl 2 has dropped: C<send_http_header header_in header_out err_header_out
register_cleanup post_connection get_remote_host parse_args content send_fd is_main cgi_env cgi_var
seqno> and the timeouts for the request, C<user> and C<auth_type> for the connection. C<< Apache->
>>, L<Apache::Constants>, L<Apache::File>, L<Apache::Util> and C<< Apache::Table->new >> exist.

Some methods have the same name but another meaning in mod_perl 2. You can switch these, by full
name, to mod_perl 1's meaning for a while:

    Apache2::compat::override_mp2_api('Apache2::RequestRec::notes');
    $r->notes( name => 'value' );
    Apache2::compat::restore_mp2_api('Apache2::RequestRec::notes');

The methods are C<Apache2::RequestRec::filename>, C<notes> and C<finfo>,
C<Apache2::Connection::local_addr> and C<remote_addr>, C<Apache2::Module::top_module> and
C<get_config>, C<APR::URI::unparse> and C<Apache2::Util::ht_time>.

For a site with mod_perl 1 code only, use C<PerlGeneration 1> instead of this module.

=cut
