//! Directives of httpd's standard modules, 1.3 to 2.4, that are not supported. A directive whose absence would change
//! the content or the access is an error. The others cause a warning, so that an old configuration can be read.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Treatment of an unsupported directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsupported {
    /// The directive is an error.
    Refused,
    /// The directive causes a warning.
    Ignored,
}

use Unsupported::{Ignored, Refused};

/// Directives with the same treatment and advice.
struct Group {
    fate: Unsupported,
    /// Text after "is not supported".
    advice: &'static str,
    /// Names separated by spaces. `Name=value` is harmless with exactly that value, `Name:word` with that first word.
    names: &'static str,
}

/// Advice of the groups without whose directives nothing changes.
const NEEDLESS: [&str; 6] = [OF_PROXY, OF_TLS, OF_CACHE, OF_FASTCGI, OF_TUNING, OF_OTHERS];
const OF_PROXY: &str = "the reverse proxy works without it";
const OF_TLS: &str = "TLS works without this setting; remove the line";
const OF_CACHE: &str =
    "responses are cached in memory, up to CacheSize, and never those that the program forbids to store";
const OF_FASTCGI: &str = "FastCGI programs are managed without it";
const OF_TUNING: &str = "the directive tunes a part of httpd that Cameleer does not have; remove the line";
const OF_OTHERS: &str = "the directive prepares a part of httpd that no line here switches on; remove the line";

const GROUPS: &[Group] = &[
    Group {
        fate: Ignored,
        advice: "`cameleer explain` shows where a path leads",
        names: "RewriteLock RewriteLog RewriteLogLevel",
    },
    Group {
        fate: Refused,
        advice: "ProxyPass knows backends of http://, https://, ws://, wss://, balancer:// and unix: sockets; let a proxy in front do the rest",
        names: "Proxy100Continue=on ProxyExpressEnable=off \
            ProxyExpressDBMFile ProxyExpressDBMType ProxyHTMLEnable=off ProxyHTMLBufSize \
            ProxyHTMLCharsetOut ProxyHTMLDocType ProxyHTMLExtended ProxyHTMLFixups ProxyHTMLInterp \
            ProxyHTMLMeta ProxyHTMLStripComments ProxyHTMLURLMap ProxySCGIInternalRedirect ProxySCGISendfile \
            xml2EncAlias xml2EncDefault xml2StartParse",
    },
    Group {
        fate: Ignored,
        advice: OF_PROXY,
        names: "ProxyBadHeader ProxyMaxForwards ProxyIOBufferSize ProxyReceiveBufferSize ProxyStatus \
            ProxyFtpDirCharset ProxyFtpEscapeWildcards ProxyFtpListOnWildcard NoCache HeartbeatAddress HeartbeatListen \
            HeartbeatMaxServers HeartbeatStorage BalancerGrowth",
    },
    Group { fate: Ignored, advice: OF_OTHERS, names: "ProxyHTMLEvents ProxyHTMLLinks" },
    Group {
        fate: Refused,
        advice: "responders are not asked about certificates of clients; use SSLCARevocationFile with SSLCARevocationCheck",
        names: "SSLOCSPEnable=off",
    },
    Group {
        fate: Refused,
        advice: "TLS does not use OpenSSL here; use SSLProtocol and SSLCipherSuite, or remove the line",
        names: "SSLOpenSSLConfCmd:DHParameters:ECDHParameters:Curves:Groups:RecordPadding",
    },
    Group {
        fate: Refused,
        advice: "certificates are read from files and never fetched; name the files with SSLCertificateFile",
        names: "SSLFIPS SSLSRPUnknownUserSeed SSLSRPVerifierFile SSLVHostSNIPolicy SSLProxyCARevocationCheck SSLProxyCARevocationFile SSLProxyCARevocationPath \
            SSLProxyMachineCertificateChainFile SSLProxyMachineCertificatePath SecureListen NWSSLTrustedCerts \
            NWSSLUpgradeable",
    },
    Group {
        fate: Refused,
        advice: "only http-01 and tls-alpn-01 are supported; use these, or another ACME client with SSLCertificateFile",
        names: "MDChallengeDns01 MDChallengeDns01Version",
    },
    Group {
        fate: Refused,
        advice: "the connection to the proxy itself has no TLS; name a proxy of your own network in MDHttpProxy",
        names: "MDHttpProxyCACertificateFile",
    },
    Group {
        fate: Ignored,
        advice: "certificates are got and renewed without this setting, and the error log and the status show them; remove the line",
        names: "MDActivationDelay MDCertificateCheck MDCertificateMonitor MDCertificateStatus MDCheckInterval \
                MDInitialDelay MDMatchNames MDMessageCmd MDMustStaple MDNotifyCmd MDProfile MDProfileMandatory \
                MDRenewViaARI MDServerStatus MDStapleOthers MDStapling MDStaplingKeepResponse MDStaplingRenewWindow \
                MDStoreLocks MDWarnWindow",
    },
    Group {
        fate: Ignored,
        advice: "ErrorLog and LogLevel receive the messages about TLS",
        names: "SSLLog SSLLogLevel",
    },
    Group {
        fate: Ignored,
        advice: OF_TLS,
        names: "SSLCompression SSLCryptoDevice SSLInsecureRenegotiation SSLMutex \
            SSLOCSPDefaultResponder SSLOCSPNoverify SSLOCSPOverrideResponder SSLOCSPProxyURL SSLOCSPResponderCertificateFile \
            SSLOCSPResponderTimeout SSLOCSPResponseMaxAge SSLOCSPResponseTimeSkew SSLOCSPUseRequestNonce \
            SSLPassPhraseDialog SSLRandomSeed SSLRenegBufferSize \
            SSLStaplingCache SSLStaplingErrorCacheTimeout SSLStaplingFakeTryLater SSLStaplingForceURL \
            SSLStaplingResponderTimeout SSLStaplingResponseMaxAge SSLStaplingResponseTimeSkew SSLStaplingReturnResponderErrors \
            SSLStaplingStandardCacheTimeout",
    },
    Group {
        fate: Refused,
        advice: "check users with AuthUserFile, or in a Perl handler",
        names: "AuthDigestFile AuthDigestGroupFile \
            AuthDigestNonceFormat AuthDigestRealmSeed AuthFormAuthoritative AuthFormBody AuthFormDisableNoStore AuthFormFakeBasicAuth \
            AuthFormLocation AuthFormLoginRequiredLocation AuthFormLoginSuccessLocation AuthFormLogoutLocation AuthFormMethod \
            AuthFormMimetype AuthFormPassword AuthFormProvider AuthFormSitePassphrase AuthFormSize AuthFormUsername Anonymous \
            Anonymous_Authoritative Anonymous_LogEmail Anonymous_MustGiveEmail Anonymous_NoUserID Anonymous_VerifyEmail \
            AuthDefaultAuthoritative=on AuthzDBMAuthoritative=on \
            AuthzDefaultAuthoritative=on AuthzGroupFileAuthoritative=on AuthzLDAPAuthoritative=on AuthzOwnerAuthoritative=on \
            AuthzUserAuthoritative=on AuthDBMAuthoritative AuthDBUserFile AuthDBGroupFile AuthDBAuthoritative \
            AuthnzFcgiCheckAuthnProvider AuthnzFcgiDefineProvider",
    },
    Group {
        fate: Refused,
        advice: "allow methods with <LimitExcept>, or in a Perl handler",
        names: "AllowOverrideList RegexDefaultOptions UnsafeRedirect",
    },
    Group {
        fate: Refused,
        advice: "use SetHandler or AddHandler with a Perl handler",
        names: "CGIMapExtension CGIVar ProtocolEcho Dav=off DavBasePath DavDepthInfinity DavMinTimeout \
            DavLockDB DavLockDiscovery DavGenericLockDB MetaFiles=off MetaDir MetaSuffix \
            CharsetDefault CharsetOptions CharsetSourceEnc",
    },
    Group {
        fate: Refused,
        advice: "a Perl handler can change what it prints; AddOutputFilterByType knows DEFLATE, BROTLI_COMPRESS and ZSTD",
        names: "ExtFilterDefine \
            ExtFilterOptions InputSed OutputSed \
            BufferSize ReflectorHeader",
    },
    Group {
        fate: Refused,
        advice: "sessions and databases belong to the Perl program",
        names: "Session=off SessionEnv SessionExclude SessionExpiryUpdateInterval SessionHeader SessionInclude SessionMaxAge \
            SessionCookieName SessionCookieName2 SessionCookieRemove SessionCryptoCipher SessionCryptoDriver \
            SessionCryptoPassphrase SessionCryptoPassphraseFile SessionDBDCookieName SessionDBDCookieName2 \
            SessionDBDCookieRemove SessionDBDDeleteLabel SessionDBDInsertLabel SessionDBDPerUser SessionDBDSelectLabel \
            SessionDBDUpdateLabel",
    },
    Group {
        fate: Refused,
        advice: "Lua is not run here; write a Perl handler, such as PerlAccessHandler or PerlFixupHandler",
        names: "LuaAuthzProvider LuaHookAccessChecker LuaHookAuthChecker LuaHookCheckUserID LuaHookFixups LuaHookInsertFilter LuaHookLog \
            LuaHookMapToStorage LuaHookPreTranslate LuaHookTranslateName LuaHookTypeChecker LuaInputFilter LuaMapHandler \
            LuaOutputFilter LuaQuickHandler",
    },
    Group { fate: Refused, advice: "write a ServerName or ServerAlias for each name", names: "ServerPath" },
    Group {
        fate: Refused,
        advice: "everything runs as User and Group; use another instance for another user",
        names: "SuexecUserGroup AssignUserID Suexec ChrootDir VHostUser VHostGroup VHostCGIMode VHostCGIPrivs VHostPrivs VHostSecure \
            PrivilegesMode DTracePrivileges",
    },
    Group {
        fate: Refused,
        advice: "remove the line, or put it into the <IfDefine> whose case it reports",
        names: "Error",
    },
    Group {
        fate: Ignored,
        advice: OF_CACHE,
        names: "CacheKeyBaseURL CacheLockPath CacheStoreNoStore CacheStorePrivate CacheQuickHandler CacheDirLength CacheDirLevels \
            CacheMaxFileSize CacheMinFileSize CacheReadSize CacheReadTime CacheRoot CacheSocache \
            CacheSocacheMaxTime CacheSocacheMinTime CacheSocacheReadSize CacheSocacheReadTime CacheGcInterval \
            CacheForceCompletion CacheFile MMapFile MemcacheConnTTL RedisConnPoolTTL RedisTimeout",
    },
    Group {
        fate: Ignored,
        advice: "the Perl program negotiates content; the file name determines the type",
        names: "MimeMagicFile ContentDigest",
    },
    Group {
        fate: Ignored,
        advice: "write CustomLog with the wanted items",
        names: "AgentLog RefererLog RefererIgnore CookieLog GlobalLog ForensicLog LogMessage BufferedLogs \
            LogIOTrackTTFB ScriptLog ScriptLogBuffer ScriptLogLength DumpIOInput DumpIOOutput \
            CookieFormat CookiePrefix",
    },
    Group {
        fate: Ignored,
        advice: "limit processes with Apache::Resource and RequestTimeout, clients with Timeout and LimitRequestBody",
        names: "CGIScriptTimeout CGIDScriptTimeout LimitXMLRequestBody LimitInternalRecursion",
    },
    Group {
        fate: Ignored,
        advice: OF_FASTCGI,
        names: "FcgidBusyScanInterval FcgidCmdOptions FcgidErrorScanInterval FcgidIdleScanInterval FcgidIPCDir \
            FcgidMaxRequestInMem FcgidOutputBufferSize FcgidProcessTableFile \
            FcgidSpawnScore FcgidSpawnScoreUpLimit FcgidTerminationScore FcgidTimeScore FcgidWin32PreventOrphans \
            FcgidZombieScanInterval",
    },
    Group {
        fate: Refused,
        advice: "PHP is not run here; pass these paths with ProxyPass to a server that runs it",
        names: "php_value php_flag php_admin_value php_admin_flag PHPINIDir",
    },
    Group {
        fate: Ignored,
        advice: OF_TUNING,
        names: "AcceptFilter AcceptMutex AddModuleInfo AsyncRequestWorkerFactor BrotliCompressionMaxInputBlock \
            BrotliCompressionWindow BrotliFilterNote BS2000Account CGICommandArgs CoreDumpDirectory \
            DBDExptime DBDKeep DBDMax DBDMin DBDPersist DefaultRuntimeDir DeflateBufferSize DeflateFilterNote \
            DeflateMemLevel DeflateWindowSize EBCDICConvert EBCDICConvertByType EBCDICKludge EnableMMAP \
            EnableExceptionHook EnableSendfile Example FlushMaxPipelined FlushMaxThreshold GprofDir H2CopyFiles \
            H2Direct H2EarlyHint H2EarlyHints H2MaxDataFrameLen H2MaxHeaderBlockLen \
            H2MaxWorkerIdleSeconds H2MaxWorkers H2MinWorkers H2ModernTLSOnly H2OutputBuffering H2Padding H2ProxyRequests \
            H2Push H2PushDiarySize H2PushPriority H2PushResource H2SerializeHeaders H2StreamMaxMemSize \
            H2TLSCoolDownSecs H2TLSWarmUpSize H2Upgrade IdentityCheckTimeout \
            ISAPIAppendLogToErrors ISAPIAppendLogToQuery ISAPICacheFile ISAPIFakeAsync ISAPILogNotSupported \
            ISAPIReadAheadBuffer LDAPCacheEntries LDAPLibraryDebug \
            LDAPOpCacheEntries LDAPReferralHopLimit LDAPReferrals LDAPRetries LDAPRetryDelay \
            LDAPSharedCacheFile LDAPSharedCacheSize ListenCoresBucketsRatio ListenTCPDeferAccept LoadFile \
            LockFile LuaCodeCache LuaInherit LuaPackageCPath LuaPackagePath LuaRoot LuaScope MaxMemFree MaxSpareThreads \
            MaxThreads MaxThreadsPerChild MergeTrailers MinSpareThreads ModemStandard Mutex NumServers \
            Protocol ProtocolReqCheck QualifyRedirectURL ReadBufferSize ReceiveBufferSize \
            ScoreBoardFile ScriptInterpreterSource ScriptSock SeeRequestTail SendBufferSize \
            ServerLimit ShmemUIDisUser StartThreads ThreadLimit ThreadsPerChild \
            ThreadStackSize UNCList UseCanonicalPhysicalPort WatchdogInterval",
    },
];

/// Begins of advice that says what to do. Other advice begins with the reason.
const REMEDIES: [&str; 11] =
    ["allow ", "check ", "filter ", "leave ", "limit ", "look ", "remove ", "run ", "start ", "use ", "write "];

/// Groups and their entries by the entry's name in lower case.
static BY_NAME: LazyLock<HashMap<String, (&Group, &str)>> = LazyLock::new(|| {
    let entries = GROUPS.iter().flat_map(|group| group.names.split_whitespace().map(move |entry| (group, entry)));
    entries.filter_map(|(group, entry)| Some((parts(entry).next()?.to_ascii_lowercase(), (group, entry)))).collect()
});

/// Treatment of an unsupported directive of httpd, and its message. `None`: httpd has no such directive either.
pub fn find(name: &str, args: &[String]) -> Option<(Unsupported, String)> {
    if name.to_ascii_lowercase().starts_with("mod_gzip_") {
        return Some((Ignored, "is not supported; write AddOutputFilterByType DEFLATE and the types".to_owned()));
    }
    let (group, entry) = BY_NAME.get(&name.to_ascii_lowercase())?;
    let fate = if is_harmless(entry, args) { Ignored } else { group.fate };
    let end = if fate == Refused { "" } else { " (this line is ignored)" };
    Some((fate, format!("is not supported{} {}{end}", mark(group.advice), group.advice)))
}

/// The mark before an advice: a semicolon before what to do, a colon before a reason.
pub fn mark(advice: &str) -> char {
    if REMEDIES.iter().any(|verb| advice.starts_with(verb)) { ';' } else { ':' }
}

/// Whether nothing changes without this unsupported directive.
pub fn is_needless(name: &str, args: &[String]) -> bool {
    let Some((group, entry)) = BY_NAME.get(&name.to_ascii_lowercase()) else { return false };
    NEEDLESS.contains(&group.advice) || is_harmless(entry, args)
}

/// Whether an entry is harmless with these arguments.
fn is_harmless(entry: &str, args: &[String]) -> bool {
    let is_first_enough = entry.contains(':');
    let word = args.first().filter(|_| args.len() == 1 || is_first_enough);
    word.is_some_and(|word| parts(entry).skip(1).any(|known| known.eq_ignore_ascii_case(word)))
}

/// The name of an entry of [`Group::names`], then its harmless words.
fn parts(entry: &str) -> impl Iterator<Item = &str> {
    entry.split(['=', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn names() -> impl Iterator<Item = &'static str> {
        GROUPS.iter().flat_map(|group| group.names.split_whitespace()).filter_map(|entry| parts(entry).next())
    }

    #[test]
    fn no_supported_directive_is_listed_and_none_is_listed_twice() {
        let mut all: Vec<String> = names().map(str::to_ascii_lowercase).collect();
        for name in &all {
            let ours = table::all().any(|row| row.name.eq_ignore_ascii_case(name));
            assert!(!ours, "{name}");
        }
        all.sort();
        let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }

    /// An unsupported security directive is an error, never a warning.
    #[test]
    fn a_security_directive_is_never_ignored() {
        let security = "AllowMethods AllowOverrideList AuthMerging \
            AuthzSendForbiddenOnFailure AuthDigestProvider AuthLDAPURL AuthFormProvider Anonymous CGIPassAuth \
            ChrootDir Header HttpProtocolOptions LDAPVerifyServerCert LimitRequestBody LimitRequestFields \
            LimitRequestFieldSize LimitRequestLine MDRequireHttps MergeSlashes ProxyBlock RegexDefaultOptions \
            RequestReadTimeout Require RLimitCPU RLimitMEM RLimitNPROC SSLCARevocationCheck SSLCipherSuite \
            SSLOCSPEnable SSLOpenSSLConfCmd SSLProtocol SSLRequire SSLRequireSSL SSLStrictSNIVHostCheck \
            SSLVerifyClient SSLVerifyDepth StrictHostCheck SuexecUserGroup TraceEnable";
        for name in security.split(' ') {
            let acts = table::is_known(name);
            let fate = find(name, &["on".to_owned()]).map(|(fate, _)| fate);
            assert!(acts || fate == Some(Refused), "{name}: {fate:?}");
        }
    }

    #[test]
    fn a_harmless_value_is_ignored() {
        let fate = |name: &str, value: &str| find(name, &[value.to_owned()]).map(|(fate, _)| fate);
        assert_eq!(fate("ProxyExpressEnable", "Off"), Some(Ignored));
        assert_eq!(fate("proxyexpressenable", "on"), Some(Refused));
        assert_eq!(fate("ServerLimit", "4"), Some(Ignored));
        assert_eq!(fate("mod_gzip_on", "Yes"), Some(Ignored));
        let dh = ["DHParameters".to_owned(), "/etc/dh.pem".to_owned()];
        assert_eq!(find("SSLOpenSSLConfCmd", &dh).map(|(fate, _)| fate), Some(Ignored));
        assert_eq!(fate("SSLOpenSSLConfCmd", "Protocol"), Some(Refused));
        assert_eq!(fate("DocumentRot", "/"), None);
    }
}
