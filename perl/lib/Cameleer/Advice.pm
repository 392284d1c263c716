package Cameleer::Advice;

use v5.36;

use Cameleer::Inspection ();

# Time limits in seconds, for one piece of code and for all together: longer than loading takes, short enough
# for a user who waits.
use constant { ALONE => 10, TOGETHER => 50 };

# Runs in a child of the mold. The argument has three fields for each piece of code, separated by zero bytes: "module"
# or "script", the name in %INC or the script's key, and the file. Returns, as JSON, the pieces that no other piece
# loads, with their cost for a worker that loads them in order.
sub weigh ($wanted) {
    alarm TOGETHER;
    my @wanted = _pieces($wanted);
    _alone($_) for @wanted;
    my ( @roots, %is_brought );
    for my $piece ( sort { $b->{bytes} <=> $a->{bytes} || $a->{name} cmp $b->{name} } @wanted ) {
        next if $is_brought{ $piece->{name} };
        push @roots, $piece;
        $is_brought{$_} = 1 for @{ $piece->{brings} };
    }
    my @bytes = _told( sub { map { _cost($_) } @roots }, TOGETHER );
    $_->{bytes} = shift(@bytes) // $_->{bytes} for @roots;
    return '[' . join( ',', map { _object($_) } @roots ) . ']';
}

sub _pieces ($text) {
    my @fields = split /\0/, $text, -1;
    my @pieces;
    while ( my ( $kind, $name, $file ) = splice @fields, 0, 3 ) {
        push @pieces, { kind => $kind, name => $name, file => $file } if defined $file;
    }
    return @pieces;
}

# Measures the cost of a piece that is loaded first, and finds the names that it adds to %INC.
sub _alone ($piece) {
    my ( $bytes, $error, @brings ) = _told(
        sub {
            my %before = %INC;
            my $cost   = _cost($piece);
            return ( $cost, $piece->{error} // '', grep { !exists $before{$_} } keys %INC );
        },
        ALONE
    );
    $piece->{error}  = defined $bytes ? $error : 'the code ended its process, or took too long';
    $piece->{bytes}  = $bytes // 0;
    $piece->{brings} = [ grep { $_ ne $piece->{name} } @brings ];
    return;
}

# Growth of this process's private memory by loading the piece, in bytes.
sub _cost ($piece) {
    my $before = _private();
    eval { _load($piece); 1 } or $piece->{error} = $@;
    return _private() - $before;
}

sub _load ($piece) {
    return require $piece->{name} if $piece->{kind} eq 'module';
    require Cameleer::Preload;
    return Cameleer::Preload::compile( $piece->{name}, $piece->{file} );
}

sub _private {
    open my $rollup, '<', '/proc/self/smaps_rollup' or die "Cameleer::Advice: cannot open /proc/self/smaps_rollup: $!\n";
    my $kilobytes = 0;
    /\APrivate_\w+:\s+(\d+)/a and $kilobytes += $1 while <$rollup>;
    return $kilobytes * 1024;
}

# Runs code in a separate process and returns its list; nothing if the process ends early.
sub _told ( $code, $seconds ) {
    pipe my $read, my $write or die "Cameleer::Advice: cannot make a pipe: $!\n";
    my $child = fork // die "Cameleer::Advice: cannot fork: $!\n";
    if ( !$child ) {
        alarm $seconds;
        _private();    # excludes the cost of the measurement itself
        my @results = $code->();
        print {$write} join "\0", @results, 'end';
        close $write;
        kill KILL => $$;    # skips END blocks and destructors of the loaded code
    }
    close $write;
    my $text = do { local $/; <$read> };
    waitpid $child, 0;
    my @results = split /\0/, $text // '', -1;
    return @results && pop @results eq 'end' ? @results : ();
}

sub _object ($piece) {
    my $brings = @{ $piece->{brings} };
    return Cameleer::Inspection::object( ( map { $_ => "$piece->{$_}" } qw(kind name file bytes error) ), brings => "$brings" );
}

1;

__END__

=head1 NAME

Cameleer::Advice - measures the cost of code that workers load after the fork

=head1 DESCRIPTION

The server calls this module for C<cameleer mem --advise>, in a child of the mold, which then ends.

=head2 weigh

First loads each piece of code in a separate process, to find its cost and the modules that it
loads. Pieces that another piece loads are left out. Then loads the others one after the other in
one process, so that shared dependencies count once. A cost is the growth of private memory, by
F</proc/self/smaps_rollup>.

=cut
