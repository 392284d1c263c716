package Apache::Timeit;

use v5.36;

use Apache            ();
use Apache::Constants qw(DECLINED);
use Benchmark         ();

sub handler {
    my $r = $_[-1];
    return DECLINED if !$r->is_initial_req;
    my $start = Benchmark->new;
    my $uri   = $r->uri;
    $r->register_cleanup( sub { report( $uri, $start ) } );
    return DECLINED;
}

sub report ( $uri, $start ) {
    my $took = Benchmark::timestr( Benchmark::timediff( Benchmark->new, $start ) );
    Apache::warn("timing request for $uri: $took");
    return;
}

1;

__END__

=head1 NAME

Apache::Timeit - logs the wall-clock and CPU time of requests

=head1 SYNOPSIS

    PerlFixupHandler Apache::Timeit

=head1 DESCRIPTION

Logs a warning for each request of a client after its response; subrequests and redirects are part
of their request. The clock starts in the handler's phase:

    timing request for /perl/news.pl:  1 wallclock secs ( 0.81 usr +  0.00 sys =  0.81 CPU)

=cut
