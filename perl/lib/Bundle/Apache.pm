package Bundle::Apache;

use v5.36;

our $VERSION = '1.02';

1;

__END__

=head1 NAME

Bundle::Apache - modules that mod_perl 1 sites usually need

=head1 SYNOPSIS

    apt-get install libdevel-symdump-perl libhtml-parser-perl libwww-perl libcgi-pm-perl libdbi-perl \
        libtie-ixhash-perl libapache-dbi-perl libapache-db-perl libapache-session-perl

=head1 CONTENTS

MIME::Base64

Digest::MD5

URI

HTML::Parser

LWP

Devel::Symdump

Data::Dumper

CGI

Tie::IxHash

Apache::DBI

DBI

Apache::DB

Apache::Session

=cut
