package Cameleer::Preload;

use v5.36;

use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

# $$ in a trial that looks for stored process ids: a number that no program has by chance.
use constant PID => 1_957_423_861;

# Values with that number, and what later changes are compared with.
my ( $values, %state );

# Modules with random numbers of their own, which each worker would draw alike. The trial sees only perl's.
my @SEEDED = map { s{::}{/}gr . '.pm' } qw(
    Bytes::Random::Secure Data::UUID Math::Prime::Util Math::Random::ISAAC Math::Random::ISAAC::XS Math::Random::MT
    Math::Random::MT::Auto Math::Random::MTwist Math::Random::Secure Math::Random::Xorshift
);

# Errors of other modules' handlers are not for a trial.
my @HANDLERS = qw(__DIE__ __WARN__);

# Runs in a child of the mold that is thrown away, before the first piece of code.
sub begin_trial {
    _draws();
    %state = _state();
    _reads_pid();
    return;
}

# Runs after begin_trial if the child is to find code that stores its process id.
sub pretend_pid {
    $$      = PID;
    $values = _values_with(PID);
    return;
}

# Loads a piece of code in the child: kind, name and file, separated by zero bytes. Returns nothing if that has changed
# the process in no way that workers would notice, or else "d" or "e" and the reason. After "d", an error, nothing is
# left of the piece.
sub try_out ($fields) {
    my ( $kind, $name, $file ) = split /\0/, $fields, -1;
    my %before = %INC;
    my $died   = eval { _load( $kind, $name, $file ); 1 } ? undef : "$@" || 'fails';
    my $effect = _effect();
    return "e$effect" if defined $effect;
    return ''         if !defined $died;
    $died =~ s/\s*\bCompilation failed in require at .*\z//s;
    my @brought = grep { defined $INC{$_} && !exists $before{$_} } keys %INC;
    _forget_failures();
    return ( @brought ? 'e' : 'd' ) . "fails: $died";
}

# Whether the code of this name is loaded in the child after all, because other code has loaded it.
sub is_loaded ($name) { return defined $INC{$name} ? 1 : '' }

# Whether code has read $$ since the last call.
sub reads_pid ($) { return _reads_pid() ? 1 : '' }

# Whether a value has the pretended process id that had none at the last call.
sub stores_pid ($) {
    my $now  = _values_with(PID);
    my $more = $now > $values;
    $values = $now;
    return $more ? 1 : '';
}

# Loads pieces of code in the mold: three fields for each, separated by zero bytes. Returns their number, and the growth
# of the mold's memory in bytes.
sub load ($fields) {
    my @fields = split /\0/, $fields, -1;
    my ( $count, $before ) = ( 0, _own_memory() );
    while ( my ( $kind, $name, $file ) = splice @fields, 0, 3 ) {
        eval { _load( $kind, $name, $file ); ++$count } or warn "PerlPreload: $name: $@";
        _forget_failures();
    }
    return $count . ' ' . ( _own_memory() - $before );
}

# Otherwise perl refuses to load a module again that has failed.
sub _forget_failures () {
    delete @INC{ grep { !defined $INC{$_} } keys %INC };
    return;
}

sub _load ( $kind, $name, $file ) {
    local @SIG{@HANDLERS};
    return _load_module( $name, $file ) if $kind eq 'module';
    local @INC = @INC;    # as after a request: scripts may say `use lib`
    local $^W  = $^W;
    return compile( $name, $file );
}

# Compiles a script under the key that Cameleer::Inspection has reported. Dies with the reason.
sub compile ( $key, $file ) {
    return _compile_for_mod_perl_2( $1, $2, $file ) if $key =~ /\A(ModPerl::\w+) (.+)\z/s;
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $key, $file );
    die $wrong if defined $wrong;
    return;
}

# Scripts of ModPerl::Registry, by class and URI: their files.
our %COMPILED;

sub _compile_for_mod_perl_2 ( $class, $uri, $file ) {
    require ModPerl::RegistryLoader;
    my $status = ModPerl::RegistryLoader->new( package => $class )->handler( $uri, $file );
    die "$file: status " . ( $status // 'unknown' ) . "\n" if !defined $status || $status != 0;
    $COMPILED{"$class $uri"} = $file;
    return;
}

# A worker may have found its file elsewhere, by an @INC of its own.
sub _load_module ( $name, $file ) {
    my ($found) = grep { -f } map { "$_/$name" } grep { !ref } @INC;
    die "the file is not in the mold's \@INC\n" if ( $INC{$name} // $found // '' ) ne $file;
    require $name;
    return;
}

# The way in which the process has changed since the last call, or undef.
sub _effect () {
    my %now = _state();
    my ($changed) = grep { ( $now{$_} // '' ) ne ( $state{$_} // '' ) } sort keys %{ { %state, %now } };
    %state = %now;
    my ( $forks, $draws, $waits ) = ( waitpid( -1, 1 ) != -1, _draws(), _stops_timers() );    # 1: WNOHANG
    return 'starts a process'     if $forks;
    return 'draws random numbers' if $draws;
    return 'starts a timer'       if $waits;
    return undef                  if !defined $changed;
    return $changed =~ /\A(?:draws|opens|prints) / ? $changed : "changes $changed";
}

sub _state () {
    require POSIX;
    my $umask    = umask;    # beside a tainted value perl refuses to read it
    my $selected = select STDOUT;
    my $flushes  = $|;
    ( $|, $| ) = ( 1, $flushes );    # writes what is buffered
    select $selected;
    my $handlers = join ' ', map { "$_=$SIG{$_}" } grep { length( $SIG{$_} // '' ) } sort keys %SIG;
    return (
        '%ENV'                  => join( "\0", map { ( $_, $ENV{$_} // '' ) } sort keys %ENV ),
        '%SIG'                  => $handlers,
        '$0'                    => $0,
        'the working directory' => readlink('/proc/self/cwd') // '',
        'the umask'             => $umask,
        'its user'              => "$< $> $( $)",
        'its threads'           => scalar _numbers_in('/proc/self/task'),
        '@INC'                  => join( "\0", @INC ),
        'a separator'           => join( "\0", map { $_ // 'undef' } $/, $\, $,, $;, $" ),
        '$^W or $^F'            => "$^W $^F",
        'the locale'            => POSIX::setlocale( POSIX::LC_ALL() ) // '',
        'the signal mask'       => _signal_mask(),
        'prints to STDOUT'      => -s '/proc/self/fd/1' // 0,
        ( map { ( "opens $_" => 1 ) } _descriptors() ),
        ( map { ( "draws random numbers of $_" => 1 ) } grep { defined $INC{$_} } @SEEDED ),
    );
}

# Open descriptors, but for regular files that are only read: each worker opens those again.
sub _descriptors () {
    my @open;
    for my $number ( _numbers_in('/proc/self/fd') ) {
        my $target = readlink "/proc/self/fd/$number" // next;
        next if -f "/proc/self/fd/$number" && _only_reads($number);
        push @open, "$target (descriptor $number)";
    }
    return @open;
}

sub _numbers_in ($path) {
    opendir my $folder, $path or return;
    return grep { /\A\d+\z/a } readdir $folder;
}

sub _signal_mask () {
    open my $about, '<', '/proc/self/status' or return '';
    my ($mask) = grep { /\ASigBlk:/a } <$about>;
    return $mask // '';
}

sub _only_reads ($descriptor) {
    open my $about, '<', "/proc/self/fdinfo/$descriptor" or return '';
    my ($flags) = map { /\Aflags:\s*([0-7]+)/a } <$about>;
    return defined $flags && ( oct($flags) & 3 ) == 0;
}

sub _own_memory () {
    open my $rollup, '<', '/proc/self/smaps_rollup' or return 0;
    my $kilobytes = 0;
    /\APrivate_\w+:\s+(\d+)/a and $kilobytes += $1 while <$rollup>;
    return $kilobytes * 1024;
}

1;

__END__

=head1 NAME

Cameleer::Preload - loads code that workers of earlier runs loaded after the fork

=head1 DESCRIPTION

The server calls this module for C<PerlPreload auto>: C<begin_trial>, C<try_out>, C<is_loaded> and
C<reads_pid> in a child of the mold that is thrown away, then C<load> in the mold. If code has read
C<$$>, there is another child in between, with C<pretend_pid> and C<stores_pid>.

=head2 try_out

Loads a module, or compiles a Registry script, and returns why that is not safe in a process that
others are forked from. The text is empty for code that only defines subs and variables. It is not
safe when the code fails, is not the file that workers had, prints to STDOUT, changes C<%ENV>,
C<%SIG>, C<@INC>, C<$0>, C<$^W>, C<$^F>, C<$/> and other separators, the working directory, the
umask, the locale, the signal mask or the user, draws random numbers, loads one of some modules that
draw their own, starts a timer, a process or a thread, or leaves a descriptor open that is not a
regular file for reading.

=head2 stores_pid

Whether a value of the program has the process id, as after C<my $pid = $$>. C<$$> is a number that
no program has by chance, which code could notice: so other results of that child do not count.

=cut
