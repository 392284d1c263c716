# Apache::Symdump: writes the symbol table, and then what was added; run by packages.t

use v5.36;

sub My::Dumped::files { return glob TestServer::own_file("logs/symdump.$$.*") }
sub My::Dumped::text ($path) { open my $in, '<', $path or return 'none'; local $/ = undef; return <$in> }

return {
    a_first_request_writes_all_symbols    => [ sub ($r) { mkdir TestServer::own_file('logs'); Apache::Symdump::handler($r) . ( My::Dumped::text( TestServer::own_file("logs/symdump.$$.0") ) =~ /^functions My::Dumped::files$/m ? ' written' : '' ) }, '-1 written' ],
    a_second_request_writes_added_symbols => [ sub ($r) { no strict 'refs'; ${'My::Dumped::added'} = 1; Apache::Symdump::handler($r); my $text = My::Dumped::text( TestServer::own_file("logs/symdump.$$.1") ); join '|', map { $text =~ /$_/ ? 'there' : 'none' } 'scalars My::Dumped::added', 'functions My::Dumped::files' }, 'there|none' ],
    an_unwritable_folder_is_survived      => [ sub ($r) { Apache::Symdump::write_new( $r, ['x'] ) for 1; rename TestServer::own_file('logs'), TestServer::own_file('moved'); Apache::Symdump::handler($r) }, '-1' ],
};
