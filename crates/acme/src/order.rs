//! The order of one certificate.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use instant_acme::{
    Account, AuthorizationStatus, ChallengeType as AcmeChallenge, Identifier, NewOrder, Order, OrderStatus, RetryPolicy,
};
use wire::control::{Challenge, ChallengeType};

use crate::client::explained;
use crate::keys;
use crate::master::MasterLink;
use config::tls::managed::KeyType;
use tls::acme::{DomainJob, IssuedCertificate};

/// How the state of an order is asked for.
const POLLING: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(300)).backoff(1.5).timeout(Duration::from_secs(150));

/// Gets a certificate.
pub async fn certificate(
    account: &Account,
    domain: &DomainJob,
    key_type: KeyType,
    master: &mut MasterLink,
) -> anyhow::Result<IssuedCertificate> {
    let names: Vec<Identifier> = domain.names.iter().cloned().map(Identifier::Dns).collect();
    let wrong = |error| explained(error, &domain.authority);
    let mut order = account.new_order(&NewOrder::new(&names)).await.map_err(wrong)?;
    let challenges = challenges(&mut order, domain).await?;
    if !challenges.is_empty() {
        master.place(challenges.clone()).await?;
        begin(&mut order, domain, &challenges).await?;
    }
    let state = order.poll_ready(&POLLING).await;
    if !matches!(state, Ok(OrderStatus::Ready)) {
        // The authorizations say more than the order.
        match (refusal(&mut order).await, state) {
            (Some(refused), _) => bail!("{refused}"),
            (None, Err(error)) => return Err(wrong(error)),
            (None, Ok(status)) => bail!("{}: the order is {status:?}, expected Ready", domain.authority),
        }
    }
    let key = keys::generate(key_type).await?;
    order.finalize_csr(&keys::request(&key, &domain.names)?).await.map_err(wrong)?;
    let chain = order.poll_certificate(&POLLING).await.map_err(wrong)?;
    let key = key.serialize_pem();
    if !tls::identity::fit(&chain, &key) {
        bail!("{} sent a certificate that cannot be used", domain.authority);
    }
    Ok(IssuedCertificate { key_type, chain, key })
}

/// The challenges for all names that the authority does not know yet: of the offered ones, the first of those that can
/// be answered.
async fn challenges(order: &mut Order, domain: &DomainJob) -> anyhow::Result<Vec<Challenge>> {
    let mut all = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| explained(error, &domain.authority))?;
        let name = authorization.identifier().to_string();
        match authorization.status {
            AuthorizationStatus::Valid => continue,
            AuthorizationStatus::Pending => {}
            status => bail!("{}: {name} is {status:?}", domain.authority),
        }
        let offered = |kind: &&ChallengeType| authorization.challenges.iter().any(|one| one.r#type == acme(**kind));
        let kind = domain.challenges.iter().find(offered).copied();
        let kind = kind.with_context(|| {
            let ours: Vec<&str> = domain.challenges.iter().map(|kind| kind.name()).collect();
            format!("{} offers no challenge for {name} that can be answered: {}", domain.authority, ours.join(", "))
        })?;
        let challenge = authorization.challenge(acme(kind)).ok_or_else(|| anyhow!("no challenge for {name}"))?;
        let answer = challenge.key_authorization();
        all.push(Challenge {
            name,
            kind,
            token: challenge.token.clone(),
            answer: answer.as_str().to_owned(),
            digest: answer.digest().as_ref().to_vec(),
        });
    }
    Ok(all)
}

/// Tells the authority that the challenges are answered.
async fn begin(order: &mut Order, domain: &DomainJob, challenges: &[Challenge]) -> anyhow::Result<()> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(|error| explained(error, &domain.authority))?;
        let name = authorization.identifier().to_string();
        let Some(placed) = challenges.iter().find(|challenge| challenge.name == name) else { continue };
        let Some(mut challenge) = authorization.challenge(acme(placed.kind)) else { continue };
        challenge.set_ready().await.map_err(|error| explained(error, &domain.authority))?;
    }
    Ok(())
}

/// Why the authority refused a name, as the challenges of the order report it.
async fn refusal(order: &mut Order) -> Option<String> {
    let mut all = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let name = authorization.identifier().to_string();
        let Ok(state) = authorization.refresh().await else { continue };
        for challenge in &state.challenges {
            if let Some(error) = &challenge.error {
                let kind = match &challenge.r#type {
                    AcmeChallenge::Http01 => "http-01",
                    AcmeChallenge::TlsAlpn01 => "tls-alpn-01",
                    _ => "a challenge",
                };
                all.push(format!("{name} could not be verified by {kind}: {error}"));
            }
        }
    }
    (!all.is_empty()).then(|| all.join("; "))
}

fn acme(kind: ChallengeType) -> AcmeChallenge {
    match kind {
        ChallengeType::Http01 => AcmeChallenge::Http01,
        ChallengeType::TlsAlpn01 => AcmeChallenge::TlsAlpn01,
    }
}
