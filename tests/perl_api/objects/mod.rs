//! Values that are objects or tied, where the server's C code takes their text: their code runs in the middle of that, and
//! may do anything to what is being read. Nothing of it may cost more than its own request.

mod api;
mod environment;
mod exceptions;
mod psgi;

/// Objects whose text is what their code returns.
const OBJECT: &str = "package Text { use overload '\"\"' => sub { $_[0][0]->() }, '0+' => sub { $_[0][0]->() }, fallback => 1; \
    sub of { bless [$_[1]], $_[0] } }\n";
