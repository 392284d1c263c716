package Apache2::MPM;

use v5.36;

# The values of httpd's prefork, by the numbers of Apache2::Const's group :mpmq: many processes with one thread
# each.
my %ANSWERS = (
    2  => 0,    # MPMQ_IS_THREADED
    3  => 2,    # MPMQ_IS_FORKED: as many as are needed
    5  => 1,    # MPMQ_HARD_LIMIT_THREADS
    6  => 0,    # MPMQ_MAX_THREADS
    8  => 0,    # MPMQ_MIN_SPARE_THREADS
    10 => 0,    # MPMQ_MAX_SPARE_THREADS
    13 => 1,    # MPMQ_MPM_STATE: running
    14 => 0,    # MPMQ_IS_ASYNC
);

# undef for unknown values: the number of workers depends on the master, and changes.
sub query ( $class, $number ) { return $ANSWERS{$number} }

sub is_threaded ($class) { return 0 }

# Reports prefork, which tells callers that there are no threads.
sub show ($class) { return 'Prefork' }

1;

__END__

=head1 NAME

Apache2::MPM - the process model: processes without threads

=head1 SYNOPSIS

    use Apache2::MPM ();

    die 'not with threads' if Apache2::MPM->is_threaded;
    print Apache2::MPM->show;                                       # Prefork
    Apache2::MPM->query(Apache2::Const::MPMQ_IS_FORKED);            # 2

=cut
