package Apache::SubProcess;

use v5.36;
use Exporter 'import';

use Apache     ();
use IO::Handle ();
use POSIX      ();

our $VERSION   = '0.03';
our @EXPORT_OK = qw(system exec fork);

# Called in a forked child: closes every socket of the server.
sub cleanup_for_exec {
    opendir my $folder, '/proc/self/fd' or return;
    POSIX::close($_) for grep { /\A[0-9]+\z/ && $_ > 2 && is_socket($_) } readdir $folder;
    return;
}

sub is_socket ($fd) { return ( readlink("/proc/self/fd/$fd") // '' ) =~ /\Asocket:/ }

# Output of the program becomes part of the response, so this is nearly perl's own system.
sub system {    ## no critic: the name is the API's
    my @command = words(@_);
    return @command > 1 ? CORE::system { $command[0] } @command : CORE::system( $command[0] );
}

# Runs the program for the rest of the request; the worker's process continues.
sub exec {    ## no critic: the name is the API's
    my $status = Apache::SubProcess::system(@_);
    return if $status == -1;
    return Apache->exit;
}

# Like perl's fork, with the server's sockets closed in the child.
sub fork {    ## no critic: the name is the API's
    my $pid = CORE::fork();
    cleanup_for_exec() if defined $pid && $pid == 0;
    return $pid;
}

# Runs `$code->($r, @arguments)` in a child. Returns a handle to read its output; in list context handles for
# its standard input, output and error output.
sub spawn_child ( $r, $code, @arguments ) {
    pipe my $from_parent, my $to_child  or die "Apache::SubProcess: cannot make a pipe: $!\n";
    pipe my $from_child,  my $to_parent or die "Apache::SubProcess: cannot make a pipe: $!\n";
    my ( $errors, $to_errors );
    wantarray and ( pipe $errors, $to_errors or die "Apache::SubProcess: cannot make a pipe: $!\n" );
    my $pid = Apache::SubProcess::fork() // die "Apache::SubProcess: cannot fork: $!\n";
    if ( $pid == 0 ) {
        connect_streams( $from_parent, $to_parent, $to_errors );
        close $_ for grep { defined } $to_child, $from_child, $errors;
        exit_after( $code, $r, @arguments );
    }
    close $_ for grep { defined } $from_parent, $to_parent, $to_errors;
    $r->register_cleanup( sub { waitpid $pid, 0 } );
    return ( $to_child, $from_child, $errors ) if wantarray;
    close $to_child;
    return $from_child;
}

sub connect_streams ( $in, $out, $err ) {
    POSIX::dup2( fileno $in,  0 );
    POSIX::dup2( fileno $out, 1 );
    POSIX::dup2( fileno $err, 2 ) if $err;
    return;
}

sub exit_after ( $code, @arguments ) {
    my $done = eval { $code->(@arguments); 1 };
    warn $@ if !$done;
    STDOUT->flush;
    POSIX::_exit( $done ? 0 : 255 );
}

# In the code of spawn_child: replaces the child by the program, with the request's environment.
sub call_exec ( $r, @command ) {
    @command = ( $r->filename ) if !@command;
    STDOUT->flush;
    my %added = $r->cgi_env;
    local @ENV{ keys %added } = values %added;
    no warnings 'exec';
    CORE::exec { $command[0] } @command or die "Apache::SubProcess: cannot execute $command[0]: $!\n";
}

# `Apache::SubProcess->system(…)`, `$r->system(…)` and `system(…)` are the same.
sub words (@command) {
    shift @command if @command && ( ref $command[0] || $command[0] eq __PACKAGE__ );
    return map { "$_" } @command;
}

*Apache::cleanup_for_exec = \&cleanup_for_exec;
*Apache::spawn_child      = \&spawn_child;
*Apache::bspawn_child     = \&spawn_child;
*Apache::call_exec        = \&call_exec;

1;

__END__

=head1 NAME

Apache::SubProcess - starts other processes from a request

=head1 SYNOPSIS

    use Apache::SubProcess ();

    defined( my $kid = fork ) or die "cannot fork: $!\n";
    if ( !$kid ) {
        $r->cleanup_for_exec;
        POSIX::setsid();
        open STDIN,  '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        ...;
        CORE::exit(0);
    }

    my $output = $r->spawn_child( sub ($r) { $r->call_exec( '/usr/bin/env' ) } );
    $r->send_fd($output);

    use Apache::SubProcess qw(system exec fork);
    system 'date';               # becomes part of the response
    exec '/usr/bin/fortune';     # also becomes part of it, and ends the request

=head1 DESCRIPTION

=over

=item C<< $r->cleanup_for_exec >>

In a child: closes every socket above descriptor 2. The server can then restart and bind its ports
while the child lives, and connections of the parent, such as a database's, stay undisturbed.

=item C<< $r->spawn_child(CODE, ARGUMENTS) >>, C<bspawn_child>

Runs C<CODE-E<gt>($r, ARGUMENTS)> in a child and returns a handle to read its output; in list
context three handles: for its standard input, output and error output. The child is waited for at
the end of the request.

=item C<< $r->call_exec(PROGRAM, ARGUMENTS) >>

In such code: becomes the program (C<< $r->filename >> by default), with the request's
C<subprocess_env>.

=item C<system>, C<exec>, C<fork>

Imported by name. C<fork> calls C<cleanup_for_exec> in the child.

=back

=cut
