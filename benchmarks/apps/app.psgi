use strict;
use warnings;
use Bench::Burn;
use Bench::Content;
use Plack::Request;

my $TEXT = "Hello, World\n";

my %answer = (
    '/work'   => sub { 'text/plain', Bench::Burn::text() },
    '/page'   => sub { 'text/html',  Bench::Content::page() },
    '/hits'   => sub { 'text/plain', Bench::Content::hits() },
    '/params' => sub {
        my $params = Plack::Request->new(shift)->parameters;
        my @values = map { $params->{$_} } keys %$params;
        return 'text/plain', Bench::Content::counted(scalar @values);
    },
);

sub {
    my $env    = shift;
    my $answer = $answer{ $env->{PATH_INFO} };
    my ($type, $text) = $answer ? $answer->($env) : ('text/plain', $TEXT);

    return [ 200, [ 'Content-Type' => $type, 'Content-Length' => length $text ], [$text] ];
};
