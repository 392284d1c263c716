#!/usr/bin/perl
use strict;
use warnings;

package Shop;
use parent 'CGI::Application';

sub setup {
    my $self = shift;
    $self->start_mode('list');
    $self->run_modes( list => 'list', basket => 'basket', away => 'away' );
}

sub list {
    my $self = shift;
    return $self->query->start_html('Shop') . $self->query->h1('Goods') . $self->query->end_html;
}

sub basket {
    my $self  = shift;
    my $query = $self->query;
    $self->header_add( -cookie => $query->cookie( -name => 'basket', -value => scalar $query->param('item') ) );
    return 'In the basket: ' . $query->escapeHTML( scalar $query->param('item') );
}

sub away {
    my $self = shift;
    $self->header_type('redirect');
    $self->header_props( -url => 'http://localhost/elsewhere' );
    return;
}

package main;
Shop->new->run;
