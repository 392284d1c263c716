package Apache::Registry::Script;

use v5.36;

use Apache::Registry::Compile ();
use Apache::Registry::Package ();
use Apache::Registry::Source  ();

# Compiles a script. Its BEGIN blocks need its folder and $0, which are already set. Dies with perl's message.
sub new ( $class, $package, $file, $mtime ) {
    my $source = Apache::Registry::Source->read($file);
    my $shown  = $file =~ tr/"\n\r\0/_/r;
    Apache::Registry::Package::forget_subs($package);
    FindBin::again() if $INC{'FindBin.pm'};
    my $self = bless {
        file     => $file,
        # The stamp of the script's file at its last check.
        stamp    => 'unchecked',
        mtime    => $mtime,
        package  => $package,
        warnings => $source->{warnings},
        data     => $source->{data},
        handles  => [ map { "${_}::DATA" } grep { defined } $package, $source->{package} ],
        code     => compile( $package, $shown, $source ),
    }, $class;
    $self->{end_blocks} = [ Apache::Registry::take_end_blocks($shown) ];
    $self->{bin}        = [ $FindBin::Bin, $FindBin::Script, $FindBin::RealBin, $FindBin::RealScript ] if $INC{'FindBin.pm'};
    # Whether a run needs no preparation.
    $self->{code_alone} = !( defined $self->{data} || $self->{warnings} || $self->{bin} );
    return $self;
}

# A named sub: the script's own subs share its variables at the first run, as in mod_perl.
sub compile ( $package, $file, $source ) {
    local $^W = $source->{warnings};
    local ( $@, $! );
    my $text = "package $package; sub __registry__ {\n#line 1 \"$file\"\n$source->{code}\n}\n";
    Apache->untaint($text);
    Apache::Registry::Compile::compile($text);
    my $error = $@;
    if ($error) {
        Apache::Registry::take_end_blocks($file);
        die $error;
    }
    no strict 'refs';
    my $code = \&{"${package}::__registry__"};
    *{"${package}::handler"} = $code unless defined &{"${package}::handler"};
    return $code;
}

sub is_of ( $self, $file, $mtime ) {
    return $self->{mtime} == $mtime && $self->{file} eq $file;
}

sub run ( $self, $r ) {
    $self->open_data if defined $self->{data};
    ( $FindBin::Bin, $FindBin::Script, $FindBin::RealBin, $FindBin::RealScript ) = @{ $self->{bin} } if $self->{bin};
    local $^W = 1 if $self->{warnings};
    $self->{code}->($r);
    return;
}

sub open_data ($self) {
    no strict 'refs';
    for my $name ( @{ $self->{handles} } ) {
        open *{$name}, '<', $self->{file} or die "cannot open $self->{file} for DATA: $!\n";
        seek *{$name}, $self->{data}, 0;
    }
    return;
}

# As at the end of a process, the last block runs first, and a block that dies does not stop the others.
sub run_end_blocks ($self) {
    for my $block ( @{ $self->{end_blocks} } ) {
        eval { $block->(); 1 } or Apache::log_error($@);
    }
    return;
}

1;

__END__

=head1 NAME

Apache::Registry::Script - a compiled script

=head1 SYNOPSIS

    my $script = Apache::Registry::Script->new( $package, $file, $mtime );
    $script->run($r);
    $script->run_end_blocks;

=cut
