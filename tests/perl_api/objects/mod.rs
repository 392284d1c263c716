//! Objects with overloading and tied values where the server's C code reads their text. Their Perl code runs during
//! that read and may change the value being read. The damage is limited to the request itself.

mod api;
mod environment;
mod exceptions;
mod psgi;

/// A class of objects whose text and number is the result of their code.
const OBJECT: &str = "package Text { use overload '\"\"' => sub { $_[0][0]->() }, '0+' => sub { $_[0][0]->() }, fallback => 1; \
    sub of { bless [$_[1]], $_[0] } }\n";
