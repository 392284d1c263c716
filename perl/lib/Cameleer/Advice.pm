package Cameleer::Advice;

use v5.36;

use Cameleer::Inspection ();

# Longer than any module takes to load, and than all of them may take: who waits for this wants an answer.
use constant { ALONE => 10, TOGETHER => 50 };

# In a child of the mold. Three fields for each piece of code, with zero bytes between them: "module" or "script", the name in
# %INC or the script's key, the file. Returns, as JSON, those that nothing else brings along, and what each would cost a
# worker that loads them one after the other.
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

# In a new mold, before it forks. How many seconds it may take, then the pieces as for weigh: loads those with which it goes well in a
# process of its own, and says how many.
sub load_late ($wanted) {
    my ( $seconds, $pieces ) = split /\0/, $wanted, 2;
    my @pieces = _pieces($pieces);
    my %is_well = map { $_ => 1 } _told( sub { map { my $piece = $_; eval { _load($piece); 1 } ? $piece->{name} : () } @pieces }, $seconds );
    %is_well or warn "PerlPreload: what workers had loaded cannot be loaded here: nothing of it is\n";
    my $count = 0;
    for my $piece ( grep { $is_well{ $_->{name} } } @pieces ) {
        eval { _load($piece); ++$count } or warn "PerlPreload: $piece->{name}: $@";
    }
    return $count;
}

sub _pieces ($text) {
    my @fields = split /\0/, $text, -1;
    my @pieces;
    while ( my ( $kind, $name, $file ) = splice @fields, 0, 3 ) {
        push @pieces, { kind => $kind, name => $name, file => $file } if defined $file;
    }
    return @pieces;
}

# What it costs when it is the first to be loaded, and which names of %INC come with it.
sub _alone ($piece) {
    my ( $bytes, $error, @brings ) = _told(
        sub {
            my %before = %INC;
            my $cost   = _cost($piece);
            return ( $cost, $piece->{error} // '', grep { !exists $before{$_} } keys %INC );
        },
        ALONE
    );
    $piece->{error}  = defined $bytes ? $error : 'it ended its process, or took too long';
    $piece->{bytes}  = $bytes // 0;
    $piece->{brings} = [ grep { $_ ne $piece->{name} } @brings ];
    return;
}

# Bytes that this process alone has more when it is loaded.
sub _cost ($piece) {
    my $before = _private();
    eval { _load($piece); 1 } or $piece->{error} = $@;
    return _private() - $before;
}

sub _load ($piece) {
    return require $piece->{name} if $piece->{kind} eq 'module';
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $piece->{name}, $piece->{file} );
    die $wrong if defined $wrong;
    return;
}

sub _private {
    open my $rollup, '<', '/proc/self/smaps_rollup' or die "/proc/self/smaps_rollup: $!\n";
    my $kilobytes = 0;
    /\APrivate_\w+:\s+(\d+)/a and $kilobytes += $1 while <$rollup>;
    return $kilobytes * 1024;
}

# What code returns in a process of its own, in the list of which nothing is when that has ended before.
sub _told ( $code, $seconds ) {
    pipe my $read, my $write or die "pipe: $!\n";
    my $child = fork // die "fork: $!\n";
    if ( !$child ) {
        alarm $seconds;
        _private();    # what only looking costs
        my @told = $code->();
        print {$write} join "\0", @told, 'end';
        close $write;
        kill KILL => $$;    # nothing that was loaded here has a say at the end
    }
    close $write;
    my $text = do { local $/; <$read> };
    waitpid $child, 0;
    my @told = split /\0/, $text // '', -1;
    return @told && pop @told eq 'end' ? @told : ();
}

sub _object ($piece) {
    my $brings = @{ $piece->{brings} };
    return Cameleer::Inspection::object( ( map { $_ => "$piece->{$_}" } qw(kind name file bytes error) ), brings => "$brings" );
}

1;

__END__

=head1 NAME

Cameleer::Advice - what code would cost that workers load after the fork

=head1 DESCRIPTION

Called by the server, for C<cameleer mem --advise>, in a child of the mold: what it loads there stays nowhere.

=head2 weigh

Each piece of code is loaded in a process of its own first: that tells what it costs, and which other modules it brings. Those that
another one brings along are left out. The others are then loaded one after the other in one process, so that what two of them need
counts once. A cost is the growth of private memory, by F</proc/self/smaps_rollup>.

=head2 load_late

Loads what others had, for C<PerlPreload auto>: all of it in a process of its own first, and here what went well there.

=cut
