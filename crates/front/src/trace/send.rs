//! Sends a message to the collector by OTLP/HTTP or OTLP/gRPC, both in protobuf, on a connection of its own.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use bytes::{Bytes, BytesMut};
use http::{Method, Request, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use config::TraceCollector;

/// Timeout for sending a message.
const PATIENCE: Duration = Duration::from_secs(5);
const METHOD: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Sends a message, and waits until the collector has accepted it.
pub async fn send(to: &TraceCollector, message: Vec<u8>) -> anyhow::Result<()> {
    let sent = async {
        let stream = TcpStream::connect(&to.authority).await?;
        if to.grpc { by_grpc(to, stream, message).await } else { by_http(to, stream, message).await }
    };
    timeout(PATIENCE, sent).await.context("the collector does not answer")?
}

async fn by_http(to: &TraceCollector, stream: TcpStream, message: Vec<u8>) -> anyhow::Result<()> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder().method(Method::POST).uri(&to.path).header("host", &to.authority);
    let request = request.header("content-type", "application/x-protobuf").body(Full::new(Bytes::from(message)))?;
    let exchange = async {
        let answer = sender.send_request(request).await?;
        ensure!(answer.status() == StatusCode::OK, "the collector answered {}", answer.status());
        answer.into_body().collect().await?;
        Ok(())
    };
    answered(exchange, async { Ok(connection.await?) }).await
}

async fn by_grpc(to: &TraceCollector, stream: TcpStream, message: Vec<u8>) -> anyhow::Result<()> {
    let (client, connection) = h2::client::handshake(stream).await?;
    let exchange = async {
        let uri =
            http::Uri::builder().scheme("http").authority(to.authority.as_str()).path_and_query(METHOD).build()?;
        let request = Request::builder().method(Method::POST).uri(uri).version(Version::HTTP_2);
        let request = request.header("content-type", "application/grpc").header("te", "trailers").body(())?;
        let (answer, mut body) = client.ready().await?.send_request(request, false)?;
        body.send_data(framed(&message), true)?;
        let (head, mut answer) = answer.await?.into_parts();
        ensure!(head.status == StatusCode::OK, "the collector answered {}", head.status);
        while let Some(data) = answer.data().await {
            let length = data?.len();
            answer.flow_control().release_capacity(length)?;
        }
        let trailers = answer.trailers().await?.unwrap_or_default();
        match trailers.get("grpc-status").or_else(|| head.headers.get("grpc-status")).map(|status| status.as_bytes()) {
            Some(b"0") => Ok(()),
            Some(status) => bail!("the collector answered grpc-status {}", String::from_utf8_lossy(status)),
            None => bail!("the collector answered without a grpc-status"),
        }
    };
    answered(exchange, async { Ok(connection.await?) }).await
}

/// The result of `exchange`, while `connection` is polled.
async fn answered(
    exchange: impl Future<Output = anyhow::Result<()>>,
    connection: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::pin!(exchange);
    tokio::select! {
        done = &mut exchange => done,
        ended = connection => {
            ended?;
            exchange.await
        }
    }
}

/// The gRPC frame of a message: no compression, then the length.
fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(5 + message.len());
    framed.extend_from_slice(&[0]);
    framed.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    framed.extend_from_slice(message);
    framed.freeze()
}
