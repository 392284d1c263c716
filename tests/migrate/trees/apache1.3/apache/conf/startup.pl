#!/usr/local/bin/perl
use strict;
use CGI ();
1;
