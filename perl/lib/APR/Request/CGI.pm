package APR::Request::CGI;

use v5.36;

use APR::Pool            ();
use APR::Request         ();
use APR::Request::Handle ();
use Scalar::Util         ();

our @ISA     = ('APR::Request');
our $VERSION = '2.17';

# One handle per pool, until the pool ends: the body can be read only once.
my %OF_POOL;

sub handle ( $class, $pool ) {
    my $handle = $OF_POOL{ Scalar::Util::refaddr($pool) } // _begin($pool);
    return bless \$handle, $class;
}

sub _begin ($pool) {
    my $key = Scalar::Util::refaddr($pool);
    $pool->cleanup_register( sub { delete $OF_POOL{$key} } );
    my $handle = $OF_POOL{$key} = APR::Request::Handle::Environment->new( pool => $pool );
    Scalar::Util::weaken( $handle->{pool} );
    return $handle;
}

1;

__END__

=head1 NAME

APR::Request::CGI - the request of a CGI program

=head1 SYNOPSIS

    my $req = APR::Request::CGI->handle( APR::Pool->new );
    print $req->param('name');

=cut
