#!/usr/bin/perl
use strict;
use warnings;
use CGI;
use Encode ();
use FindBin;
use lib "$FindBin::Bin/../lib";
use Demo::Book;

# The form of the guest book: a CGI script.
my $q = CGI->new;
my ( $name, $message ) = map { Encode::decode( 'UTF-8', $q->param($_) // '' ) } qw(name message);

if ( $q->request_method eq 'POST' && $name =~ /\S/ && $message =~ /\S/ ) {
    Demo::Book::add( substr( $name, 0, 60 ), substr( $message, 0, 300 ) );
    print $q->redirect( -uri => '/book', -status => '303 See Other' );
}
else {
    print $q->header( -status => '400 Bad Request', -type => 'text/plain; charset=utf-8' ), "Both a name and a message, please.\n";
}
