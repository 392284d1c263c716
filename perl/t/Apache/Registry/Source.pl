# Apache::Registry::Source: reads the text of a script up to its end, with its switches and packages; run by packages.t

use v5.36;
use POSIX ();

sub My::Source::of ($text) { return Apache::Registry::Source->read( TestServer::own_file( 'source.pl', $text ) ) }

return {
    a_text_without_an_end_is_all_code         => [ sub ($r) { My::Source::of("print 1;\n")->{code} }, "print 1;\n" ],
    end_ends_the_code                         => [ sub ($r) { My::Source::of("1;\n__END__\nnot code")->{code} }, "1;\n" ],
    data_begins_after_its_line                => [ sub ($r) { my $s = My::Source::of("<DATA>;\n__DATA__\nx"); "$s->{code}$s->{data}" }, "<DATA>;\n17" ],
    data_that_is_never_read_is_dropped        => [ sub ($r) { My::Source::of("1;\n__DATA__\nx")->{data} // 'none' }, 'none' ],
    a_here_document_may_contain_end           => [ sub ($r) { My::Source::of("print <<END;\n__END__\nEND\n2;\n")->{code} }, "print <<END;\n__END__\nEND\n2;\n" ],
    an_indented_here_document_may_contain_end => [ sub ($r) { My::Source::of("print <<~'A B';\n__END__\n  A B\n2;\n__END__\n3")->{code} }, "print <<~'A B';\n__END__\n  A B\n2;\n" ],
    a_shift_begins_no_here_document           => [ sub ($r) { My::Source::of("1 <<one;\n__END__\n3")->{code} }, "1 <<one;\n" ],
    pod_may_contain_end                       => [ sub ($r) { My::Source::of("=pod\n\n__END__\n\n=cut\n2;\n__END__\n3")->{code} }, "=pod\n\n__END__\n\n=cut\n2;\n" ],
    the_switch_w_is_found                     => [ sub ($r) { join '|', map { My::Source::of("#!$_\n1")->{warnings} } '/usr/bin/perl -w', '/usr/bin/perl -T -w', '/usr/bin/perl', '/bin/sh -w' }, '1|1|0|0' ],
    the_last_package_is_found                 => [ sub ($r) { My::Source::of("package A;\n1;\npackage B::C;\n2")->{package} }, 'B::C' ],
    a_byte_order_mark_is_stored               => [ sub ($r) { my $s = My::Source::of("\xEF\xBB\xBF<DATA>;\n__DATA__\nx"); "$s->{code}$s->{data}" }, "<DATA>;\n20" ],
    an_empty_file_is_empty_code               => [ sub ($r) { '[' . My::Source::of('')->{code} . ']' }, '[]' ],
    a_missing_file_dies                       => [ sub ($r) { eval { Apache::Registry::Source->read('/no/such') }; $@ }, "cannot open /no/such: No such file or directory\n" ],
    a_folder_dies                             => [ sub ($r) { eval { Apache::Registry::Source->read('/tmp') }; $@ }, "cannot open /tmp: Is a directory\n" ],
    a_pipe_dies                               => [ sub ($r) { my $path = TestServer::own_file('source.pipe'); POSIX::mkfifo( $path, 0700 ); eval { Apache::Registry::Source->read($path) }; $@ }, qr/: Invalid argument\n\z/ ],
};
