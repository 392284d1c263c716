//! A trace collector that receives spans by OTLP/HTTP or OTLP/gRPC, and decodes them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

use crate::support::eventually;

/// A span with its attributes as text, and the name of its service.
#[derive(Debug, Clone)]
pub struct Exported {
    pub span: Span,
    pub attributes: BTreeMap<String, String>,
    pub service: String,
}

/// A collector that runs until the test ends.
pub struct Collector {
    pub address: SocketAddr,
    taken: Arc<Mutex<Vec<Exported>>>,
}

impl Collector {
    /// Starts a collector for gRPC, or else for HTTP.
    pub fn start(grpc: bool) -> Collector {
        let taken: Arc<Mutex<Vec<Exported>>> = Arc::default();
        let kept = taken.clone();
        let (tell, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                tell.send(listener.local_addr().expect("an address")).expect("somebody listens");
                loop {
                    let (stream, _) = listener.accept().await.expect("a connection");
                    if grpc { by_grpc(stream, &kept).await } else { by_http(stream, &kept).await }
                }
            });
        });
        Collector { address: receiver.recv().expect("it listens"), taken }
    }

    /// Waits for at least `count` spans, and returns all spans.
    pub fn spans(&self, count: usize) -> Vec<Exported> {
        eventually("spans have come", || {
            Some(self.taken.lock().expect("lock").clone()).filter(|all| all.len() >= count)
        })
    }
}

async fn by_http(stream: tokio::net::TcpStream, taken: &Mutex<Vec<Exported>>) {
    let answer = |request: http::Request<hyper::body::Incoming>| async move {
        assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/v1/traces"));
        assert_eq!(request.headers()["content-type"], "application/x-protobuf");
        let body = request.into_body().collect().await.expect("a body").to_bytes();
        take(&body, taken);
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
    };
    let service = hyper::service::service_fn(answer);
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn by_grpc(stream: tokio::net::TcpStream, taken: &Mutex<Vec<Exported>>) {
    let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
    while let Some(Ok((request, mut answer))) = connection.accept().await {
        assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
        assert_eq!(request.headers()["content-type"], "application/grpc");
        let mut body = request.into_body();
        let mut message = Vec::new();
        while let Some(Ok(data)) = futures_data(&mut body, &mut connection).await {
            message.extend_from_slice(&data);
        }
        let length = u32::from_be_bytes(message[1..5].try_into().expect("four bytes")) as usize;
        assert_eq!((message[0], length), (0, message.len() - 5));
        take(&message[5..], taken);
        let head = Response::builder().header("content-type", "application/grpc").body(()).expect("a head");
        let mut stream = answer.send_response(head, false).expect("it is there");
        stream.send_data(Bytes::from_static(&[0; 5]), false).expect("it is there");
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", "0".parse().expect("a value"));
        stream.send_trailers(trailers).expect("it is there");
    }
}

/// The next piece of a body, while the connection makes progress.
async fn futures_data(
    body: &mut h2::RecvStream,
    connection: &mut h2::server::Connection<tokio::net::TcpStream, Bytes>,
) -> Option<Result<Bytes, h2::Error>> {
    tokio::select! {
        data = body.data() => data,
        _ = connection.accept() => None,
    }
}

fn take(message: &[u8], taken: &Mutex<Vec<Exported>>) {
    let message = ExportTraceServiceRequest::decode(message).expect("protobuf");
    for resource in message.resource_spans {
        let service = texts(resource.resource.expect("a resource").attributes).remove("service.name").expect("a name");
        for scope in resource.scope_spans {
            assert_eq!(scope.scope.expect("a scope").name, "cameleer");
            taken.lock().expect("lock").extend(scope.spans.into_iter().map(|span| Exported {
                attributes: texts(span.attributes.clone()),
                service: service.clone(),
                span,
            }));
        }
    }
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |value: Option<Value>| match value {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes.into_iter().map(|one| (one.key, text(one.value.and_then(|value| value.value)))).collect()
}
