package Cameleer::Event::WarmUp;

use v5.36;
use Errno      ();
use IO::Handle ();
use POSIX      ();
use Socket     ();

# PerlWarmup: requests over streams of the worker itself, before the front sends any. Programs recognise them by
# CAMELEER_WARMUP in the environment of the request, those of PAGI by the extension cameleer.warm_up.

# Port of the discard protocol (RFC 863), as that of a client that does not exist.
use constant { CLIENT => '127.0.0.1 9', READ_BYTES => 65_536 };

# Seconds for all requests where StartTimeout is unlimited: half of its default.
use constant UNLIMITED_SECONDS => 30;

# `add` takes the descriptor of a stream. The loop has the methods of IO::Async::Loop. All requests together have half of
# StartTimeout. `failed` takes an exception of a callback that has left the loop.
sub run ( $class, $loop, $add, $settings, $failed = sub ($error) { warn $error } ) {
    my $limit   = $settings->{start};
    my $seconds = $limit / 2 || UNLIMITED_SECONDS;
    my $advice  = $limit ? '; raise StartTimeout, of which this is a half' : '';
    my $self    = bless { loop => $loop, add => $add, requests => [ @{ $settings->{warm_up} } ], advice => $advice }, $class;
    $self->{timer} = $loop->watch_time( after => $seconds, code => sub { $self->late($seconds) } );
    $self->next;
    while ( $self->{current} ) {
        last if eval { $loop->run; 1 };
        $failed->($@);
    }
    return;
}

sub next ($self) {
    my $request = $self->{current} = shift @{ $self->{requests} };
    return $self->over if !$request;
    $self->{in} = '';
    eval { $self->ask($request); 1 } or $self->answered("$@");
    return;
}

sub ask ( $self, $request ) {
    socketpair my $front, my $worker, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!\n";
    my $descriptor = POSIX::dup( fileno $worker );
    $front->blocking(0);
    $self->{front} = $front;
    defined syswrite $front, head($request) or die "$!\n";
    $self->{loop}->watch_io( handle => $front, on_read_ready => sub { $self->readable } );
    $self->{add}->($descriptor);
    return;
}

sub head ($request) {
    my ( $scheme, $host, $server, $port, $mount, $target ) = @$request;
    my ($path) = split /\?/, $target, 2;
    my $name   = $host =~ s/:[0-9]+\z//r;
    my @fields = (
        'host'                 => $host,
        'user-agent'           => 'Cameleer warm-up',
        'accept'               => '*/*',
        'connection'           => 'close',
        'cameleer-client'      => CLIENT,
        'cameleer-server'      => "$server $port",
        'cameleer-scheme'      => $scheme,
        'cameleer-protocol'    => '1.1',
        'cameleer-path'        => $path,
        'cameleer-target'      => $target,
        'cameleer-server-name' => $name,
        'cameleer-server-port' => $port,
        'cameleer-warm-up'     => 1,
        $mount eq '-' ? () : ( 'cameleer-script-name' => $mount ),
    );
    my $head = "GET $target HTTP/1.1\r\n";
    while ( my ( $field, $value ) = splice @fields, 0, 2 ) { $head .= "$field: $value\r\n" }
    return "$head\r\n";
}

sub readable ($self) {
    my $read = sysread $self->{front}, $self->{in}, READ_BYTES, length $self->{in};
    return if !defined $read && ( $!{EAGAIN} || $!{EINTR} );
    return $self->answered if !$read || is_whole( \$self->{in} );
    return;
}

# Whether a response is complete. It is not copied, because each part of a large one asks.
sub is_whole ($bytes) {
    my $end = index $$bytes, "\r\n\r\n";
    return 0 if $end < 0;
    my $head = substr $$bytes, 0, $end;
    return length($$bytes) - $end - 4 >= $1      if $head =~ /^content-length: *([0-9]+)/mi;
    return substr( $$bytes, -6 ) eq "\n0\r\n\r\n" if $head =~ /^transfer-encoding: *chunked/mi;
    return $head =~ m{\AHTTP/1\.[01] (?:204|304) };
}

# The request has its response, or has failed.
sub answered ( $self, $error = undef ) {
    my ($status) = $self->{in} =~ m{\AHTTP/1\.[01] ([0-9]{3})};
    $error //= !defined $status ? 'no response' : $status >= 400 ? "status $status" : undef;
    my ( $target, $at ) = @{ $self->{current} }[ 5, 6 ];
    warn "$at: warm-up: GET $target: " . ( $error =~ s/\n\z//r ) . "\n" if defined $error;
    if ( my $front = delete $self->{front} ) {
        $self->{loop}->unwatch_io( handle => $front, on_read_ready => 1 );
        close $front;
    }
    return $self->next;
}

sub late ( $self, $seconds ) {
    delete $self->{timer};
    my $others = @{ $self->{requests} };
    $self->{requests} = [];
    my $more = $others ? ", and no time was left for $others more" : '';
    return $self->answered("no response within $seconds s$more$self->{advice}");
}

sub over ($self) {
    $self->{loop}->unwatch_time( delete $self->{timer} ) if $self->{timer};
    $self->{loop}->stop;
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::WarmUp - requests of PerlWarmup in a worker with an event loop

=head1 DESCRIPTION

Each worker answers them before it takes requests of clients. In a pool that blocks, the mold answers
them, and workers share their memory; a mold has no event loop.

=cut
