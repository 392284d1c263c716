package Cameleer::Pools;

use v5.36;

use APR::Pool          ();
use Cameleer::ModPerl2 ();

# APR pools with the lifetimes of the server: of the process, or of a request.
my $process;

sub of_process { return $process //= APR::Pool::_native(undef) }

# A request's pool ends with the request, when its cleanups run. Its parent is the connection's pool, which a worker
# does not retain between requests.
sub of_request ($r) {
    return Cameleer::ModPerl2::of_request($r)->{pool} //= APR::Pool::_native( of_connection($r) );
}

sub of_connection ($r) {
    return Cameleer::ModPerl2::of_request($r)->{connection_pool} //= do { $r->want_cleanup; APR::Pool::_native( of_process() ) };
}

# Ends the pool even if variables still refer to it.
sub end ($pool) { APR::Pool::_end($pool); return }

1;

__END__

=head1 NAME

Cameleer::Pools - the pools of requests, connections and the process

=head1 SYNOPSIS

    my $pool = Cameleer::Pools::of_request($r);

=cut
