#!/usr/bin/perl
use strict;
use HTML::Mason::CGIHandler;

our $handler ||= HTML::Mason::CGIHandler->new(
    comp_root => "$ENV{MASON_ROOT}/cgi-comp",
    data_dir  => "$ENV{MASON_ROOT}/cgi-data",
);
$handler->handle_request;
