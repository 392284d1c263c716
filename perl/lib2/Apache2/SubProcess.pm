package Apache2::SubProcess;

use v5.36;

use APR::PerlIO         ();
use Apache2::RequestRec ();
use Errno               ();
use IO::Handle          ();
use POSIX               ();

package Apache2::RequestRec {

    # Starts a program with the environment of subprocess_env. Returns a handle to read its output; in list
    # context handles for its standard input, output and error output. The program is waited for at the end of
    # the request.
    sub spawn_proc_prog ( $r, $program, $arguments = [] ) {
        return Apache2::SubProcess::start( $r, wantarray, $program, @$arguments );
    }
}

sub start ( $r, $context, $program, @arguments ) {
    my ( $input, $to_it )      = piped();
    my ( $from_it, $output )   = piped();
    my ( $errors, $to_errors ) = piped();
    my ( $failure, $report )   = piped();
    my %environment;
    $r->subprocess_env->do( sub ( $name, $value ) { $environment{$name} = $value; 1 } );
    Apache->untaint($_) for $program, @arguments, values %environment;
    my $pid = fork // die "Apache2::SubProcess: cannot fork: $!\n";
    if ( $pid == 0 ) {
        become( { 0 => $input, 1 => $output, ( $context ? ( 2 => $to_errors ) : () ) }, \%environment, $program, @arguments );
        syswrite $report, pack 'I', $!;
        POSIX::_exit(127);
    }
    close $_ for $input, $output, $to_errors, $report;
    $r->pool->cleanup_register( sub { waitpid $pid, 0 } );
    fail( $program, unpack 'I', $_ ) for grep { length } scalar readline $failure // '';
    $to_it->autoflush(1);
    return ( $to_it, $from_it, $errors ) if $context;
    close $to_it;
    return $from_it;
}

sub piped {
    pipe my $read, my $write or die "Apache2::SubProcess: cannot make a pipe: $!\n";
    return ( $read, $write );
}

# Runs in the child: exec closes all descriptors except the three standard ones.
sub become ( $streams, $environment, $program, @arguments ) {
    POSIX::dup2( fileno $streams->{$_}, $_ ) for keys %$streams;
    local %ENV = %$environment;
    no warnings 'exec';
    return exec {$program} $program, @arguments;
}

sub fail ( $program, $error ) {
    local $! = $error;
    require Carp;
    local $Carp::CarpLevel = 2;
    Carp::croak("spawn_proc_prog: $program: $!");
}

1;

__END__

=head1 NAME

Apache2::SubProcess - starts programs from a request

=head1 SYNOPSIS

    use Apache2::SubProcess ();

    $r->subprocess_env->set( NAME => 'value' );
    my $out = $r->spawn_proc_prog( '/usr/bin/sort', ['-u'] );
    my ( $in, $from, $errors ) = $r->spawn_proc_prog('/usr/bin/bc');
    print $in "6 * 7\n";
    print scalar <$from>;

=head1 DIFFERENCES

A program that cannot be started throws an exception, instead of only being logged. At the end of
the request, the worker waits for a program that is still running; C<RequestTimeout> does not
include that time.

=cut
