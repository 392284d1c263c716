package Cameleer::Size;

use v5.36;

use B                         ();
use B::TerseSize              ();
use JSON::PP                  ();
use Scalar::Util              ();
use Sub::Util                 ();
use Apache::Registry::Package ();

# `module Name` or `script /file`: the subs of its package, as JSON.
sub of ($asked) {
    my ( $kind, $name ) = split / /, $asked, 2;
    my $package = $kind eq 'module' ? loaded($name) : compiled($name);
    return JSON::PP->new->ascii->encode( { package => $package, subs => [ subs($package) ] } );
}

sub loaded ($module) {
    require( $module =~ s{::}{/}gr . '.pm' );
    return $module;
}

# As a worker has it after its first request.
sub compiled ($file) {
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $file, $file );
    die $wrong if defined $wrong;
    return Apache::Registry::Package::name_of($file);
}

# A sub counts once, under the name that it was defined with; each other name costs what a name costs.
sub subs ($package) {
    my ( %name_of, @subs );
    for my $name ( names($package) ) {
        my $code = code( $package, $name );
        my $size = name_size( $package, $name );
        my $address = Scalar::Util::refaddr($code);
        if ( defined( my $of = imported( $package, $name, $code ) // $name_of{$address} ) ) {
            push @subs, { name => $name, bytes => $size, ops => 0, of => $of };
            next;
        }
        $name_of{$address} = $name;
        my ( $ops, $bytes ) = own_size($code);
        push @subs, { name => $name, bytes => $bytes + $size, ops => $ops };
    }
    return @subs;
}

# What the package calls `handler` is that, before it is Registry's own name for it.
sub names ($package) {
    no strict 'refs';
    my @names = grep { !/::\z/ && exists &{"${package}::$_"} } keys %{"${package}::"};
    return sort { ( $a eq '__registry__' ) <=> ( $b eq '__registry__' ) || $a cmp $b } @names;
}

sub code ( $package, $name ) {
    no strict 'refs';
    return \&{"${package}::$name"};
}

# The full name of a sub that another package has. One without a name was made for this package, unless the one that made it has it
# under the same name.
sub imported ( $package, $name, $code ) {
    my ( $of, $own ) = ( Sub::Util::subname($code) // '' ) =~ /\A(.*)::(.*)\z/s or return;
    return if $of eq $package;
    return "${of}::$own" if $own ne '__ANON__';
    no strict 'refs';
    return defined &{"${of}::$name"} && \&{"${of}::$name"} == $code ? "${of}::$name" : undef;
}

# The glob and its name; that the package's table has grown by an entry is not in it.
sub name_size ( $package, $name ) {
    no strict 'refs';
    return B::TerseSize::value_size( \*{"${package}::$name"} ) + length $name;
}

# Closures of one piece of code share its operators: what made them has these.
sub own_size ($code) {
    my $cv = B::svref_2object($code);
    return B::TerseSize::sub_size($code) unless $cv->CvFLAGS & B::CVf_CLONED;
    return ( 0, B::TerseSize::value_size($code) + B::TerseSize::pad_size($cv) );
}

1;

__END__

=head1 NAME

Cameleer::Size - what cameleer size asks Perl

=head1 SYNOPSIS

    my $json = Cameleer::Size::of('module My::Module');
    # {"package":"My::Module","subs":[{"name":"new","bytes":1966,"ops":27},{"name":"carp","bytes":260,"ops":0,"of":"Carp::carp"}]}

=head1 DESCRIPTION

Sizes are those of L<B::TerseSize>. A sub that was imported, and a second name for a sub, counts as much as its name takes; C<of> says
whose it is.

=cut
