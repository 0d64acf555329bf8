use super::*;

#[test]
fn the_smallest_all_to_all_looks_like_the_tools_own() {
    let input = |offset| BufferPlace { buffer: Buffer::Input, offset };
    let output = |offset| BufferPlace { buffer: Buffer::Output, offset };
    let step = |action, source, destination| Step {
        action,
        source,
        destination,
        count: 1,
        after: None,
        awaited: false,
    };
    let gpu = |rank: u32| {
        let other = 1 - rank;
        let copy = step(Action::Copy, input(rank), output(rank));
        let receive = step(Action::Receive, input(rank), output(other));
        let send = Step { after: Some((0, 0)), ..step(Action::Send, input(other), output(rank)) };
        let block = |send, receive, steps| Block { send, receive, channel: 0, steps };
        let blocks = vec![
            block(None, None, vec![Step { awaited: true, ..copy }]),
            block(None, Some(other), vec![receive]),
            block(Some(other), None, vec![send]),
        ];
        Gpu { input_chunks: 2, output_chunks: 2, scratch_chunks: 0, copies: Vec::new(), blocks }
    };
    let algorithm = Algorithm {
        name: "two & two".to_owned() + &"x".repeat(100),
        collective: CollectiveOp::AllToAll,
        protocol: Protocol::Ll,
        chunks_per_loop: 2,
        in_place: false,
        out_of_place: true,
        min_bytes: 0,
        max_bytes: 9216,
        gpus: vec![gpu(0), gpu(1)],
    };
    let text = write(&algorithm);
    assert!(
        text.starts_with(&format!(
            "<algo name=\"two &amp; two{}\" proto=\"LL\" nchannels=\"1\"",
            "x".repeat(54)
        )),
        "{text}"
    );
    assert!(
        text.contains("coll=\"alltoall\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"9216\"")
    );
    assert!(text.contains("<tb id=\"1\" send=\"-1\" recv=\"0\" chan=\"0\">"));
    assert!(text.contains(
        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"0\" deps=\"0\" hasdep=\"0\"/>"
    ));
    check::check(&algorithm).unwrap();
    let other = Algorithm { chunks_per_loop: 3, ..algorithm };
    let told = check::check(&other).unwrap_err().to_string();
    assert!(told.contains("nchunksperloop: is 3, but the largest buffer of a rank has 2 chunks"), "{told}");
}
