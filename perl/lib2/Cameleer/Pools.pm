package Cameleer::Pools;

use v5.36;

use APR::Pool          ();
use Cameleer::ModPerl2 ();

# Pools of APR for what has a life in the server: the process, a request.
my $process;

sub of_process { return $process //= APR::Pool::_native(undef) }

# It ends with the request, not before; its cleanups run then. Above it stands the connection's, of which a worker keeps nothing between two
# requests.
sub of_request ($r) {
    return Cameleer::ModPerl2::of_request($r)->{pool} //= APR::Pool::_native( of_connection($r) );
}

sub of_connection ($r) {
    return Cameleer::ModPerl2::of_request($r)->{connection_pool} //= do { $r->want_cleanup; APR::Pool::_native( of_process() ) };
}

# For what is left of the pool in variables, too.
sub end ($pool) { APR::Pool::_end($pool); return }

1;

__END__

=head1 NAME

Cameleer::Pools - the pools that requests, connections and the process hand out

=head1 SYNOPSIS

    my $pool = Cameleer::Pools::of_request($r);

=cut
