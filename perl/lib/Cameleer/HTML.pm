package Cameleer::HTML;

use v5.36;
use Exporter 'import';

our @EXPORT_OK = qw(escape);

my %ENTITY = ( '&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', q{'} => '&#39;' );

sub escape ($text) { return ( $text // '' ) =~ s/([&<>"'])/$ENTITY{$1}/gr }

1;

__END__

=head1 NAME

Cameleer::HTML - text as HTML

=head1 SYNOPSIS

    use Cameleer::HTML 'escape';
    print escape($anything);

=cut
