# ModPerl::Global: registers and runs END blocks; run by packages.t

use v5.36;

return {
    end_blocks => [ sub ($r) {
        our @ended;
        ModPerl::Global::special_list_register( END => 'My::Ends' );
        eval 'package My::Ends; END { push @main::ended, "ended" } 1' or die $@;
        ModPerl::Global::special_list_call( END => 'My::Ends' ) for 1, 2;
        ModPerl::Global::special_list_clear( END => 'My::Ends' );
        ModPerl::Global::special_list_call( END => 'My::Ends' );
        join '|', splice @ended;
    }, 'ended|ended' ],
    begin_is_no_special_list => [ sub ($r) { ModPerl::Global::special_list_register( BEGIN => 'My::Ends' ) }, '0' ],
};
