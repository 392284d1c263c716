package CurlClient;

# An HTTP client with the interface of HTTP::Tiny that uses curl, for TLS and HTTP/2.

use v5.36;
use File::Temp   ();
use HTTP::Status ();

# The options select how curl connects.
sub new ( $class, @options ) { return bless { options => \@options }, $class }

sub get ( $self, $url, $options = {} ) { return $self->request( GET => $url, $options ) }

sub request ( $self, $method, $url, $options = {} ) {
    my ( $file, @request ) = request_options( $method, $options );
    my $said = output_of( $self->curl, '-i', @request, $url );
    return $? ? failed( $? >> 8 ) : answer($said);
}

# The same request for each URL, by one process. The answers have the order of the URLs.
sub request_each ( $self, $method, $urls, $options = {} ) {
    my ( $file, @request ) = request_options( $method, $options );
    my $end     = sprintf '--end-%d-%d--', $$, rand 1e9;
    my @ports   = $self->ports( scalar @$urls );
    my @command = map { ( '--next', $self->options, splice( @ports, 0, 2 ), '-i', '-w', "$end%{exitcode}\n", @request, $_ ) } @$urls;
    my $said    = output_of( 'curl', '-q', @command[ 1 .. $#command ] );
    my @answers;
    push @answers, $2 ? failed($2) : answer($1) while $said =~ /\G(.*?)\Q$end\E(\d+)\n/gs;
    @answers == @$urls or die "curl: @{[ scalar @answers ]} answers to @{[ scalar @$urls ]} requests";
    return @answers;
}

# For each request, the option that makes curl open a connection. curl 7.88 fails when it uses one by HTTP/2 without TLS
# again (exit code 16), and uses none again whose range of local ports is another one. The ports are below those that the
# kernel gives to others.
sub ports ( $self, $count ) {
    return if !grep { $_ eq '--http2-prior-knowledge' } $self->options;
    my $first = 20000 + int rand 5000;
    return map { ( '--local-port', ( $first + $_ ) . '-32767' ) } 1 .. $count;
}

# The output; `$?` is the wait status.
sub output_of (@command) {
    open my $curl, '-|:raw', @command or die "curl: $!";
    my $said = do { local $/ = undef; <$curl> } // '';
    close $curl;
    return $said;
}

sub failed ($code) { return { success => '', status => 599, reason => 'Internal Exception', headers => {}, content => "curl: $code" } }

# The file of the body, which lives as long as the first value, and curl's options.
sub request_options ( $method, $options ) {
    my %headers = ( 'User-Agent' => 'HTTP-Tiny', %{ $options->{headers} // {} } );
    my @body;
    if ( defined $options->{content} ) {
        my $file = File::Temp->new;
        binmode $file;
        print {$file} $options->{content};
        close $file;
        @body = ( $file, '--data-binary', "\@$file" );
        $headers{'Content-Type'} = 'application/octet-stream' if !grep { lc eq 'content-type' } keys %headers;
    }
    my ( $file, @with_body ) = @body;
    my @method = $method eq 'HEAD' ? '--head' : ( '-X', $method );
    return ( $file, @method, @with_body, header_options(%headers) );
}

# Sends a request, and disconnects after the first bytes of the response: curl ends when its output has no reader.
sub leave ( $self, $url ) {
    open my $curl, '-|', $self->curl, '-N', $url or die "curl: $!";
    sysread $curl, my $some, 4096;
    close $curl;
    return;
}

sub curl    ($self) { return ( 'curl', '-q', $self->options ) }
sub options ($self) { return ( qw(-sS --noproxy * --path-as-is --globoff --max-time 20), @{ $self->{options} } ) }

# Removes headers that curl would add; an empty value is written with a semicolon.
sub header_options (%headers) {
    my @given = map {
        my $name = $_;
        map { length ? "$name: $_" : "$name;" } ref $headers{$name} ? @{ $headers{$name} } : $headers{$name}
    } sort keys %headers;
    my @unwanted = grep { my $name = lc; !grep { lc eq $name } keys %headers } qw(Accept Expect);
    return map { ( '-H', $_ ) } @given, map {"$_:"} @unwanted;
}

sub answer ($said) {
    my ( $head, $content ) = ( '', $said );
    ( $head, $content ) = split /\r\n\r\n/, $content, 2 while $content =~ m{\AHTTP/\S+ 1\d\d} || !length $head;
    my ( $first, @lines )  = split /\r\n/, $head;
    my ( undef, $status, $reason ) = split / /, $first, 3;
    my %headers;
    for my $line (@lines) {
        my ( $name, $value ) = $line =~ /\A([^:]+):[ \t]*(.*?)[ \t]*\z/s or next;
        $name = lc $name;
        $headers{$name} = exists $headers{$name} ? [ ref $headers{$name} ? @{ $headers{$name} } : $headers{$name}, $value ] : $value;
    }
    # HTTP/2 has no reason phrases, so the standard ones are used.
    $reason = HTTP::Status::status_message($status) // '' if !length( $reason // '' );
    return { success => $status < 300, status => $status, reason => $reason, headers => \%headers, content => $content // '' };
}

1;
