use super::*;
use crate::broadcast::MAX_ENCODED;

#[test]
fn messages_read_back_in_order() {
    let headers = vec![(Bytes::from_static(b"a"), Bytes::from_static(b"b"))];
    let head = Head { status: 200, reason: b"Fine".to_vec(), headers, always: 1, is_shared: true };
    let end = RequestEnd {
        cpu_us: 5,
        leaving: Some(LeaveReason::Spoilt),
        truncated: false,
        log: vec![(LogKind::Note, b"n".to_vec(), b"v".to_vec())],
    };
    let long = vec![7; MAX_ENCODED];
    let sent = [
        Reply::Ready { fork_us: 3 },
        Reply::Greeted { fork_us: 4 },
        Reply::Extend(1500),
        Reply::Head(head),
        Reply::Body(b"hello"),
        Reply::Onward(OnwardRequest {
            user: Some(b"ann".to_vec()),
            auth_type: b"Basic".to_vec(),
            query: b"a=b".to_vec(),
            variables: vec![(b"A".to_vec(), Some(b"1".to_vec())), (b"B".to_vec(), None)],
            headers: Some(vec![(b"x-a".to_vec(), b"".to_vec())]),
        }),
        Reply::Onward(OnwardRequest::default()),
        Reply::Refused { status: 500, variables: b"REDIRECT_A=b\0" },
        Reply::End(end),
        Reply::Publish(&long),
        Reply::Subscribed { channel: b"news", count: 3 },
        Reply::Taken(70_000),
        Reply::Leaves(LeaveReason::Memory),
    ];
    let mut packet = Vec::new();
    sent.iter().for_each(|reply| reply.put(9, &mut packet));
    let received: Vec<_> = PacketMessages::new(&packet).collect::<Result<_, _>>().expect("well formed");
    assert_eq!(received, sent.map(|reply| (9, reply)));
}

#[test]
fn every_truncated_or_spoiled_packet_is_an_error_or_safe() {
    let mut packet = Vec::new();
    Reply::Head(Head {
        status: 200,
        headers: vec![(Bytes::from_static(b"name"), Bytes::from_static(b"value"))],
        ..Head::default()
    })
    .put(1, &mut packet);
    let first = packet.len();
    Reply::Onward(OnwardRequest { variables: vec![(b"A".to_vec(), None)], ..OnwardRequest::default() })
        .put(1, &mut packet);
    for length in (1..packet.len()).filter(|length| *length != first) {
        assert!(PacketMessages::new(&packet[..length]).any(|m| m.is_err()));
    }
    for at in 0..packet.len() {
        let mut bad = packet.clone();
        bad[at] ^= 0xff;
        PacketMessages::new(&bad).for_each(drop);
    }
}
