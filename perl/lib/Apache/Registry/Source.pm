package Apache::Registry::Source;

use v5.36;

use Cameleer::Regular ();

# A script's text: the code to compile, and the offset of its data.
sub read ( $class, $file ) {
    my $handle = Cameleer::Regular::opened($file) or die "cannot open $file: $!\n";
    local $/ = undef;
    my $text = <$handle>;
    $text //= '';
    my $bom = $text =~ s/\A\xEF\xBB\xBF// ? 3 : 0;
    my ( $end, $data ) = end_of($text);
    Apache::warn("Apache::Registry: T switch ignored, enable with 'PerlTaintCheck On': $file")
        if !${^TAINT} && $text =~ /\A#!.*perl\S*(?:\s+-\w+)*?\s+-\w*T/;
    my $code = defined $end ? substr( $text, 0, $end ) : $text;
    return bless {
        code     => $code,
        warnings => $text =~ /\A#!.*perl\S*(?:\s+-\w+)*?\s+-\w*w/ ? 1 : 0,
        data     => defined $data && $code =~ /\bDATA\b/ ? $data + $bom : undef,
        package  => $code =~ /.*^\s*package\s+(\w+(?:::\w+)*)\s*;/ms ? $1 : undef,
    }, $class;
}

# Finds the end of the program: __END__ or __DATA__ at the start of a line outside of POD and here-documents. It
# must be cut off: in a string eval perl would stop there, before the brace that closes the script's sub.
sub end_of ($text) {
    return unless $text =~ /^__(?:END|DATA)__\b/m;
    my ( $in_pod, @tags );
    while ( $text =~ /\G(.*)(?:\n|\z)/g ) {
        my ( $line, $start, $next ) = ( $1, $-[0], pos $text );
        if    (@tags)                                { shift @tags if $line =~ $tags[0] }
        elsif ($in_pod)                              { $in_pod = $line !~ /\A=cut\b/ }
        elsif ( $line =~ /\A=[A-Za-z]/ )             { $in_pod = 1 }
        elsif ( $line =~ /\A__(?:END|DATA)__\b/ )    { return ( $start, $next ) }
        else                                         { @tags = here_documents( $line, \$text, $next ) }
        last if $next >= length $text;
    }
    return;
}

# Patterns of the end lines of here-documents that begin on a line. `<<` may also be a shift: it counts only if
# the end line exists.
sub here_documents ( $line, $text, $from ) {
    my @ends;
    while ( $line =~ /<<(~?)(?:\s*"([^"]*)"|\s*'([^']*)'|\\?([A-Za-z_]\w*))/g ) {
        my $tag = $2 // $3 // $4;
        my $end = $1 ? qr/\A\s*\Q$tag\E\r?\z/ : qr/\A\Q$tag\E\r?\z/;
        my $any = $1 ? qr/^\s*\Q$tag\E\r?$/m  : qr/^\Q$tag\E\r?$/m;
        push @ends, $end if substr( $$text, $from ) =~ $any;
    }
    return @ends;
}

1;

__END__

=head1 NAME

Apache::Registry::Source - the text of a script, ready to be compiled

=head1 SYNOPSIS

    my $source = Apache::Registry::Source->read('/srv/cgi-bin/news.pl');
    # { code, warnings, data (an offset), package (the last that it names) }

=cut
