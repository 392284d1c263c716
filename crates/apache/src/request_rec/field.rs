//! The numbers of a request's fields for XS. `include/apache.h` repeats them; a test compares.

macro_rules! fields {
    ($(#[$doc:meta])* $name:ident { $($field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names, reason = "MethodNumber is the API's word")]
        pub(crate) enum $name { $($field),* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$field),*];
            #[cfg(test)]
            const NAMES: &[&str] = &[$(stringify!($field)),*];

            pub fn from_number(n: u32) -> Option<$name> {
                Self::ALL.get(n as usize).copied()
            }
        }
    };
}

fields! {
    /// A field with a byte string.
    Text {
        TheRequest, Protocol, Method, Uri, UnparsedUri, Args, Filename, PathInfo, ScriptName, Hostname,
        ContentType, ContentEncoding, StatusLine, User, AuthType, Handler,
        Location, RemoteIp, RemoteHost, LocalIp,
        DocumentRoot, ServerRoot, ServerHostname, ServerAdmin, ServerSoftware, VirtualHost,
        PlaceAuthType, PlaceAuthName,
        CurrentCallback, Dispatcher, ErrorFname, PerlOptions,
    }
}

fields! {
    Number {
        Status, MethodNumber, HeaderOnly, NoCache, SentHeader, BytesSent, RequestTime,
        RemotePort, LocalPort, ServerPort, IsVirtual, AllowOptions, Aborted, LogLevel, BodyLength,
        Satisfies, SomeAuthRequired, Allowed,
        ExpectsHeader,
        Proxyreq, Timeout, Host, Unheard, HasFile, Clength, IsEarly, Gone,
    }
}

impl Text {
    /// Whether the value belongs to the client, for all requests of its connection: httpd stores it there.
    pub fn is_of_client(self) -> bool {
        matches!(self, Text::User | Text::AuthType | Text::RemoteIp | Text::RemoteHost)
    }
}

impl Number {
    /// Whether only the record with the client's response knows the field.
    pub fn is_of_response(self) -> bool {
        matches!(self, Number::Aborted | Number::Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TheRequest` → `APACHE_THE_REQUEST`
    fn constant(name: &str) -> String {
        let mut out = String::from("APACHE");
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(letter.to_ascii_uppercase());
        }
        out
    }

    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("../../include/apache.h");
        for fields in [Text::NAMES, Number::NAMES] {
            let names: Vec<String> = fields.iter().map(|field| constant(field)).collect();
            let listed = |block: &str| block.split(',').map(str::trim).filter(|name| !name.is_empty()).eq(&names);
            assert!(header.split(['{', '}']).any(listed), "no enum of include/apache.h is: {names:?}");
        }
    }
}
