//! For each directive that `.htaccess` files may contain, a text that grows with a number: more arguments, or more
//! lines that each use the result of the previous one.

/// Ways in which the text of a directive grows.
pub enum Grown {
    /// The function that makes the text from a number.
    By(fn(usize) -> String),
    /// A line with one short argument, repeated.
    Line(&'static str),
}

use Grown::{By, Line};

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|number| line(number) + "\n").collect()
}

fn words(n: usize, word: impl Fn(usize) -> String) -> String {
    (0..n).map(|number| format!(" {}", word(number))).collect()
}

/// An expression in which each comparison repeats the match of the last pattern.
fn expression(n: usize) -> String {
    let part = format!(" && '{}' =~ /(.+)/", "$0".repeat(n));
    format!("'xxxxxxxxxx' =~ /(.+)/{}", part.repeat((30_000 / part.len()).min(n)))
}

/// A condition whose texts double, and that looks at files.
fn conditions(n: usize, number: usize) -> String {
    match number % 3 {
        0 => expression(n.min(300)),
        1 => format!(
            "-f '/{}' && '{}' -strmatch '{}b'",
            "x/".repeat(n),
            "a".repeat(n.min(2000)),
            "*a".repeat(n.min(1000))
        ),
        _ => format!(
            "'a' in {{ '{}' }} || md5('{}') == sub(s/x/yy/g, '{}')",
            "b".repeat(n.min(2000)),
            "%{THE_REQUEST}".repeat(n.min(500)),
            "x".repeat(n.min(2000))
        ),
    }
}

/// Variables that each contain the last variable's value twice.
fn doubled(n: usize) -> String {
    "SetEnvIf X \"(.*)\" A0=$1\n".to_owned()
        + &lines(n, |i| format!("SetEnvIf A{i} \"(.*)\" A{}=$1$1", i + 1))
        + "SetEnvIf A10 \"(.*)\" E=$1\n"
}

fn headers(directive: &str, n: usize) -> String {
    let all = format!("{doubled}{directive} set Y \"{values}\"\n", doubled = doubled(12), values = "%{E}e".repeat(n));
    let edits = format!("{directive} edit* Y a aa\n").repeat(n.min(100));
    let adds = lines(n.min(300), |i| format!("{directive} append Y{i} \"%{{E}}e\"\n{directive} add Z \"%{{E}}e\""));
    all + &edits + &adds + &format!("{directive} merge Z \"%{{E}}e\"\n").repeat(n.min(100))
}

fn nested(name: &str, n: usize, inner: &str) -> String {
    format!("<{name}>\n").repeat(n) + inner + "\n" + &format!("</{name}>\n").repeat(n)
}

fn listed(name: &str, value: &str, n: usize) -> String {
    format!("{name} {value}{}\n", words(n, |i| format!(".e{i}"))).repeat(10)
}

/// Icons or texts of listings for many patterns.
fn pictures(directive: &str, n: usize, pattern: &str) -> String {
    format!("IndexOptions FancyIndexing\n{directive}{}\n", words(n, |i| format!("{pattern}{i}")))
}

/// Every directive of the table that `AllowOverride` can allow. A test compares the names with the table.
pub const DIRECTIVES: &[(&str, Grown)] = &[
    ("ServerSignature", Line("EMail")),
    ("UseCanonicalName", Line("Off")),
    ("LimitRequestBody", Line("1000")),
    ("SSLOptions", By(|n| format!("SSLOptions{}\n", words(n, |_| "+StdEnvVars".into())))),
    ("SSLRequireSSL", Line("")),
    ("SSLRequire", By(|n| format!("SSLRequire {}\n", expression(n)) + &lines(n, |_| "SSLRequire true".into()))),
    ("SSLVerifyClient", Line("optional")),
    ("SSLVerifyDepth", Line("1")),
    ("SSLUserName", By(|n| format!("SSLUserName SSL_{}\n", "A".repeat(n)))),
    ("DefaultType", By(|n| format!("DefaultType text/{}\n", "a".repeat(n)))),
    ("DirectoryIndex", By(|n| lines(10, |line| format!("DirectoryIndex{}", words(n, |i| format!("i{line}-{i}")))))),
    ("Options", By(|n| format!("Options{}\n", words(n, |_| "+Indexes".into())))),
    ("SetHandler", Line("default-handler")),
    (
        "FcgidWrapper",
        By(|n| lines(n, |number| format!("FcgidWrapper \"/bin/true{}\" .x{number}", " a".repeat(n.min(1000))))),
    ),
    ("ProxyFCGIBackendType", Line("GENERIC")),
    (
        "ProxyFCGISetEnvIf",
        By(|n| {
            format!("ProxyFCGISetEnvIf \"{}\" x 1\n", expression(n))
                + &lines(n, |i| format!("ProxyFCGISetEnvIf \"%{{HTTP:X}} =~ /.+/\" y{i} {}", "$1".repeat(9)))
        }),
    ),
    ("AddType", By(|n| listed("AddType", "text/plain", n))),
    ("ForceType", By(|n| format!("ForceType text/{}\n", "a".repeat(n)))),
    ("AddHandler", By(|n| listed("AddHandler", "default-handler", n))),
    ("AddEncoding", By(|n| listed("AddEncoding", "x-gzip", n))),
    ("AddLanguage", By(|n| listed("AddLanguage", "de", n))),
    ("DefaultLanguage", By(|n| format!("DefaultLanguage {}\n", "a".repeat(n)))),
    ("AddCharset", By(|n| listed("AddCharset", "utf-8", n))),
    ("RemoveType", By(|n| listed("RemoveType", "", n))),
    ("RemoveHandler", By(|n| listed("RemoveHandler", "", n))),
    ("RemoveEncoding", By(|n| listed("RemoveEncoding", "", n))),
    ("RemoveLanguage", By(|n| listed("RemoveLanguage", "", n))),
    ("RemoveCharset", By(|n| listed("RemoveCharset", "", n))),
    ("AddDefaultCharset", By(|n| format!("AddDefaultCharset {}\n", "a".repeat(n)))),
    ("Action", By(|n| lines(n, |i| format!("Action text/t{i} /page")))),
    ("DirectorySlash", Line("Off")),
    ("DirectoryIndexRedirect", Line("On")),
    ("DirectoryCheckHandler", Line("On")),
    ("LanguagePriority", By(|n| lines(10, |line| format!("LanguagePriority{}", words(n, |i| format!("l{line}-{i}")))))),
    ("ForceLanguagePriority", Line("Prefer")),
    ("MultiviewsMatch", Line("Any")),
    ("CookieTracking", Line("On")),
    ("CookieName", By(|n| format!("CookieName {}\nCookieTracking On\n", "a".repeat(n)))),
    ("CookieDomain", By(|n| format!("CookieDomain .x.{}\nCookieTracking On\n", "a".repeat(n)))),
    ("CookieExpires", By(|n| format!("CookieExpires \"{}\"\nCookieTracking On\n", "1 days ".repeat(n)))),
    ("CookieStyle", Line("Cookie")),
    ("CookieHTTPOnly", Line("On")),
    ("CookieSecure", Line("On")),
    ("CookieSameSite", Line("Lax")),
    ("CheckSpelling", Line("On")),
    ("CheckCaseOnly", Line("On")),
    ("CheckBasenameMatch", Line("On")),
    ("FallbackResource", By(|n| lines(n, |i| format!("FallbackResource /x{i}")))),
    ("IndexOptions", By(|n| format!("IndexOptions{}\n", words(n, |_| "+FancyIndexing".into())))),
    ("IndexIgnore", By(|n| format!("IndexIgnore{}\n", words(n, |i| format!("*{i}*{}*", i % 7))))),
    ("IndexIgnoreReset", Line("On")),
    ("IndexOrderDefault", Line("Ascending Name")),
    ("AddIcon", By(|n| pictures("AddIcon (A,/i.png)", n, "*a*"))),
    ("AddIconByType", By(|n| pictures("AddIconByType (A,/i.png)", n, "text/*"))),
    ("AddIconByEncoding", By(|n| pictures("AddIconByEncoding (A,/i.png)", n, "x-*"))),
    ("AddAlt", By(|n| pictures("AddAlt a", n, "*a*"))),
    ("AddAltByType", By(|n| pictures("AddAltByType a", n, "text/*"))),
    ("AddAltByEncoding", By(|n| pictures("AddAltByEncoding a", n, "x-*"))),
    ("AddDescription", By(|n| pictures("AddDescription \"a text\"", n, "*a*"))),
    ("DefaultIcon", By(|n| format!("DefaultIcon /{}\n", "a".repeat(n)))),
    ("HeaderName", By(|n| format!("HeaderName /{}\n", "a".repeat(n)))),
    ("ReadmeName", By(|n| format!("ReadmeName /{}\n", "a".repeat(n)))),
    ("IndexHeadInsert", By(|n| format!("IndexHeadInsert {}\n", "a".repeat(n)))),
    ("IndexStyleSheet", By(|n| format!("IndexStyleSheet /{}\n", "a".repeat(n)))),
    ("AcceptPathInfo", Line("On")),
    ("FileETag", Line("+Size +MTime")),
    ("Redirect", By(|n| lines(n, |i| format!("Redirect /r{i}/{} http://localhost/", "a".repeat(40))))),
    ("RedirectMatch", By(|n| format!("RedirectMatch \"^(/.*)\" \"http://localhost/{}\"\n", "$1".repeat(n)))),
    ("RedirectRelative", Line("On")),
    ("CGIPassAuth", Line("On")),
    ("RedirectTemp", By(|n| lines(n, |i| format!("RedirectTemp /r{i} http://localhost/")))),
    ("RedirectPermanent", By(|n| lines(n, |i| format!("RedirectPermanent /r{i} http://localhost/")))),
    ("ErrorDocument", By(|n| lines(10, |i| format!("ErrorDocument {} \"{}\"", 400 + i, "text ".repeat(n))))),
    ("RewriteEngine", Line("On")),
    (
        "RewriteRule",
        By(|n| {
            let rule = format!("RewriteRule (.*) $1{} [NE,E=A:%{{ENV:A}}$1$1]\n", "$1".repeat(n.min(200)));
            format!("RewriteEngine On\nRewriteRule (.*) $1 [N]\n{}", rule.repeat(n))
        }),
    ),
    (
        "RewriteCond",
        By(|n| {
            let condition = format!("RewriteCond {}%{{HTTP:X}} \"^(.*)$\"\n", "%1".repeat(n));
            format!("RewriteEngine On\n{}RewriteRule . - [E=A:%1%1]\n", condition.repeat(n)).repeat(4)
        }),
    ),
    ("RewriteBase", By(|n| format!("RewriteBase /{}\n", "a/".repeat(n)))),
    ("RewriteOptions", By(|n| format!("RewriteOptions{}\n", words(n, |_| "Inherit".into())))),
    ("Header", By(|n| headers("Header", n))),
    ("RequestHeader", By(|n| headers("RequestHeader", n))),
    ("ErrorHeader", By(|n| format!("{}ErrorHeader set Y \"{}\"\n", doubled(12), "%{E}e".repeat(n)))),
    ("ExpiresActive", Line("On")),
    ("ExpiresByType", By(|n| "ExpiresActive On\n".to_owned() + &lines(n, |i| format!("ExpiresByType a/b{i} A9")))),
    ("ExpiresDefault", By(|n| format!("ExpiresDefault \"access plus{}\"\n", words(n, |_| "1 day".into())))),
    ("SetOutputFilter", By(|n| format!("SetOutputFilter DEFLATE{}\n", ";DEFLATE".repeat(n)))),
    ("AddOutputFilterByType", By(|n| format!("AddOutputFilterByType DEFLATE{}\n", words(n, |i| format!("a/b{i}"))))),
    ("FilterDeclare", By(|n| lines(n, |i| format!("FilterDeclare f{i} CONTENT_SET")))),
    (
        "FilterProvider",
        By(|n| {
            let chain = format!("FilterProvider f SUBSTITUTE \"false\"\nFilterChain{}\n", words(100, |_| "f".into()));
            chain + &lines(n, |i| format!("FilterProvider f DEFLATE \"{} && 'b' == 'a{i}'\"", conditions(n, i)))
        }),
    ),
    (
        "FilterChain",
        By(|n| lines(n, |_| format!("FilterProvider f SUBSTITUTE true\nFilterChain @f{}", " -f".repeat(n)))),
    ),
    (
        "FilterProtocol",
        By(|n| lines(n, |_| "FilterProvider f SUBSTITUTE true\nFilterProtocol f SUBSTITUTE change=yes".into())),
    ),
    ("AddOutputFilter", By(|n| listed("AddOutputFilter", "DEFLATE", n))),
    (
        "Substitute",
        By(|n| format!("SetOutputFilter SUBSTITUTE\n{}", lines(n, |i| format!("Substitute \"s/(a{i}|b)/$1$1/\"")))),
    ),
    ("SubstituteMaxLineLength", Line("1m")),
    ("SubstituteInheritBefore", Line("On")),
    ("RemoveOutputFilter", By(|n| listed("RemoveOutputFilter", "", n))),
    ("XBitHack", Line("full")),
    ("SSIErrorMsg", By(|n| format!("SSIErrorMsg {}\n", "a".repeat(n)))),
    ("SSITimeFormat", By(|n| format!("SSITimeFormat {}\n", "%c".repeat(n)))),
    ("SSIUndefinedEcho", By(|n| format!("SSIUndefinedEcho {}\n", "a".repeat(n)))),
    ("SSIETag", Line("On")),
    ("SSILastModified", Line("On")),
    ("SSILegacyExprParser", Line("On")),
    ("SetInputFilter", By(|n| format!("SetInputFilter DEFLATE{}\n", ";DEFLATE".repeat(n)))),
    ("AddInputFilter", By(|n| listed("AddInputFilter", "DEFLATE", n))),
    ("RemoveInputFilter", By(|n| listed("RemoveInputFilter", "", n))),
    ("DeflateInflateLimitRequestBody", Line("1000000000")),
    ("DeflateInflateRatioLimit", Line("1000000")),
    ("DeflateInflateRatioBurst", Line("1000000")),
    ("DeflateCompressionLevel", Line("9")),
    ("BrotliCompressionQuality", Line("11")),
    ("PrecompressedFiles", Line("On")),
    ("ZstdCompressionLevel", Line("19")),
    ("FancyIndexing", Line("On")),
    ("Order", Line("Deny,Allow")),
    ("Allow", By(|n| format!("Allow from{}\n", words(n, |i| format!("10.{}.{}.0/24", i / 250, i % 250))))),
    ("Deny", By(|n| format!("Deny from{}\n", words(n, |i| format!("env=x{i}"))))),
    ("AllowMethods", By(|n| format!("AllowMethods{}\n", words(n, |_| "GET".into())))),
    ("Limit", By(|n| lines(n, |i| format!("<Limit GET POST>\nDeny from 10.0.0.{}\n</Limit>", i % 250)))),
    ("LimitExcept", By(|n| lines(n, |i| format!("<LimitExcept GET>\nDeny from 10.0.0.{}\n</LimitExcept>", i % 250)))),
    ("Satisfy", Line("Any")),
    ("AuthType", Line("Basic")),
    ("AuthName", By(|n| format!("AuthType Basic\nRequire valid-user\nAuthName \"{}\"\n", "a".repeat(n)))),
    ("AuthUserFile", By(|n| format!("AuthUserFile {}users\n{LOGIN}", "./".repeat(n)))),
    ("AuthGroupFile", By(|n| format!("AuthUserFile users\nAuthGroupFile {}groups\n{LOGIN}", "./".repeat(n)))),
    ("AuthAuthoritative", Line("Off")),
    ("AuthDBMUserFile", By(|n| format!("AuthBasicProvider dbm\nAuthDBMUserFile {}users\n{LOGIN}", "./".repeat(n)))),
    (
        "AuthDBMGroupFile",
        By(|n| {
            format!(
                "AuthUserFile users\nAuthDBMGroupFile {}groups\nRequire dbm-group{}\n{LOGIN}",
                "./".repeat(n),
                words(n, |_| "a".into())
            )
        }),
    ),
    ("AuthDBMType", Line("default")),
    ("AuthzDBMType", Line("default")),
    ("AuthnCacheContext", Line("directory")),
    ("AuthnCacheTimeout", Line("300")),
    ("AuthnCacheProvideFor", By(|n| format!("AuthnCacheProvideFor{}\n", words(n, |_| "file".into())))),
    ("AuthDigestAlgorithm", Line("MD5")),
    (
        "AuthLDAPURL",
        By(|n| format!("AuthLDAPURL \"ldap://127.0.0.1:1/o=a?uid?sub?(|{})\"\n", "(!(a=b*c))".repeat(n.min(5000)))),
    ),
    ("AuthLDAPBindDN", By(|n| format!("AuthLDAPBindDN \"{}\"\n", "a".repeat(n)))),
    ("AuthLDAPBindPassword", By(|n| format!("AuthLDAPBindPassword \"{}\"\n", "a".repeat(n)))),
    ("AuthLDAPBindAuthoritative", Line("on")),
    ("AuthLDAPCompareDNOnServer", Line("on")),
    ("AuthLDAPDereferenceAliases", Line("never")),
    ("AuthLDAPGroupAttribute", Line("member")),
    ("AuthLDAPGroupAttributeIsDN", Line("on")),
    ("AuthLDAPMaxSubGroupDepth", Line("1")),
    ("AuthLDAPSubGroupAttribute", Line("member")),
    ("AuthLDAPSubGroupClass", Line("group")),
    ("AuthLDAPRemoteUserAttribute", Line("mail")),
    ("AuthLDAPRemoteUserIsDN", Line("on")),
    ("AuthLDAPAuthorizePrefix", Line("X_")),
    ("ImapMenu", Line("none")),
    ("ImapDefault", By(|n| format!("ImapDefault /{}\n", "a/".repeat(n)))),
    ("ImapBase", By(|n| format!("ImapBase /{}\n", "a/".repeat(n)))),
    ("LDAPTrustedClientCert", Line("CERT_BASE64 /a")),
    ("AuthLDAPInitialBindAsUser", Line("on")),
    ("AuthBasicUseDigestAlgorithm", Line("MD5")),
    ("AuthLDAPSearchAsUser", Line("on")),
    ("AuthLDAPCompareAsUser", Line("on")),
    ("AuthDigestDomain", By(|n| format!("AuthDigestDomain{}\n", words(n, |number| format!("/{number}"))))),
    ("AuthDigestNonceLifetime", Line("300")),
    ("AuthDigestProvider", Line("file")),
    ("AuthDigestQop", Line("auth")),
    ("AuthBasicProvider", By(|n| format!("AuthBasicProvider{}\n", words(n, |_| "file".into())))),
    ("AuthMerging", Line("And")),
    (
        "Require",
        By(|n| {
            format!("Require expr \"{}\"\n", expression(n)) + &lines(n, |i| format!("Require ip 10.0.{}.0/24", i % 250))
        }),
    ),
    ("RequireAll", By(|n| nested("RequireAll", n, "Require all granted"))),
    ("RequireAny", By(|n| nested("RequireAny", n, "Require all granted"))),
    (
        "RequireNone",
        By(|n| {
            format!(
                "<RequireAll>\nRequire all granted\n{}</RequireAll>\n",
                nested("RequireNone", n, "Require all denied")
            )
        }),
    ),
    ("SetEnv", By(|n| lines(n, |i| format!("SetEnv A{i} {}", "a".repeat(40))))),
    ("UnsetEnv", By(|n| format!("UnsetEnv{}\n", words(n, |i| format!("A{i}"))))),
    ("PassEnv", By(|n| format!("PassEnv{}\n", words(n, |i| format!("A{i}"))))),
    ("SetEnvIf", By(doubled)),
    ("SetEnvIfNoCase", By(|n| lines(n, |i| format!("SetEnvIfNoCase X \"(.*)\" A{i}={}", "$1".repeat(9))))),
    (
        "SetEnvIfExpr",
        By(|n| {
            format!("SetEnvIfExpr \"{}\" x=1\n", expression(n))
                + &lines(n, |i| format!("SetEnvIfExpr \"%{{HTTP:X}} =~ /.+/\" y{i}={}", "$0".repeat(9)))
        }),
    ),
    ("BrowserMatch", By(|n| lines(n, |i| format!("BrowserMatch \"(.*)a\" B{i}=$1$1$1")))),
    ("BrowserMatchNoCase", By(|n| lines(n, |i| format!("BrowserMatchNoCase \"(.*)a\" B{i}=$1$1$1")))),
    ("PerlHandler", By(|n| format!("PerlHandler{}\n", words(n, |_| "Show".into())))),
    ("PerlCleanupHandler", By(|n| format!("PerlCleanupHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlModule", By(|n| format!("PerlModule{}\n", words(n, |_| "Show".into())))),
    ("PerlRequire", By(|n| format!("PerlRequire{}\n", words(n, |_| "lib/Show.pm".into())))),
    ("PsgiApp", By(|n| format!("PsgiApp {}app.psgi\n", "./".repeat(n)))),
    ("PsgiEval", By(|n| format!("PsgiEval \"sub {{ [200, [], ['{}']] }}\"\n", "a".repeat(n)))),
    ("PerlSetVar", By(|n| lines(n, |i| format!("PerlSetVar A{i} {}", "a".repeat(40))))),
    ("PerlAddVar", By(|n| lines(n, |i| format!("PerlAddVar A a{i}")))),
    ("PerlSetEnv", By(|n| lines(n, |i| format!("PerlSetEnv A{i} {}", "a".repeat(40))))),
    ("PerlPassEnv", By(|n| format!("PerlPassEnv{}\n", words(n, |i| format!("A{i}"))))),
    ("PerlSendHeader", Line("On")),
    ("PerlSetupEnv", Line("On")),
    ("PerlHeaderParserHandler", By(|n| format!("PerlHeaderParserHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlAccessHandler", By(|n| format!("PerlAccessHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlAuthenHandler", By(|n| format!("PerlAuthenHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlAuthzHandler", By(|n| format!("PerlAuthzHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlTypeHandler", By(|n| format!("PerlTypeHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlFixupHandler", By(|n| format!("PerlFixupHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlLogHandler", By(|n| format!("PerlLogHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlInitHandler", By(|n| format!("PerlInitHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlDispatchHandler", By(|n| format!("PerlDispatchHandler Show{}\n", "::a".repeat(n)))),
    ("PerlResponseHandler", By(|n| format!("PerlResponseHandler{}\n", words(n, |_| "Show".into())))),
    ("PerlOptions", By(|n| format!("PerlOptions{}\n", words(n, |_| "+SetupEnv".into())))),
    ("PerlConfigRequire", By(|n| format!("PerlConfigRequire{}\n", words(n, |_| "lib/Show.pm".into())))),
    ("PerlPostConfigRequire", By(|n| format!("PerlPostConfigRequire{}\n", words(n, |_| "lib/Show.pm".into())))),
    ("PerlInputFilterHandler", By(|n| format!("PerlInputFilterHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlOutputFilterHandler", By(|n| format!("PerlOutputFilterHandler{}\n", words(n, |_| "Show::none".into())))),
    ("PerlSetInputFilter", By(|n| format!("PerlSetInputFilter DEFLATE{}\n", ";DEFLATE".repeat(n)))),
    ("PerlSetOutputFilter", By(|n| format!("PerlSetOutputFilter DEFLATE{}\n", ";DEFLATE".repeat(n)))),
    ("APREQ2_ReadLimit", Line("1000000")),
    ("APREQ2_BrigadeLimit", Line("1000000")),
    ("APREQ2_TempDir", By(|n| format!("APREQ2_TempDir /{}\n", "./".repeat(n)))),
    ("If", By(|n| lines(n, |i| format!("<If \"{}\">\nSetEnv A{i} b\n</If>", conditions(n, i))))),
    (
        "ElseIf",
        By(|n| {
            "<If false>\n</If>\n".to_owned()
                + &lines(n, |i| format!("<ElseIf \"{}\">\nSetEnv A{i} b\n</ElseIf>", conditions(n, i)))
        }),
    ),
    (
        "Else",
        By(|n| {
            "<If true>\n".repeat(n.min(40))
                + "SetEnv A b\n"
                + &"</If>\n".repeat(n.min(40))
                + &lines(n, |i| format!("<If false>\n</If>\n<Else>\nSetEnv A{i} b\n</Else>"))
        }),
    ),
    (
        "AuthBasicFake",
        By(|n| lines(10, |_| format!("AuthBasicFake \"{}\" x", "%{base64:%{escape:%{THE_REQUEST}}}".repeat(n)))),
    ),
    ("Files", By(|n| lines(n, |i| format!("<Files \"*{}*\">\nSetEnv A{i} b\n</Files>", i % 9)))),
    ("FilesMatch", By(|n| lines(n, |i| format!("<FilesMatch \"(a*)*{i}|p\">\nHeader set A{i} b\n</FilesMatch>")))),
];

const LOGIN: &str = "AuthType Basic\nAuthName x\nRequire valid-user\n";
