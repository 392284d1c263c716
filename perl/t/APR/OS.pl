# APR::OS: the number of the current thread is stable; run by packages.t

use v5.36;

return { thread => [ sub ($r) { APR::OS::current_thread_id() == APR::OS::current_thread_id() ? 'one' : 'two' }, 'one' ] };
