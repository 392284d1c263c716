package Cameleer::Size;

use v5.36;

use B                         ();
use B::TerseSize              ();
use JSON::PP                  ();
use Scalar::Util              ();
use Sub::Util                 ();
use Apache::Registry::Package ();

# Takes `module Name` or `script /file`; returns the subs of its package as JSON.
sub of ($asked) {
    my ( $kind, $name ) = split / /, $asked, 2;
    my $package = $kind eq 'module' ? loaded($name) : compiled($name);
    return JSON::PP->new->ascii->encode( { package => $package, subs => [ subs($package) ] } );
}

sub loaded ($module) {
    require( $module =~ s{::}{/}gr . '.pm' );
    return $module;
}

# Compiles a script, as a worker does at its first request.
sub compiled ($file) {
    require Apache::RegistryLoader;
    my ( undef, $wrong ) = Apache::RegistryLoader->new->compile( $file, $file );
    die $wrong if defined $wrong;
    return Apache::Registry::Package::name_of($file);
}

# A sub counts once, under its original name; each other name costs only the size of a name.
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

# The names of a package's subs. The package's own name, such as `handler`, precedes Registry's internal one.
sub names ($package) {
    no strict 'refs';
    my @names = grep { !/::\z/ && exists &{"${package}::$_"} } keys %{"${package}::"};
    return sort { ( $a eq '__registry__' ) <=> ( $b eq '__registry__' ) || $a cmp $b } @names;
}

sub code ( $package, $name ) {
    no strict 'refs';
    return \&{"${package}::$name"};
}

# The full name of an imported sub. An anonymous sub belongs to this package, unless the package that made it
# has it under the same name.
sub imported ( $package, $name, $code ) {
    my ( $of, $own ) = ( Sub::Util::subname($code) // '' ) =~ /\A(.*)::(.*)\z/s or return;
    return if $of eq $package;
    return "${of}::$own" if $own ne '__ANON__';
    no strict 'refs';
    return defined &{"${of}::$name"} && \&{"${of}::$name"} == $code ? "${of}::$name" : undef;
}

# Size of a glob and its name, without the growth of the package's symbol table.
sub name_size ( $package, $name ) {
    no strict 'refs';
    return B::TerseSize::value_size( \*{"${package}::$name"} ) + length $name;
}

# Closures of one piece of code share its operators, which count for the outer sub.
sub own_size ($code) {
    my $cv = B::svref_2object($code);
    return B::TerseSize::sub_size($code) unless $cv->CvFLAGS & B::CVf_CLONED;
    return ( 0, B::TerseSize::value_size($code) + B::TerseSize::pad_size($cv) );
}

1;

__END__

=head1 NAME

Cameleer::Size - the Perl half of cameleer size

=head1 SYNOPSIS

    my $json = Cameleer::Size::of('module My::Module');
    # {"package":"My::Module","subs":[{"name":"new","bytes":1966,"ops":27},{"name":"carp","bytes":260,"ops":0,"of":"Carp::carp"}]}

=head1 DESCRIPTION

Sizes are those of L<B::TerseSize>. An imported sub, or a second name of a sub, counts only as its
name; C<of> has the sub's full name.

=cut
