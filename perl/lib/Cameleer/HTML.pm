package Cameleer::HTML;

use v5.36;
use Exporter 'import';

our @EXPORT_OK = qw(escape);

my %ENTITY = ( '&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', q{'} => '&#39;' );

# Characters that a browser does not display but interprets: controls, and characters that reverse, break or hide text.
my $OBEYED =
  qr/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{61c}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]/;

# Characters stay characters, and bytes stay bytes.
sub escape ($text) {
    $text //= '';
    my $was_utf8 = !utf8::is_utf8($text) && $text =~ /[^\x00-\x7f]/ && utf8::decode($text);
    $text =~ s/($OBEYED)/sprintf '\\x{%x}', ord $1/ge if utf8::is_utf8($text);
    $text =~ s/([\x00-\x08\x0b\x0c\x0e-\x1f\x7f])/sprintf '\\x{%x}', ord $1/ge;
    $text =~ s/([&<>"'])/$ENTITY{$1}/g;
    utf8::encode($text) if $was_utf8;
    return $text;
}

1;

__END__

=head1 NAME

Cameleer::HTML - text as HTML

=head1 SYNOPSIS

    use Cameleer::HTML 'escape';
    print escape($anything);

=head1 DESCRIPTION

C<escape> returns text that a browser shows unchanged: C<&>, C<<>, C<>> and quotation marks become
entities; controls, and Unicode's characters that reverse or hide text, become their numbers,
C<\x{202e}>.

=cut
