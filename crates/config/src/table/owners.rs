//! The module of httpd that owns each directive. A module with a directive in the table counts as present for `<IfModule>`:
//! skipping a block whose directives would work could drop its access control.

use std::collections::BTreeMap;

use crate::syntax::modules::is_embodied;

/// Directives of httpd's core and its MPMs, which are always present.
const CORE: &str = "AcceptPathInfo AccessConfig AccessFileName AddDefaultCharset AddModule AllowEncodedSlashes AllowOverride \
    BindAddress ClearModuleList DefaultType Define Directory DirectoryMatch DocumentRoot ErrorDocument ErrorLog ErrorLogFormat \
    FileETag Files FilesMatch ForceType GracefulShutdownTimeout Group HostnameLookups HttpProtocolOptions IfDefine IfDirective \
    IfFile IfModule Include IncludeOptional KeepAlive KeepAliveTimeout Limit LimitExcept LimitRequestBody LimitRequestFieldSize \
    LimitRequestFields LimitRequestLine Listen ListenBacklog Location LocationMatch LogLevel MaxClients MaxConnectionsPerChild \
    MaxKeepAliveRequests MaxRangeOverlaps MaxRangeReversals MaxRanges MaxRequestWorkers MaxRequestsPerChild MaxSpareServers \
    MergeSlashes MinSpareServers NameVirtualHost Options PidFile Port Protocols ProtocolsHonorOrder RLimitCPU RLimitMEM \
    RLimitNPROC RegisterHttpMethod ResourceConfig ServerAdmin ServerAlias ServerName ServerRoot ServerSignature ServerTokens \
    ServerType SetHandler SetInputFilter SetOutputFilter StartServers StrictHostCheck Timeout TraceEnable UnDefine \
    UseCanonicalName User VirtualHost";

/// Directives that no module of httpd has.
const OURS: &str = "AdminListen AdminToken CacheSize CachePurgeFrom CgiMaxProcesses CgiMode ControlSocket FrontThreads FrontTimeout \
    H2MaxControlFramesPerSecond H2MaxResetsPerSecond HistoryFile KernelSamePageMerging LimitPasswordHash MaxAgePerChild MaxConnections \
    MaxConnectionsPerClient MaxGrowthPerChild MaxIdlePerChild MaxMemoryPerChild MemoryBudget MinSharedPerChild OpenFileCache \
    PerlEval PerlHtaccess PerlLib PerlOpmask PerlPool PerlWarmup PerlWarmupLog PoolShare PrecompressedFiles PsgiApp PsgiEval \
    QueueLength QueueStale QueueTimeout Refork RegistryPreload RemoteIPProtoHeader RequestTimeout RequestTimeoutGrace RequestTimeoutLimit SlowLog \
    SpeedLimit SpeedLimitExempt SpoolDirectory SpoolLimit SpoolTotalLimit SSLStaplingFile StartTimeout TraceContext TraceExport TraceSample \
    TraceService TransparentHugePages WireMemory WorkerPool";

/// Modules by the names of their source files, with their directives.
const MODULES: &[(&str, &str)] = &[
    ("mod_access_compat.c", "Allow Deny Order Satisfy"),
    ("mod_actions.c", "Action Script"),
    (
        "mod_alias.c",
        "Alias AliasMatch Redirect RedirectMatch RedirectPermanent RedirectTemp ScriptAlias ScriptAliasMatch",
    ),
    ("mod_allowmethods.c", "AllowMethods"),
    ("mod_apreq2.c", "APREQ2_BrigadeLimit APREQ2_ReadLimit APREQ2_TempDir"),
    ("mod_auth.c", "AuthAuthoritative"),
    ("mod_auth_basic.c", "AuthBasicAuthoritative AuthBasicProvider"),
    ("mod_authn_core.c", "AuthName AuthType"),
    ("mod_authn_file.c", "AuthUserFile"),
    ("mod_authz_core.c", "AuthMerging AuthzSendForbiddenOnFailure Require RequireAll RequireAny RequireNone"),
    ("mod_authz_groupfile.c", "AuthGroupFile"),
    ("mod_autoindex.c", "FancyIndexing IndexIgnore IndexOptions IndexOrderDefault"),
    ("mod_brotli.c", "BrotliCompressionQuality"),
    (
        "mod_cache.c",
        "CacheDefaultExpire CacheDetailHeader CacheDisable CacheEnable CacheHeader CacheIgnoreCacheControl CacheIgnoreHeaders \
        CacheIgnoreNoLastMod CacheIgnoreQueryString CacheIgnoreURLSessionIdentifiers CacheLastModifiedFactor CacheLock \
        CacheLockMaxAge CacheMaxExpire CacheMinExpire CacheStaleOnError CacheStoreExpired",
    ),
    ("mod_cache_socache.c", "CacheSocacheMaxSize"),
    (
        "mod_deflate.c",
        "DeflateCompressionLevel DeflateInflateLimitRequestBody DeflateInflateRatioBurst DeflateInflateRatioLimit",
    ),
    ("mod_dir.c", "DirectoryIndex DirectorySlash FallbackResource"),
    ("mod_env.c", "PassEnv SetEnv UnsetEnv"),
    ("mod_expires.c", "ExpiresActive ExpiresByType ExpiresDefault"),
    ("mod_fcgid.c", "FcgidInitialEnv"),
    ("mod_filter.c", "AddOutputFilterByType"),
    ("mod_headers.c", "ErrorHeader Header RequestHeader"),
    ("mod_http2.c", "H2MaxSessionStreams H2MaxStreamErrors H2StreamTimeout H2WindowSize"),
    ("mod_ident.c", "IdentityCheck"),
    ("mod_log_config.c", "CustomLog LogFormat TransferLog"),
    (
        "mod_mime.c",
        "AddCharset AddEncoding AddHandler AddInputFilter AddLanguage AddOutputFilter AddType DefaultLanguage RemoveCharset \
        RemoveEncoding RemoveHandler RemoveInputFilter RemoveLanguage RemoveOutputFilter RemoveType TypesConfig",
    ),
    (
        "mod_perl.c",
        "Perl PerlAccessHandler PerlAddAuthnProvider PerlAddAuthzProvider PerlAddVar PerlAuthenHandler PerlAuthzHandler \
        PerlChildExitHandler PerlChildInitHandler PerlCleanupHandler PerlConfigRequire PerlDispatchHandler PerlFixupHandler \
        PerlFreshRestart PerlGeneration PerlHandler PerlHeaderParserHandler PerlInitHandler PerlInputFilterHandler PerlInterpMax \
        PerlInterpMaxRequests PerlInterpMaxSpare PerlInterpMinSpare PerlInterpScope PerlInterpStart PerlLoadModule PerlLogHandler \
        PerlMapToStorageHandler PerlModule PerlOpenLogsHandler PerlOptions PerlOutputFilterHandler PerlPassEnv \
        PerlPostConfigHandler PerlPostConfigRequire PerlPostReadRequestHandler PerlPreConnectionHandler PerlPreload \
        PerlProcessConnectionHandler PerlRequire PerlResponseHandler PerlRestartHandler PerlScript PerlSendHeader PerlSetEnv \
        PerlSetInputFilter PerlSetOutputFilter PerlSetVar PerlSetupEnv PerlSwitches PerlTaintCheck PerlTrace PerlTransHandler \
        PerlTypeHandler PerlWarn",
    ),
    (
        "mod_proxy.c",
        "BalancerInherit BalancerMember BalancerPersist Proxy ProxyAddHeaders ProxyErrorOverride ProxyMatch ProxyPass ProxyPassInterpolateEnv ProxyPassMatch ProxyPassReverse ProxyPassReverseCookieDomain \
        ProxyPassReverseCookiePath ProxyPreserveHost ProxyRequests ProxySet ProxyTimeout ProxyVia",
    ),
    ("mod_proxy_hcheck.c", "ProxyHCExpr ProxyHCTPsize ProxyHCTemplate"),
    ("mod_proxy_wstunnel.c", "ProxyWebsocketFallbackToProxyHttp"),
    (
        "mod_remoteip.c",
        "RemoteIPHeader RemoteIPInternalProxy RemoteIPInternalProxyList RemoteIPProxiesHeader RemoteIPProxyProtocol \
        RemoteIPProxyProtocolExceptions RemoteIPTrustedProxy RemoteIPTrustedProxyList",
    ),
    ("mod_reqtimeout.c", "RequestReadTimeout"),
    ("mod_rewrite.c", "RewriteBase RewriteCond RewriteEngine RewriteMap RewriteOptions RewriteRule"),
    ("mod_setenvif.c", "BrowserMatch BrowserMatchNoCase SetEnvIf SetEnvIfExpr SetEnvIfNoCase"),
    ("mod_so.c", "LoadModule"),
    (
        "mod_ssl.c",
        "SSLCertificateChainFile SSLCertificateFile SSLCertificateKeyFile SSLCipherSuite SSLEngine SSLHonorCipherOrder SSLOptions \
        SSLProtocol SSLProxyCACertificateFile SSLProxyCACertificatePath SSLProxyCheckPeerCN SSLProxyCheckPeerExpire \
        SSLProxyCheckPeerName SSLProxyCipherSuite SSLProxyEngine SSLProxyMachineCertificateFile SSLProxyProtocol SSLProxyVerify \
        SSLProxyVerifyDepth SSLRequireSSL SSLSessionCache SSLSessionCacheTimeout SSLSessionTickets SSLStrictSNIVHostCheck SSLUseStapling",
    ),
    ("mod_status.c", "ExtendedStatus"),
    ("mod_throttle_access.c", "MaxConcurrentReqs"),
    ("mod_version.c", "IfVersion"),
    ("mod_zstd.c", "ZstdCompressionLevel"),
];

#[test]
fn each_directive_has_one_owner_and_each_owner_counts_as_present() {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for (module, names) in MODULES.iter().copied().chain([("core.c", CORE), ("cameleer.c", OURS)]) {
        assert!(is_embodied(module), "<IfModule {module}> is skipped, and with it: {names}");
        for name in names.split_whitespace() {
            assert_eq!(owners.insert(name, module), None, "{name} has two owners");
            assert!(super::is_known(name), "{name} is not in the table");
        }
    }
    let forgotten: Vec<_> = super::names().filter(|name| !owners.contains_key(name)).collect();
    assert!(forgotten.is_empty(), "add these to their module, or to OURS: {forgotten:?}");
}
