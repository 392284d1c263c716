#!/usr/bin/perl
# Load for tests/pkg/life: N processes send GET / to port 80, each request on a connection of its own or, for every other
# process, on one that is kept alive until the server closes it. At TERM prints "N requests, 0 lost" and exits with 1 if
# one was lost.
#
#     load.pl N
#
# A request is lost if it has no complete answer with status 200. A kept connection that the server closed before the
# first byte of an answer is not a loss: the client had been told (`Connection: close`) or sends the request again, as
# RFC 9112, section 9.3.1 has it; these are counted and printed.
use v5.36;
use IO::Select;
use IO::Socket::INET;

my $processes = shift // 4;
my $done = 0;
$SIG{TERM} = sub { $done = 1 };
$| = 1;

my @readers;
for my $number (1 .. $processes) {
    pipe my $reader, my $writer or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        print $writer join ' ', run($number % 2);
        close $writer;
        exit;
    }
    push @readers, [ $reader, $pid ];
}
say "started";
sleep 1 until $done;
kill TERM => map { $_->[1] } @readers;
my ($answered, $lost, $repeated) = (0, 0, 0);
for my $reader (map { $_->[0] } @readers) {
    my ($a, $l, $r, @why) = split ' ', scalar <$reader>;
    $answered += $a, $lost += $l, $repeated += $r;
    say "lost: @why" if @why;
}
say "$answered requests, $lost lost, $repeated sent again on a new connection";
exit($lost || !$answered ? 1 : 0);

sub run ($keeps) {
    my ($answered, $lost, $repeated, %why, $socket) = (0, 0, 0);
    until ($done) {
        my $is_used = defined $socket;
        $socket //= IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => 80, Timeout => 30);
        if (!$socket) { $lost++, $why{"connect:$!"}++; next }
        my ($state, $why) = request($socket, $keeps);
        if ($state eq 'closed' && $is_used) { undef $socket; $repeated++; next }
        $state eq 'ok' ? $answered++ : ($lost++, $why{$why}++);
        undef $socket if !$keeps || $state ne 'ok' || $why eq 'close';
    }
    return $answered, $lost, $repeated, map { s/ /_/gr } %why;
}

# The state, and `close` if the server will close the connection.
sub request ($socket, $keeps) {
    my $connection = $keeps ? 'keep-alive' : 'close';
    local $SIG{PIPE} = 'IGNORE';
    print $socket "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: $connection\r\n\r\n" or return 'closed', "send:$!";
    my $answer = '';
    while (1) {
        my $read = sysread $socket, $answer, 65536, length $answer;
        next if !defined $read && $!{EINTR};
        return $answer eq '' ? 'closed' : 'cut', defined $read ? 'eof' : "read:$!" if !$read;
        next unless $answer =~ /\A(.*?\r\n)\r\n(.*)\z/s;
        my ($head, $body) = ($1, $2);
        next if $head =~ /^content-length: (\d+)/im ? length $body < $1 : $body !~ /\r\n0\r\n\r\n\z/ && $body !~ /\A0\r\n\r\n\z/;
        return 'bad', $head =~ /\A(\S+ \d+)/ unless $head =~ m{\AHTTP/1.1 200 };
        return 'ok', $head =~ /^connection: close/im ? 'close' : '';
    }
}
