//! MSCCL schedules of other tools, read, executed and written again, and hostile ones.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed expectation should fail the test")]

use lightbay_formats::Limits;
use lightbay_formats::collective::{Buffer, BufferPlace, CollectiveOp, Contribution, Wanted};
use lightbay_formats::msccl::{
    Action, Algorithm, Block, ExecuteOptions, Gpu, Protocol, Step, check, execute, limits, read, write,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

macro_rules! resource {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/resources/inputs/collectives/", $name)).as_slice()
    };
}

fn algorithm(bytes: &[u8]) -> Algorithm {
    read(bytes, &Limits::default()).unwrap().value
}

fn wrong(text: &str) -> String {
    read(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
}

#[test]
fn the_published_all_gather_of_32_gpus_runs() {
    let found = read(resource!("teccl_amd_32.xml.gz"), &Limits::default()).unwrap();
    assert!(found.assumed.is_empty() && found.notes.is_empty(), "{found:?}");
    let schedule = found.value;
    let blocks: Vec<&Block> = schedule.gpus.iter().flat_map(|gpu| &gpu.blocks).collect();
    let both = blocks.iter().filter(|block| block.send.is_some() && block.receive.is_some());
    assert_eq!((schedule.gpus.len(), schedule.channels(), blocks.len()), (32, 2, 532));
    assert!(both.count() >= 328);
    let count = |action| blocks.iter().flat_map(|block| &block.steps).filter(|s| s.action == action).count();
    assert_eq!([Action::Send, Action::Receive, Action::Nothing].map(count), [1910, 1910, 66]);
    assert_eq!(schedule.gpus.iter().map(|gpu| gpu.copies.len()).sum::<usize>(), 64);
    assert_eq!((schedule.min_bytes, schedule.max_bytes), (1024, 100_000_000_000));
    let run = execute(&schedule, &ExecuteOptions::default()).unwrap();
    assert_eq!((run.steps, run.compared, run.ordered), (3886, 32 * 64, true));
    // Every GPU receives its 62 missing chunks once, 180 of them from the other chassis.
    let mut received = BTreeSet::new();
    let mut across = 0;
    for passage in &run.passages {
        for sum in &passage.sums {
            assert!(received.insert((passage.to, *sum)));
            across += usize::from(passage.from / 16 != passage.to / 16);
        }
    }
    assert_eq!((received.len(), across), (32 * 62, 180));
    let pairs: BTreeSet<_> = run.passages.iter().map(|passage| (passage.from, passage.to)).collect();
    assert_eq!(pairs.len(), 215);
    assert_eq!(algorithm(write(&schedule).as_bytes()), schedule);
    assert_eq!(limits(&schedule), Vec::<String>::new());
}

#[test]
fn in_place_one_buffer_is_counted_once() {
    let ring = std::str::from_utf8(resource!("in-place/ring3.xml")).unwrap();
    let options = ExecuteOptions::default();
    let compared = |text: &str| execute(&algorithm(text.as_bytes()), &options).map(|run| run.compared);
    let pairs = std::str::from_utf8(resource!("in-place/pairs3.xml")).unwrap();
    let apart = std::str::from_utf8(resource!("in-place/ring3-op.xml")).unwrap();
    let both = ring
        .replace("inplace=\"1\" outofplace=\"0\"", "inplace=\"1\" outofplace=\"1\"")
        .replace("o_chunks=\"0\"", "o_chunks=\"3\"");
    for text in [ring, pairs, apart, &ring.replace("o_chunks=\"0\"", "o_chunks=\"3\""), &both] {
        assert_eq!(compared(text), Ok(9));
        assert_eq!(compared(&write(&algorithm(text.as_bytes()))), Ok(9));
    }
    // Rank 2 adds up one of two parts only.
    let broken = std::str::from_utf8(resource!("in-place/broken3.xml")).unwrap();
    let told = compared(broken).unwrap_err().to_string();
    for rank in 0..3 {
        assert!(told.contains(&format!("gpu {rank}")), "{told}");
    }
    assert!(!told.contains("give equal numbers"), "{told}");
    // Out of place the output is missing, and a part of it is missing in place.
    let told = compared(&apart.replace("o_chunks=\"3\"", "o_chunks=\"0\"")).unwrap_err().to_string();
    assert!(told.contains("of buffer o, which has 0"), "{told}");
    let told = compared(&ring.replace("o_chunks=\"0\"", "o_chunks=\"2\"")).unwrap_err().to_string();
    assert!(told.contains("give equal numbers of input and output chunks"), "{told}");
}

#[test]
fn no_largest_size_is_no_limit() {
    let text = std::str::from_utf8(resource!("in-place/ring3-op.xml")).unwrap();
    let all = "minBytes=\"0\" maxBytes=\"4294967296\"";
    assert!(text.contains(all));
    let open = algorithm(text.replace(all, "minBytes=\"393216\" maxBytes=\"0\"").as_bytes());
    assert_eq!((open.min_bytes, open.max_bytes), (393216, u64::MAX));
    assert_eq!(algorithm(write(&open).as_bytes()), open);
    let told = wrong(&text.replace(all, "minBytes=\"9\" maxBytes=\"8\""));
    assert!(told.contains("minBytes of <algo> is 9, above maxBytes 8"), "{told}");
}

#[test]
fn the_all_to_alls_of_rccl_run() {
    for (bytes, blocks, copies) in
        [(resource!("alltoall-8n-0-9kb.xml"), 120, 8), (resource!("alltoall-8n-9kb-190kb.xml.gz"), 240, 16)]
    {
        let schedule = algorithm(bytes);
        let steps = || schedule.gpus.iter().flat_map(|gpu| &gpu.blocks).flat_map(|block| &block.steps);
        assert_eq!(schedule.gpus.iter().map(|gpu| gpu.blocks.len()).sum::<usize>(), blocks);
        assert_eq!(steps().filter(|step| step.action == Action::Copy).count(), copies);
        let run = execute(&schedule, &ExecuteOptions::default()).unwrap();
        assert_eq!(run.compared, 8 * u64::from(schedule.chunks_per_loop));
        let mut each: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for passage in &run.passages {
            *each.entry((passage.from, passage.to)).or_default() += passage.sums.len();
        }
        let per_pair = schedule.chunks_per_loop as usize / 8;
        assert_eq!((each.len(), each.values().all(|count| *count == per_pair)), (56, true));
        assert_eq!(algorithm(write(&schedule).as_bytes()), schedule);
    }
}

/// A ring all-reduce in place: reduce-scatter, then all-gather, with every sort of combined step.
fn ring(ranks: u32) -> Algorithm {
    let place = |chunk: u32| BufferPlace { buffer: Buffer::Input, offset: chunk % ranks };
    let gpus = (0..ranks)
        .map(|rank| {
            let step = |action, chunk| Step {
                action,
                source: place(chunk),
                destination: place(chunk),
                count: 1,
                after: None,
                awaited: false,
            };
            let mut steps = vec![step(Action::Send, rank)];
            for round in 1..ranks - 1 {
                steps.push(step(Action::ReceiveReduceSend, rank + ranks - round));
            }
            steps.push(step(Action::ReceiveReduceCopySend, rank + 1));
            for round in 0..ranks.saturating_sub(2) {
                steps.push(step(Action::ReceiveCopySend, rank + ranks - round));
            }
            steps.push(step(Action::Receive, rank + 2));
            let (send, receive) = (Some((rank + 1) % ranks), Some((rank + ranks - 1) % ranks));
            Gpu {
                input_chunks: ranks,
                output_chunks: ranks,
                blocks: vec![Block { send, receive, channel: 0, steps }],
                ..Gpu::default()
            }
        })
        .collect();
    Algorithm {
        name: "ring".into(),
        collective: CollectiveOp::AllReduce,
        protocol: Protocol::Simple,
        chunks_per_loop: ranks,
        in_place: true,
        out_of_place: false,
        min_bytes: 0,
        max_bytes: 1 << 30,
        gpus,
    }
}

#[test]
fn a_ring_adds_every_contribution_once() {
    for ranks in [2, 3, 8, 17] {
        let schedule = ring(ranks);
        let run = execute(&schedule, &ExecuteOptions::default()).unwrap();
        assert_eq!(run.compared, u64::from(ranks * ranks));
        assert_eq!(run.passages.len() as u32, 2 * ranks * (ranks - 1));
        assert_eq!(algorithm(write(&schedule).as_bytes()), schedule);
    }
}

#[test]
fn what_is_wrong_with_a_run_is_named() {
    let failed =
        |schedule: &Algorithm| execute(schedule, &ExecuteOptions::default()).unwrap_err().to_string();
    // Everybody receives first.
    let mut late = ring(3);
    for gpu in &mut late.gpus {
        gpu.blocks[0].steps.rotate_left(1);
    }
    let text = failed(&late);
    assert!(
        text.starts_with("gpu 0, tb 0, step 0: never runs, because these steps wait for each other"),
        "{text}"
    );
    for rank in 0..3 {
        assert!(
            text.contains(&format!(
                "gpu {rank}, tb 0, step 0 waits for a message from rank {}",
                (rank + 2) % 3
            ))
        );
    }
    // One adds what is already in the sum.
    let mut twice = ring(3);
    twice.gpus[1].blocks[0].steps[3].action = Action::ReceiveReduceCopySend;
    let text = failed(&twice);
    assert!(text.contains("gpu 1, tb 0, step 3: adds chunk 1 of rank"), "{text}");
    // One forgets to add its own.
    let mut less = ring(3);
    less.gpus[2].blocks[0].steps[1].action = Action::ReceiveCopySend;
    let text = failed(&less);
    assert!(
        text.contains("it should contain chunk 1 of rank 0 + chunk 1 of rank 1 + chunk 1 of rank 2"),
        "{text}"
    );
    // Nothing makes the second thread block wait for what the first one receives.
    let chunk = |buffer, offset| BufferPlace { buffer, offset };
    let step = |action, source, destination| Step {
        action,
        source,
        destination,
        count: 1,
        after: None,
        awaited: false,
    };
    let out = chunk(Buffer::Output, 0);
    let hop = |send, receive, action, source| Block {
        send,
        receive,
        channel: 0,
        steps: vec![step(action, source, out)],
    };
    let gpu = |blocks| Gpu { input_chunks: 1, output_chunks: 1, blocks, ..Gpu::default() };
    let mut line = Algorithm {
        collective: CollectiveOp::Broadcast,
        chunks_per_loop: 1,
        gpus: vec![
            gpu(vec![hop(Some(1), None, Action::Send, out)]),
            gpu(vec![hop(None, Some(0), Action::Receive, out), hop(Some(2), None, Action::Send, out)]),
            gpu(vec![hop(None, Some(1), Action::Receive, out)]),
        ],
        ..ring(3)
    };
    assert!(
        failed(&line).contains("but nothing enforces the order with step 0 of tb 0 of gpu 1"),
        "{}",
        failed(&line)
    );
    line.gpus[1].blocks[1].steps[0].after = Some((0, 0));
    assert!(failed(&line).contains("waits for step 0 of tb 0, whose hasdep is 0"));
    line.gpus[1].blocks[0].steps[0].awaited = true;
    let run = execute(&line, &ExecuteOptions::default()).unwrap();
    assert_eq!(run.passages.iter().map(|p| (p.from, p.to)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert!(run.notes[0].contains("rank 0, which receives nothing"));
    let wrong_root = ExecuteOptions { root: Some(1), ..ExecuteOptions::default() };
    assert!(execute(&line, &wrong_root).is_err());
    // A custom collective is checked against what is asked of it.
    line.collective = CollectiveOp::Custom;
    assert!(execute(&line, &ExecuteOptions::default()).unwrap().notes[0].contains("not checked"));
    let sum = vec![Contribution { rank: 0, chunk: 0 }];
    let options =
        ExecuteOptions { wanted: vec![Wanted { rank: 2, offset: 0, sum }], ..ExecuteOptions::default() };
    assert_eq!(execute(&line, &options).unwrap().compared, 1);
}

#[test]
fn connections_hold_few_messages() {
    // Rank 0 sends three, rank 1 first waits for the third on a second thread block.
    let out = BufferPlace { buffer: Buffer::Output, offset: 0 };
    let step = |action| Step { action, source: out, destination: out, count: 1, after: None, awaited: false };
    let back = |send, receive, action| Block { send, receive, channel: 1, steps: vec![step(action)] };
    let first = Block { send: Some(1), receive: None, channel: 0, steps: vec![step(Action::Send); 3] };
    let then = Block { send: None, receive: Some(0), channel: 0, steps: vec![step(Action::Receive); 3] };
    let mut end = back(Some(1), None, Action::Send);
    end.steps[0].after = Some((0, 2));
    let mut gate = back(None, Some(0), Action::Receive);
    gate.steps[0].awaited = true;
    let gpu = |blocks| Gpu { input_chunks: 1, output_chunks: 1, blocks, ..Gpu::default() };
    let mut schedule = Algorithm {
        collective: CollectiveOp::Broadcast,
        chunks_per_loop: 1,
        gpus: vec![gpu(vec![first, end]), gpu(vec![then, gate])],
        ..ring(2)
    };
    schedule.gpus[0].blocks[0].steps[2].awaited = true;
    schedule.gpus[1].blocks[0].steps[0].after = Some((1, 0));
    let text = execute(&schedule, &ExecuteOptions::default()).unwrap_err().to_string();
    assert!(text.contains("waits for rank 1 to receive one of 2 messages"), "{text}");
    let unlimited = ExecuteOptions { in_flight: None, ..ExecuteOptions::default() };
    assert!(execute(&schedule, &unlimited).is_ok());
}

const HEAD: &str =
    "<algo name=\"a\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"1\" ngpus=\"1\" coll=\"allgather\"";

#[test]
fn every_problem_of_a_file_is_named_at_once() {
    let text = format!(
        "{HEAD} inplace=\"2\" minBytes=\"NaN\" maxBytes=\"-1\">\n<gpu id=\"1\" i_chunks=\"1e9\" o_chunks=\"\" s_chunks=\"0\">\n\
         <tb id=\"0\" send=\"-2\" recv=\"x\" chan=\"0\">\n<step s=\"3\" type=\"zap\" srcbuf=\"q\" srcoff=\"0\" dstbuf=\"o\" \
         dstoff=\"99999999999\" cnt=\"0\" depid=\"1\" deps=\"-1\" hasdep=\"7\"/>\n</tb>\n<tee/></gpu></algo>"
    );
    let told = wrong(&text);
    for part in [
        "line 1: inplace of <algo> is '2'",
        "line 1: minBytes of <algo> is 'NaN'",
        "line 1: maxBytes of <algo> is '-1'",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    let told = wrong(&text.replace(" inplace=\"2\" minBytes=\"NaN\" maxBytes=\"-1\"", ""));
    for part in [
        "line 2: id of <gpu> is 1, but its position is 0",
        "line 2: i_chunks of <gpu> is '1e9'; give a number from 0 to 1048576",
        "line 2: o_chunks of <gpu> is ''",
        "line 3: send of <tb> is '-2'",
        "line 3: recv of <tb> is 'x'",
        "line 4: s of <step> is 3",
        "line 4: type of <step> is 'zap'; use one of s, r, rcs",
        "line 4: srcbuf of <step> is 'q'",
        "line 4: dstoff of <step> is '99999999999'",
        "line 4: cnt of <step> is '0'",
        "line 4: hasdep of <step> is '7'",
        "line 4: depid of <step> is 1, but deps is -1",
        "line 6: has an element <tee>",
    ] {
        assert!(told.contains(part), "{part} is missing in:\n{told}");
    }
    assert!(wrong("<system version=\"1\"/>").contains("begins with <system>"));
    assert!(wrong(&format!("{HEAD}></algo>")).contains("ngpus of <algo> is '1', but the file has 0 <gpu>"));
    assert!(wrong(&format!("{HEAD}>")).contains("line 1: is not valid XML"));
    let twins = "<copy i_off=\"0\" o_off=\"0\"/>".repeat(2);
    let text =
        format!("{HEAD}><gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">{twins}</gpu></algo>");
    let told = check(&algorithm(text.as_bytes())).unwrap_err().to_string();
    assert!(told.contains("copies to output chunk 0 twice"), "{told}");
}

#[test]
fn a_flood_ends() {
    let flood = std::io::Read::take(std::io::repeat(b'<'), 300 << 20);
    let told = read(std::io::BufReader::new(flood), &Limits::default()).unwrap_err().to_string();
    assert!(told.contains("cannot be read"), "{told}");
}

fn any_step() -> impl Strategy<Value = Step> {
    let place =
        || (0..3_usize, 0..4_u32).prop_map(|(b, offset)| BufferPlace { buffer: Buffer::ALL[b].1, offset });
    let after = proptest::option::of((0..3_u32, 0..4_u32));
    (0..9_usize, place(), place(), 1..3_u32, after, any::<bool>()).prop_map(
        |(action, source, destination, count, after, awaited)| {
            let action = Action::ALL[action].1;
            if action == Action::Nothing {
                return Step { after, awaited, ..Step::waiting((0, 0)) };
            }
            Step { action, source, destination, count, after, awaited }
        },
    )
}

fn any_algorithm() -> impl Strategy<Value = Algorithm> {
    let peer = || proptest::option::of(0..3_u32);
    let block = (peer(), peer(), 0..3_u32, proptest::collection::vec(any_step(), 0..5))
        .prop_map(|(send, receive, channel, steps)| Block { send, receive, channel, steps });
    let copies = proptest::collection::vec((0..3_u32, 0..3_u32), 0..3);
    let gpu = (0..5_u32, 0..5_u32, 0..5_u32, copies, proptest::collection::vec(block, 0..4)).prop_map(
        |(input_chunks, output_chunks, scratch_chunks, copies, blocks)| Gpu {
            input_chunks,
            output_chunks,
            scratch_chunks,
            copies,
            blocks,
        },
    );
    let head =
        ("[a-z<&\" ']{0,20}", 0..12_usize, 0..3_usize, 1..9_u32, any::<[bool; 2]>(), any::<[u64; 2]>());
    (head, proptest::collection::vec(gpu, 1..4)).prop_map(
        |((name, op, protocol, chunks_per_loop, [in_place, out_of_place], bytes), gpus)| Algorithm {
            name,
            collective: CollectiveOp::NAMES[op].1,
            protocol: Protocol::ALL[protocol].1,
            chunks_per_loop,
            in_place,
            out_of_place,
            min_bytes: bytes[0].min(bytes[1]),
            max_bytes: bytes[0].max(bytes[1]),
            gpus,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(schedule in any_algorithm()) {
        let found = algorithm(write(&schedule).as_bytes());
        // No largest size is none, and the one buffer of a schedule in place is counted once.
        let mut meant = schedule.clone();
        if meant.max_bytes == 0 {
            meant.max_bytes = u64::MAX;
        }
        let alike = matches!(meant.collective, CollectiveOp::AllReduce | CollectiveOp::AllToAll);
        for gpu in meant.gpus.iter_mut().filter(|gpu| schedule.in_place && alike && gpu.output_chunks == 0) {
            gpu.output_chunks = gpu.input_chunks;
        }
        prop_assert_eq!(found, meant);
        // Whatever it is, running it ends with an answer.
        let _ = execute(&schedule, &ExecuteOptions::default());
        limits(&schedule);
    }

    #[test]
    fn damage_never_panics(at in any::<prop::sample::Index>(), insert in "[ -~]{0,9}", cut in 0..40_usize) {
        let mut text = write(&ring(3));
        let from = at.index(text.len());
        let to = (from + cut).min(text.len());
        text.replace_range(from..to, &insert);
        if let Ok(found) = read(text.as_bytes(), &Limits::default()) {
            let _ = execute(&found.value, &ExecuteOptions::default());
        }
        let _ = read(&text.as_bytes()[..from], &Limits::default());
    }
}
