package Apache2::Connection;

use v5.36;

use Apache2::Const -compile => qw(REMOTE_HOST REMOTE_NAME REMOTE_DOUBLE_REV);
use Apache::Connection ();
use Cameleer::ModPerl2 ();

Cameleer::ModPerl2::lend( 'Apache::Connection', __PACKAGE__, qw(local_ip remote_host remote_logname) );

*client_ip   = *remote_ip   = \&Apache::Connection::remote_ip;
*client_addr = *remote_addr = sub ($c) { return Cameleer::ModPerl2::address( $c->client_ip, Apache::Connection::remote_port($c) ) };
*number      = \&Apache::number;
*want_cleanup = \&Apache::want_cleanup;

# A worker that has the whole connection detects the end itself.
sub aborted ($c) {
    return Cameleer::ModPerl2::of_request($c)->{aborted} // 0 if Cameleer::ModPerl2::is_connection();
    return Apache::Connection::aborted($c);
}

sub local_addr ($c) { return Cameleer::ModPerl2::address( $c->local_ip, Apache::Connection::local_port($c) ) }
sub local_host ($c) { return Apache::Connection::local_ip($c) }

# The main server of the local address; for a connection handed over to the worker, its virtual host.
sub base_server ($c) { return Cameleer::ModPerl2::is_connection() ? Apache::server($c) : Apache->server }

# A number that is unique among open connections, as far as a worker can tell: the client's port.
sub id ($c) { return Apache::Connection::remote_port($c) }

sub keepalive ( $c, @new ) {
    my $kept   = Cameleer::ModPerl2::of_request($c);
    my $before = $kept->{keepalive} // ( _stays_open() ? 2 : 1 );    # CONN_KEEPALIVE, CONN_CLOSE
    $kept->{keepalive} = $new[0] if @new;
    return $before;
}

# Whether the client asked for a persistent connection.
sub _stays_open () {
    my $r    = Apache->request // return 0;
    my $connection = Apache::header_in( $r, 'Connection' ) // '';
    return $r->protocol eq 'HTTP/1.0' ? $connection =~ /keep-alive/i : $connection !~ /close/i;
}

sub keepalives ( $c, @new ) {
    my $kept   = Cameleer::ModPerl2::of_request($c);
    my $before = $kept->{keepalives} // 0;
    $kept->{keepalives} = $new[0] if @new;
    return $before;
}

sub notes ( $c, @new ) {
    my $kept = Cameleer::ModPerl2::of_request($c);
    my $table = $kept->{connection_notes} //= do { require APR::Table; APR::Table::make( $c->pool, 4 ) };
    Cameleer::ModPerl2::replace( $table, $new[0] ) if @new;
    return $table;
}

sub pnotes {
    my $notes = Cameleer::ModPerl2::of_request( shift() )->{connection_pnotes} //= {};
    return @_ ? Cameleer::ModPerl2::note( $notes, @_ ) : $notes;
}

sub pnotes_kill ($c) { %{ $c->pnotes } = (); return }

sub pool ($c) {
    require Cameleer::Pools;
    return Cameleer::Pools::of_connection($c);
}

sub bucket_alloc ($c) {
    require APR::BucketAlloc;
    return Cameleer::ModPerl2::of_request($c)->{bucket_alloc} //= APR::BucketAlloc->new( $c->pool );
}

# httpd has ids only with an ErrorLogFormat that uses them; Cameleer has none.
sub log_id ($c) { return }

sub conn_config ($c) { return Cameleer::ModPerl2::of_request($c)->{conn_config} //= bless \( my $number = 0 ), 'Apache2::ConfVector' }

sub client_socket ($c) { return Cameleer::ModPerl2::client_socket($c) }

# A name that the front has looked up; for REMOTE_NAME the address if there is none.
sub get_remote_host ( $c, $type = Apache2::Const::REMOTE_NAME(), @ ) {
    return Apache::Connection::verified_host($c) if $type == Apache2::Const::REMOTE_DOUBLE_REV();
    my $name = $c->remote_host;
    return $type == Apache2::Const::REMOTE_HOST() ? $name : $name // $c->client_ip;
}

for my $chain (qw(input output)) {
    no strict 'refs';
    *{"${chain}_filters"} = sub ( $c, @new ) {
        require Apache2::Filter;
        return Apache2::Filter::of_connection( $c, $chain, @new );
    };
}

1;

__END__

=head1 NAME

Apache2::Connection - the client's connection

=head1 SYNOPSIS

    use Apache2::Connection ();

    my $c = $r->connection;
    $c->client_ip;                    # 192.0.2.1
    $c->client_addr->port;
    $c->get_remote_host( Apache2::Const::REMOTE_HOST );
    $c->aborted;

=head1 DIFFERENCES

The front owns the client's connection, and another worker may get its next request: C<notes>,
C<pnotes> and C<pool> end with the request.

=cut
