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

Apache::Timeit - logs how long requests take, and how much processor time

=head1 SYNOPSIS

    PerlFixupHandler Apache::Timeit

=head1 DESCRIPTION

A warning in the error log for each request of a client (subrequests and redirects are parts of theirs), when its
answer has been sent. The clock starts in the phase in which the handler stands:

    timing request for /perl/news.pl:  1 wallclock secs ( 0.81 usr +  0.00 sys =  0.81 CPU)

=cut
