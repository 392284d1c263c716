#!/usr/bin/perl

# Compares param() of Apache::Request and CGI.pm, in a handler of a running server: param.pl [SECONDS]

use v5.36;
use File::Temp ();
use FindBin    ();
use HTTP::Tiny ();
use IO::Socket::INET;

my $seconds = shift // 2;
my $program = $ENV{CAMELEER} // "$FindBin::Bin/../target/release/cameleer";
-x $program or die "$program: build it first, or name it in CAMELEER\n";

# 26 pairs each: values of 4 bytes make 207 bytes, of 9 bytes 337.
my @queries = map {
    my $length = $_;
    join '&', map { "$_$_=" . $_ x $length } 'a' .. 'z';
} 4, 9;

my $folder = File::Temp->newdir;
chmod 0755, "$folder";
my $listener = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 1 ) or die "no free port: $@\n";
my $port     = $listener->sockport;
close $listener;

write_file( "$folder/Param.pm",  do { local $/; <DATA> } );
write_file( "$folder/site.conf", <<"CONF");
ServerRoot $folder
Listen 127.0.0.1:$port
StartServers 1
MaxClients 1
PerlLib $folder
PerlModule Param
<Location /param>
SetHandler perl-script
PerlHandler Param
PerlSetVar Seconds $seconds
</Location>
CONF

my $server = fork // die "fork: $!\n";
if ( !$server ) {
    open STDOUT, '>', "$folder/out" or die "$folder/out: $!\n";
    exec $program, 'serve', '-f', "$folder/site.conf" or die "$program: $!\n";
}
my $ok = eval { measure($_) for @queries; 1 };
my $why = $@;
kill TERM => $server;
waitpid $server, 0;
$ok or die $why;

sub measure ($query) {
    my $client = HTTP::Tiny->new( timeout => 10 * $seconds + 30 );
    my $answer;
    for ( 1 .. 100 ) {
        $answer = $client->get("http://127.0.0.1:$port/param?$query");
        last if $answer->{status} != 599;
        select undef, undef, undef, 0.1;
    }
    $answer->{success} or die "the server answered $answer->{status}: $answer->{content}\n";
    my %rate = split ' ', $answer->{content};
    printf "%3d bytes, %d pairs: CGI %6.0f/s  Apache::Request %6.0f/s  ratio %.2f\n", length $query, $rate{pairs}, @rate{qw(cgi apr)},
        $rate{apr} / $rate{cgi};
    return;
}

sub write_file ( $name, $text ) {
    open my $handle, '>', $name or die "$name: $!\n";
    print {$handle} $text;
    return close $handle;
}

__DATA__
package Param;

use v5.36;
use Apache::Request ();
use CGI             ();
use Time::HiRes     qw(CLOCK_PROCESS_CPUTIME_ID clock_gettime);

# Parses the query and reads the value of each name, as a form's handler does.
sub values_of ($q) {
    my $pairs = 0;
    for my $name ( $q->param ) {
        my $value = $q->param($name);
        $pairs++ if length $value;
    }
    return $pairs;
}

sub cgi ($r) {
    CGI::initialize_globals();
    return values_of( CGI->new( scalar $r->args ) );
}

sub apr ($r) { return values_of( Apache::Request->new($r) ) }

# Runs per second of CPU time, alternating.
sub handler ($r) {
    my %parse = ( cgi => \&cgi, apr => \&apr );
    my ( %times, %took, %pairs );
    my $turns = 10;
    for my $turn ( 1 .. $turns ) {
        for my $name ( sort keys %parse ) {
            my ( $start, $now ) = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
            do {
                $pairs{$name} = $parse{$name}->($r) for 1 .. 20;
                $times{$name} += 20;
                $now = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
            } while $now - $start < $r->dir_config('Seconds') / $turns;
            $took{$name} += $now - $start;
        }
    }
    $pairs{cgi} == $pairs{apr} or die "CGI found $pairs{cgi} pairs, Apache::Request $pairs{apr}\n";
    $r->send_http_header('text/plain');
    $r->print( join ' ', pairs => $pairs{apr}, map { $_ => $times{$_} / $took{$_} } sort keys %parse );
    return 0;
}

1;
