//! A list of domains: their accounts, and their orders, one after the other.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, anyhow};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use instant_acme::{Account, AccountCredentials, ExternalAccountKey, NewAccount, Problem};

use crate::client::{AuthorityClient, Unreachable, explained};
use crate::master::MasterLink;
use crate::order;
use config::tls::managed::KeyType;
use tls::acme::{AcmeJob, Binding, DomainJob, FromAcme, IssuedCertificate, shorten};

/// Time for the certificate of one key type. Authorities need seconds, or minutes if they are busy.
const ORDER: Duration = Duration::from_secs(5 * 60);
/// Time to reach an authority, and to open an account.
const ACCOUNT: Duration = Duration::from_secs(60);

/// The accounts of this process by authority and contact; for one that cannot be used, the reason.
type Accounts = HashMap<(String, Option<String>), Result<Account, String>>;

/// Tries to get the certificates of all domains.
pub async fn all(job: AcmeJob, mut master: MasterLink) -> anyhow::Result<()> {
    let mut accounts = Accounts::new();
    let authorities = AuthorityClient::new(job.trust.as_deref(), job.proxy.clone());
    for domain in &job.domains {
        let got = match &authorities {
            Ok(authorities) => one(authorities, domain, &mut accounts, &mut master).await,
            Err(error) => Err(anyhow!("{error:#}")),
        };
        let retry_after_s = authorities.as_ref().ok().and_then(AuthorityClient::take_wait);
        let message = got.unwrap_or_else(|error| {
            let (domain, error) = (domain.name.clone(), shorten(&format!("{error:#}")));
            FromAcme::Failed { domain, error, retry_after_s }
        });
        master.send(&message)?;
    }
    Ok(())
}

async fn one(
    authorities: &AuthorityClient,
    domain: &DomainJob,
    accounts: &mut Accounts,
    master: &mut MasterLink,
) -> anyhow::Result<FromAcme> {
    let key = (domain.authority.clone(), domain.contact.clone());
    if !accounts.contains_key(&key) {
        let opened = tokio::time::timeout(ACCOUNT, account(authorities, domain, master)).await;
        let opened = opened.unwrap_or_else(|_| Err(anyhow!("{} did not answer in {ACCOUNT:?}", domain.authority)));
        accounts.insert(key.clone(), opened.map_err(|error| format!("{error:#}")));
    }
    let mut account = match accounts.get(&key) {
        Some(Ok(account)) => account.clone(),
        Some(Err(error)) => return Err(anyhow!("{error}")),
        None => return Err(anyhow!("no account with {}", domain.authority)),
    };
    let mut certificates = Vec::new();
    for key_type in &domain.keys {
        let mut ordered = ordered(&account, domain, *key_type, master).await;
        if ordered.as_ref().is_err_and(is_unknown_account) {
            account = open(authorities, domain, master).await?;
            accounts.insert(key.clone(), Ok(account.clone()));
            ordered = self::ordered(&account, domain, *key_type, master).await;
        }
        if let Err(error) = &ordered
            && error.is::<Unreachable>()
        {
            // Other domains do not wait for it in vain.
            accounts.insert(key.clone(), Err(format!("{error:#}")));
        }
        certificates.push(ordered?);
    }
    Ok(FromAcme::Issued { domain: domain.name.clone(), certificates })
}

/// Orders a certificate, within a limited time.
async fn ordered(
    account: &Account,
    domain: &DomainJob,
    key_type: KeyType,
    master: &mut MasterLink,
) -> anyhow::Result<IssuedCertificate> {
    let ordered = tokio::time::timeout(ORDER, order::certificate(account, domain, key_type, master)).await;
    master.clear()?;
    ordered.with_context(|| format!("{} took more than {ORDER:?}", domain.authority))?
}

/// The account with the authority, which is opened if there is none.
async fn account(authorities: &AuthorityClient, domain: &DomainJob, master: &MasterLink) -> anyhow::Result<Account> {
    let Some(stored) = &domain.account else { return open(authorities, domain, master).await };
    let credentials: AccountCredentials =
        serde_json::from_str(stored).context("the stored account with the authority cannot be read; remove it")?;
    let restored = Account::builder_with_http(Box::new(authorities.clone())).from_credentials(credentials).await;
    restored.map_err(|error| explained(error, &domain.authority))
}

/// The master stores the new account.
async fn open(authorities: &AuthorityClient, domain: &DomainJob, master: &MasterLink) -> anyhow::Result<Account> {
    let authority = &domain.authority;
    let contact: Vec<String> = domain.contact.iter().map(|address| format!("mailto:{address}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let binding = domain.binding.as_ref().map(external).transpose()?;
    let builder = Account::builder_with_http(Box::new(authorities.clone()));
    let opened = builder.create(&wanted, authority.clone(), binding.as_ref()).await;
    let (account, credentials) = opened.map_err(|error| explained(error, authority))?;
    let credentials = serde_json::to_string(&credentials)?;
    master.send(&FromAcme::Account { authority: authority.clone(), credentials })?;
    Ok(account)
}

/// Whether the authority has forgotten the account.
fn is_unknown_account(error: &anyhow::Error) -> bool {
    let problem = error.downcast_ref::<Problem>();
    problem.and_then(|problem| problem.r#type.as_deref()).is_some_and(|kind| kind.ends_with(":accountDoesNotExist"))
}

fn external(binding: &Binding) -> anyhow::Result<ExternalAccountKey> {
    let hmac = binding.hmac.trim_end_matches('=');
    let key = URL_SAFE_NO_PAD.decode(hmac).context("MDExternalAccountBinding: the HMAC key is not base64url")?;
    Ok(ExternalAccountKey::new(binding.id.clone(), &key))
}
