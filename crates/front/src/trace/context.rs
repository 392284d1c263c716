//! W3C Trace Context: the trace of a request, and the server's span in it.

use std::hash::{BuildHasher, Hasher, RandomState};

use http::HeaderMap;

/// Length of `00-TRACE-PARENT-FLAGS`
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;

/// The server's span of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// Id of the trace; never 0.
    pub trace_id: u128,
    /// Id of the server's span; never 0.
    pub span_id: u64,
    /// Id of the caller's span; 0: the trace begins here.
    pub parent_id: u64,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

impl TraceContext {
    /// The context of a request with these headers. `sample` is the sampled fraction, from 0 to 1, of traces that begin
    /// here.
    pub fn of(headers: &HeaderMap, sample: f64) -> TraceContext {
        let mut values = headers.get_all("traceparent").iter();
        let caller = match (values.next(), values.next()) {
            (Some(value), None) => parse(value.as_bytes()),
            _ => None,
        };
        let span_id = random();
        match caller {
            Some((trace_id, parent_id, flags)) => {
                TraceContext { trace_id, span_id, parent_id, is_sampled: flags & SAMPLED != 0 }
            }
            None => {
                let (high, low) = (random(), random());
                let is_sampled = (low as f64) < sample * (u64::MAX as f64) || sample >= 1.0;
                TraceContext { trace_id: u128::from(high) << 64 | u128::from(low), span_id, parent_id: 0, is_sampled }
            }
        }
    }

    /// The `traceparent` for programs, whose spans are children of the server's.
    pub fn header(&self) -> String {
        format!("00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, u8::from(self.is_sampled))
    }

    /// Id of the trace, as in logs and programs.
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

/// Parses trace id, parent id and flags. Later versions may have more fields.
fn parse(value: &[u8]) -> Option<(u128, u64, u8)> {
    let text = std::str::from_utf8(value).ok()?;
    let is_lower = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    let own = text.get(..LENGTH).filter(|own| is_lower(own))?;
    let [version, trace, parent, flags] = <[&str; 4]>::try_from(own.split('-').collect::<Vec<_>>()).ok()?;
    let widths = [version, trace, parent, flags].map(str::len);
    let behind = text.get(LENGTH..).unwrap_or_default();
    let fits = if version == "00" { behind.is_empty() } else { behind.is_empty() || behind.starts_with('-') };
    if widths != [2, 32, 16, 2] || version == "ff" || !fits {
        return None;
    }
    let trace_id = u128::from_str_radix(trace, 16).ok().filter(|id| *id != 0)?;
    let parent_id = u64::from_str_radix(parent, 16).ok().filter(|id| *id != 0)?;
    Some((trace_id, parent_id, u8::from_str_radix(flags, 16).ok()?))
}

/// A random number; never 0.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn of(values: &[&str]) -> TraceContext {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("traceparent", value.parse().expect("a value"));
        }
        TraceContext::of(&headers, 0.0)
    }

    #[test]
    fn a_span_continues_the_trace_of_the_caller() {
        let ours = of(&[CALLER]);
        assert_eq!((ours.trace_id(), ours.parent_id), (CALLER[3..35].to_owned(), 0x00f0_67aa_0ba9_02b7));
        assert!(ours.is_sampled && ours.span_id != ours.parent_id);
        assert_eq!(ours.header()[..36], CALLER[..36]);
        assert!(of(&[&*CALLER.replacen("00", "cc", 1)]).is_sampled, "a later version");
        assert!(of(&[&(CALLER.replacen("00", "cc", 1) + "-more")]).is_sampled, "a later version with more");
    }

    #[test]
    fn an_invalid_trace_context_begins_a_new_trace() {
        let long = format!("{CALLER}-more");
        let upper = CALLER.to_uppercase();
        for wrong in [
            "",
            "00",
            &long,
            &upper,
            &CALLER[..54],
            &CALLER.replacen("00", "ff", 1),
            &CALLER.replace("4bf92f", "4bg92f"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e47360-0f067aa0ba902b7-01",
            &"0".repeat(10_000),
        ] {
            let ours = of(&[wrong]);
            assert_eq!((ours.parent_id, ours.is_sampled), (0, false), "{wrong}");
        }
        assert_eq!(of(&[CALLER, CALLER]).parent_id, 0, "two are none");
    }

    #[test]
    fn the_configured_part_of_requests_is_sampled() {
        let headers = HeaderMap::new();
        let sampled = (0..10_000).filter(|_| TraceContext::of(&headers, 0.1).is_sampled).count();
        assert!((800..1200).contains(&sampled), "{sampled}");
        assert!((0..100).all(|_| TraceContext::of(&headers, 1.0).is_sampled));
    }
}
