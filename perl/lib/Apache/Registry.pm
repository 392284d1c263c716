package Apache::Registry;

use v5.36;
use Cameleer::XS ();

use Apache                     ();
use Apache::Constants          qw(NOT_FOUND FORBIDDEN SERVER_ERROR OPT_EXECCGI);
use Apache::Registry::Package  ();
use Apache::Registry::Script   ();

Cameleer::XS::load(__PACKAGE__);

# Scripts of different virtual hosts have different packages.
our $NameWithVirtualHost = 1;

# 1: log compilations; 2: respond with Apache::Debug's page when a script dies; 4: also log each request.
our $Debug = $Apache::Debug::Level // 0;

# Compiled scripts by host and name; the workers share those that RegistryLoader compiled before the fork.
my %SCRIPTS;

# The current script.
my ( $RUNNING, $FILE );

# Scripts that wait for one that they run as a subrequest.
my @OUTER;

# A script whose file is unchanged since its last check and compilation runs immediately.
sub handler {
    my $r = $_[-1];
    my ( $key, $file, $stamp ) = look( $r, $NameWithVirtualHost );
    my $script = $SCRIPTS{$key};
    return run( $r, $file, $script ) if $script && $script->{stamp} eq $stamp;
    return serve( $r, \&cached );
}

# Compiles the script, without running it, for a child that is about to be forked and will use it. Errors are
# ignored here: they appear again in the child.
sub prepare {
    my $r = $_[-1];
    my ( $key, $file, $stamp, $mtime ) = look( $r, $NameWithVirtualHost );
    my $script = $SCRIPTS{$key};
    return 0 if $script && $script->{stamp} eq $stamp;
    return 0 unless -f $file && -r _ && -x _ && $r->allow_options & OPT_EXECCGI;
    push @Apache::UNWIND, [ $r->number, \&leave ];
    enter( $FILE = $file );
    local *0    = \( my $name = $file );
    local @ARGV = words($r);
    my $compiled = eval { cached( $key, $file, $mtime ) };
    $compiled->{stamp} = $stamp if $compiled;
    pop @Apache::UNWIND;
    leave();
    return 0;
}

# Runs the script that `$find` returns for (key, file, mtime), if the file may be run.
sub serve ( $r, $find ) {
    my ( $key, $file, $stamp, $mtime ) = look( $r, $NameWithVirtualHost );
    Apache::log_error("Apache::Registry::handler for $file in process $$") if $Debug & 4;
    my $refusal = refusal( $r, $file );
    return $refusal if $refusal;
    return run( $r, $file, sub { my $script = $find->( $key, $file, $mtime ); $script->{stamp} = $stamp; $script } );
}

# Runs a script. Folder, $0 and @ARGV are set before a sub makes the script, because its BEGIN blocks may use
# them.
sub run {
    my ( $r, $file, $script ) = @_;
    push @Apache::UNWIND, [ $r->number, \&leave ];
    push @OUTER, [ $RUNNING, $FILE ] if $RUNNING;
    enter( $FILE = $file );
    # An alias instead of an assignment, which would also rename the process and take longer than a small
    # script.
    local *0    = \( my $name = $file );
    local @ARGV = words($r);
    my $died = $Debug & 2 ? explained( $r, $script ) : go( $r, $script );
    pop @Apache::UNWIND;
    leave();
    return defined $died ? $died : $r->status;
}

sub go ( $r, $script ) {
    $RUNNING = ref $script eq 'CODE' ? $script->() : $script;
    $RUNNING->{code_alone} ? $RUNNING->{code}->($r) : $RUNNING->run($r);
    return;
}

# With $Debug & 2: the value of `dump` for a script that died, otherwise undef.
sub explained ( $r, $script ) {
    return if eval { go( $r, $script ); 1 };
    require Apache::Debug;
    return Apache::Debug::dump( $r, SERVER_ERROR, $@ );
}

# The status with which a file is refused, or 0.
sub refusal ( $r, $file ) {
    $r->has_file && stat $file or return refuse( $r, NOT_FOUND, $file, 'there is no such file' );
    return refuse( $r, FORBIDDEN, $file, 'the path is a folder, not a script' )   if -d _;
    return refuse( $r, NOT_FOUND, $file, 'the path is a pipe or a device, not a script' ) unless -f _;
    return refuse( $r, NOT_FOUND, $file, 'the script is empty' )                  if -z _;
    return refuse( $r, FORBIDDEN, $file, 'Options ExecCGI is off here' )          unless $r->allow_options & OPT_EXECCGI;
    return refuse( $r, FORBIDDEN, $file, 'the server may not read the script' )   unless -r _;
    return refuse( $r, FORBIDDEN, $file, 'the script is not executable (chmod +x)' ) unless -x _;
    return 0;
}

sub refuse ( $r, $status, $file, $reason ) {
    $r->log_reason( $reason, $file );
    return $status;
}

sub cached ( $key, $file, $mtime ) {
    my $script = $SCRIPTS{$key};
    return $script if $script && $script->is_of( $file, $mtime );
    $script = Apache::Registry::Script->new( Apache::Registry::Package::name_of($key), $file, $mtime );
    Apache::log_error("Compiled package \"$script->{package}\" for process $$") if $Debug & 1;
    return $SCRIPTS{$key} = $script;
}

# Keys and files of the compiled scripts, for Cameleer::Inspection.
sub compiled { return map { $_ => $SCRIPTS{$_}{file} } keys %SCRIPTS }

# The server also calls this after exit or die.
sub leave {
    my $script = $RUNNING;
    undef $RUNNING;
    $script->run_end_blocks if $script && @{ $script->{end_blocks} };
    if ( my $outer = pop @OUTER ) {
        ( $RUNNING, $FILE ) = @$outer;
        enter($FILE);
        return;
    }
    go_home() or chdir $Apache::Server::CWD;    # the mold has no home folder yet
    return;
}

1;

__END__

=head1 NAME

Apache::Registry - CGI scripts that stay compiled

=head1 SYNOPSIS

    <Directory /srv/cgi-bin>
        SetHandler perl-script
        PerlHandler Apache::Registry
        Options +ExecCGI
        PerlSendHeader On
    </Directory>

=head1 DESCRIPTION

A script is compiled at its first request into the package C<Apache::ROOT::> plus its URI, and again
when its file's mtime has changed. For each request:

=over

=item 1. C<stat> the file: 404 if it is missing, a pipe or a device; 403 if it is a folder, not
readable or not executable, or if C<Options ExecCGI> is off.

=item 2. C<chdir> to its folder.

=item 3. Compile it, unless it is compiled for this mtime.

=item 4. Run it, with C<$r> in C<@_>, its file in C<$0> and the words of a query without C<=> in
C<@ARGV>.

=item 5. Run its END blocks and go back.

=back

The package of a virtual host's script contains the host's name, unless
C<$Apache::Registry::NameWithVirtualHost> is 0.

C<exit> ends the request only. Globals live as long as the worker. BEGIN blocks run when the script
is compiled. C<DATA> is reopened for each request, and C<FindBin> describes the script. C<#!perl -w>
works.

C<$Apache::Registry::Debug>, or C<use Apache::Debug level =E<gt> N>, is a sum: 1 logs compilations,
2 responds with the page of L<Apache::Debug> when a script dies, 4 logs each request that checks a
file.

=head1 DIFFERENCES

C<-T> in the first line is a warning without C<PerlTaintCheck On>: taint mode applies to the whole
process. A script may have a sub C<handler>.

=head1 SEE ALSO

L<Apache::RegistryLoader>, L<Apache::PerlRun>

=cut
