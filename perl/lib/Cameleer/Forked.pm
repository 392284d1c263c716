package Cameleer::Forked;

use v5.36;
use Cameleer::XS ();

use IO::Handle                ();

use Apache::Registry::Compile ();
use Apache::Registry::Source  ();

Cameleer::XS::load('Apache::Registry') unless defined &Apache::Registry::take_end_blocks;

# Scripts of `CgiMode fork` by file: compiled in the worker, run in children that it forks.
my %SCRIPTS;

# Runs in the worker. Takes (file, variables); returns 'yes' if a child may run the script. Otherwise the script
# must be executed: perl checks taint, the script does not compile, or its BEGIN blocks exit and their output is the
# response.
sub prepare ($words) {
    my ( $file, @variables ) = split /\0/, $words;
    return 'no' if ${^TAINT};    # perl taints the input of a program only where its first line has -T
    my $stamp = stamp($file) // return 'no';
    my $known = $SCRIPTS{$file};
    return $known->{code} ? 'yes' : 'no' if $known && $known->{stamp} eq $stamp;
    $SCRIPTS{$file} = { stamp => $stamp };    # remains if a BEGIN block exits
    my $source = eval { Apache::Registry::Source->read($file) } // return 'no';
    my ($line) = $source->{code} =~ /\A#!(.*)/;
    my $switches = defined $line ? switches($line) // return 'no' : '';
    my $script = compiled( $file, $source, $switches, \@variables );
    die $script->{error} if $script->{error} && !defined $line;    # otherwise the error would not be reported
    $SCRIPTS{$file} = { stamp => $stamp, %$script };
    return $script->{code} ? 'yes' : 'no';
}

sub stamp ($file) {
    my @now = stat $file or return;
    return join ' ', @now[ 0, 1, 7, 9, 10 ];
}

# The switches of a #! line; undef if there are switches that are not supported here.
sub switches ($line) {
    my ($switches) = $line =~ /perl\S*((?:\s+-\S+)*)\s*\z/ or return;
    return ( grep { !/\A-(?:[wWl]+|I.+)\z/ } split ' ', $switches ) ? undef : $switches;
}

sub compiled ( $file, $source, $switches, $variables ) {
    my $before = snapshot();
    my %known  = map { $_ => 1 } keys %main::;
    my %loaded = %INC;
    my ($folder) = $file =~ m{\A(.*)/};
    chdir $folder or return {};
    local *0    = \( my $name = $file );
    local @ARGV = ();
    local *STDOUT;
    open STDOUT, '+>', undef or return {};
    my %requests = %ENV;
    my %env      = map { split /=/, $_, 2 } @$variables;
    %ENV = %env;
    unshift @INC, reverse $switches =~ /-I(\S+)/g;
    FindBin::again() if $INC{'FindBin.pm'};
    my $script = evaluated( $file, $source, scalar $switches =~ /-\w*[wW]/ );
    STDOUT->flush;
    delete $script->{code} if -s STDOUT;    # the output is part of the response
    $script->{state} = snapshot();
    $script->{end}   = [ end_blocks($file) ];
    $script->{set}   = { map { $_ => $ENV{$_} } grep { ( $ENV{$_} // '' ) ne ( $env{$_} // '' ) } keys %ENV };
    $script->{unset} = [ grep { !exists $ENV{$_} } keys %env ];
    $script->{own}   = taken( \%known );
    $script->{files} = taken_files( \%loaded );
    $script->{line}  = scalar $switches =~ /-\w*l/;
    $script->{data}  = $source->{data};
    $script->{in}    = [ 'main', grep { defined } $source->{package} ];
    $script->{bin}   = [ $FindBin::Bin, $FindBin::Script, $FindBin::RealBin, $FindBin::RealScript ] if $INC{'FindBin.pm'};
    %ENV = %requests;
    restore($before);
    Apache::Registry::go_home();
    return $script;
}

# The script is compiled as a named sub, so that its own subs share its variables.
sub evaluated ( $file, $source, $warns ) {
    local $^W = $warns ? 1 : 0;
    local ( $@, $! );
    my $shown = $file =~ tr/"\n\r\0/_/r;
    my $text  = "package main; sub __cgi_program__ {\n#line 1 \"$shown\"\n$source->{code}\n}\n";
    Apache::Registry::Compile::evaluate($text);
    return { warns => $warns, $@ ? ( error => $@ ) : ( code => \&main::__cgi_program__ ) };
}

sub end_blocks ($file) {
    return Apache::Registry::take_end_blocks( $file =~ tr/"\n\r\0/_/r );
}

# Removes from main the symbols that a script has added, so that the next script does not see them. Packages
# stay.
sub taken ($known) {
    my %own;
    for my $name ( grep { !$known->{$_} && !/::\z/ } keys %main:: ) {
        no strict 'refs';
        $own{$name} = \*{"main::$name"};
        delete $main::{$name};
    }
    return \%own;
}

# Removes files that are not modules from %INC: they define subs in main, or change @INC, for the script that requires
# them, and the next script must load them again.
sub taken_files ($loaded) {
    my %files;
    for my $name ( grep { !exists $loaded->{$_} && !/\.pm\z/ } keys %INC ) {
        $files{$name} = delete $INC{$name};
    }
    return \%files;
}

# The state that BEGIN blocks and `use` may have set, and that every run starts from.
sub snapshot {
    my %signals = map { $_ => $SIG{$_} } grep { defined $SIG{$_} } keys %SIG;
    return { inc => [@INC], umask => umask, signals => \%signals, separators => [ $/, $\, $,, $", $; ], warns => $^W };
}

sub restore ($state) {
    @INC = @{ $state->{inc} };
    umask $state->{umask};
    ( $/, $\, $,, $", $; ) = @{ $state->{separators} };
    my $signals = $state->{signals};
    delete @SIG{ grep { defined $SIG{$_} && !exists $signals->{$_} } keys %SIG };
    for my $name ( grep { ( $SIG{$_} // '' ) ne $signals->{$_} } keys %$signals ) {
        $SIG{$name} = $signals->{$name};
    }
    return;
}

my $RUNNING;

# Runs in the child. Takes the file, the number of words in the query, the words and the variables.
sub run ($words) {
    my ( $file, $count, @rest ) = split /\0/, $words, -1;
    $RUNNING = $SCRIPTS{$file};
    @ARGV    = splice @rest, 0, $count;
    %ENV     = map { split /=/, $_, 2 } @rest;
    delete @ENV{ @{ $RUNNING->{unset} } };
    @ENV{ keys %{ $RUNNING->{set} } } = values %{ $RUNNING->{set} };
    $main::{$_} = *{ $RUNNING->{own}{$_} } for keys %{ $RUNNING->{own} };
    $INC{$_} = $RUNNING->{files}{$_} for keys %{ $RUNNING->{files} };
    restore( $RUNNING->{state} );
    chdir $file =~ s{/[^/]*\z}{}r or die "cannot enter the folder of $file: $!\n";
    *0 = \( my $name = $file );
    ( $FindBin::Bin, $FindBin::Script, $FindBin::RealBin, $FindBin::RealScript ) = @{ $RUNNING->{bin} } if $RUNNING->{bin};
    forget_mod_perl();
    open_data($file) if defined $RUNNING->{data};
    $\  = $/ if $RUNNING->{line};
    $^W = 1  if $RUNNING->{warns};
    no warnings 'experimental::args_array_with_signatures';
    @_ = ();
    goto &{ $RUNNING->{code} };
}

# CGI.pm may have been loaded for handlers, and would use their request object.
sub forget_mod_perl {
    no warnings 'once';
    $CGI::MOD_PERL = $CGI::Cookie::MOD_PERL = 0;
    return;
}

# Perl opens DATA in the package that is current at __END__.
sub open_data ($file) {
    no strict 'refs';
    for my $package ( @{ $RUNNING->{in} } ) {
        open *{"${package}::DATA"}, '<', $file or die "cannot open $file for DATA: $!\n";
        seek *{"${package}::DATA"}, $RUNNING->{data}, 0;
    }
    return;
}

# Runs after the script, however it ended: the last END block runs first.
sub end (@) {
    for my $block ( @{ $RUNNING->{end} } ) {
        eval { $block->(); 1 } or print STDERR $@;
    }
    return;
}

1;

__END__

=head1 NAME

Cameleer::Forked - scripts of CgiMode fork

=head1 DESCRIPTION

The worker compiles a script once, into the package C<main>. A child that is forked for a request
starts with the variables, C<@INC>, C<%SIG>, C<umask> and separators as they were after compilation,
and runs the script as perl runs a file.

=cut
