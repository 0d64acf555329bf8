use super::*;
use crate::Limits;
use crate::collective::Contribution;

const ALLREDUCE: &[u8] =
    include_bytes!("../../../../tests/resources/inputs/collectives/mscclpp_allreduce.json.gz");
const REDUCE: &[u8] = include_bytes!("../../../../tests/resources/inputs/collectives/mscclpp_reduce.json.gz");
const PACKETS: &[u8] =
    include_bytes!("../../../../tests/resources/inputs/collectives/mscclpp_transfer_pack.json.gz");

fn plan(bytes: &[u8]) -> ExecutionPlan {
    read(bytes, &Limits::default()).unwrap().value
}

fn count(plan: &ExecutionPlan, action: PlanAction) -> usize {
    plan.gpus.iter().flat_map(|gpu| &gpu.blocks).flatten().filter(|one| one.action == action).count()
}

#[test]
fn published_plans_are_read_executed_and_written_again() {
    let found = plan(ALLREDUCE);
    assert_eq!(found.gpus.iter().map(|gpu| gpu.blocks.len()).sum::<usize>(), 16);
    let actions = [
        PlanAction::ReadReduceSend,
        PlanAction::Wait,
        PlanAction::RelaxedSignal,
        PlanAction::RelaxedWait,
        PlanAction::Synchronize,
    ];
    assert_eq!(actions.map(|action| count(&found, action)), [16, 16, 16, 16, 32]);
    let run = execute(&found, None, &[]).unwrap();
    assert!(run.findings.is_empty(), "{}", run.findings);
    assert_eq!((run.compared, run.ordered, run.signals.len()), (32, true, 32));
    assert_eq!(found.max_bytes, u64::MAX);
    for bytes in [ALLREDUCE, REDUCE] {
        let found = plan(bytes);
        assert_eq!(plan(write(&found).as_bytes()), found);
    }
    // A test of single operations of the executor, not a whole collective: that is told and no mistake of the file.
    let reduce = plan(REDUCE);
    assert_eq!(
        [PlanAction::Copy, PlanAction::Get, PlanAction::Put].map(|one| count(&reduce, one)),
        [3, 1, 1]
    );
    execute(&reduce, None, &[]).unwrap();
    let told = read(PACKETS, &Limits::default()).unwrap_err().to_string();
    assert!(told.contains("1 x cpkt, 1 x ppkt, 1 x rppkt, 2 x upkt"), "{told}");
}

#[test]
fn characters_that_disguise_a_name_are_escaped() {
    let name = "a\u{9b}31m\u{202e}b";
    let named = ExecutionPlan { name: name.to_owned(), ..plan(ALLREDUCE) };
    let text = write(&named);
    assert!(!text.contains(['\u{9b}', '\u{202e}']), "{text}");
    assert_eq!(plan(text.as_bytes()), named);
}

/// Rank 0 puts a chunk to rank 1, which copies it on.
fn two() -> ExecutionPlan {
    let span = |rank, buffer, index| Span { rank, buffer, index, size: 1 };
    let put = PlanOperation {
        sources: vec![span(None, Buffer::Input, 0)],
        destinations: vec![span(Some(1), Buffer::Scratch, 0)],
        sort: Some(ChannelSort::Memory),
        ..PlanOperation::bare(PlanAction::Put)
    };
    let copy = PlanOperation {
        sources: vec![span(None, Buffer::Scratch, 0)],
        destinations: vec![span(None, Buffer::Output, 0)],
        ..PlanOperation::bare(PlanAction::Copy)
    };
    let own = PlanOperation {
        sources: vec![span(None, Buffer::Input, 0)],
        destinations: vec![span(None, Buffer::Output, 0)],
        ..PlanOperation::bare(PlanAction::Copy)
    };
    let on = |action| PlanOperation::on_channel(action, ChannelSort::Memory, 0);
    let nop = || PlanOperation::bare(PlanAction::Synchronize);
    let gpu = |peer, blocks| PlanGpu {
        input_chunks: 1,
        output_chunks: 1,
        scratch_chunks: 1,
        channels: vec![PlanChannel { sort: ChannelSort::Memory, peer }],
        blocks,
    };
    ExecutionPlan {
        name: "two".to_owned(),
        collective: CollectiveOp::Broadcast,
        protocol: PlanProtocol::Simple,
        in_place: false,
        min_bytes: 0,
        max_bytes: u64::MAX,
        gpus: vec![
            gpu(1, vec![vec![own, put, nop(), on(PlanAction::Signal)]]),
            gpu(0, vec![vec![on(PlanAction::Wait), nop(), copy]]),
        ],
    }
}

#[test]
fn chunks_go_by_puts_signals_and_waits() {
    let plan = two();
    let run = execute(&plan, Some(0), &[]).unwrap();
    assert!(run.findings.is_empty() && run.compared == 2, "{}", run.findings);
    assert_eq!((run.passages.len(), run.signals.as_slice()), (1, &[[(0, 0, 3), (1, 0, 0)]][..]));
    let passage = &run.passages[0];
    assert_eq!((passage.from, passage.to, passage.operation), (0, 1, (0, 0, 1)));
    assert_eq!(run.memory.terms(passage.sums[0]), [Contribution { rank: 0, chunk: 0 }]);
    assert_eq!(super::read(write(&plan).as_bytes(), &Limits::default()).unwrap().value, plan);
    let other = execute(&plan, Some(1), &[]).unwrap();
    assert!(other.findings.to_string().contains("it should contain chunk 0 of rank 1"), "{}", other.findings);
}

#[test]
fn plans_that_break_a_rule_are_told() {
    let told = |change: &dyn Fn(&mut ExecutionPlan)| {
        let mut plan = two();
        change(&mut plan);
        execute(&plan, Some(0), &[]).unwrap_err().to_string()
    };
    let message = told(&|plan| drop(plan.gpus[0].blocks[0].remove(2)));
    assert!(message.contains("threads of its block may still be storing"), "{message}");
    let message = told(&|plan| drop(plan.gpus[1].blocks[0].remove(1)));
    assert!(message.contains("nothing enforces the order"), "{message}");
    let message = told(&|plan| drop(plan.gpus[0].blocks[0].pop()));
    assert!(message.contains("gpu 1, threadblock 0, op 0 (wait)"), "{message}");
    let message = told(&|plan| drop(plan.gpus[1].blocks[0].remove(0)));
    assert!(
        message.contains("nothing enforces the order") || message.contains("have no matching wait"),
        "{message}"
    );
    let message = told(&|plan| plan.gpus[1].channels[0].peer = 1);
    assert!(message.contains("but no channel leads back"), "{message}");
    let message = told(&|plan| plan.gpus[0].blocks[0][1].destinations[0].index = 1);
    assert!(message.contains("uses chunk 1 of buffer s of rank 1"), "{message}");
    let message = told(&|plan| plan.gpus[1].blocks[0][2].sources[0].buffer = Buffer::Output);
    assert!(message.contains("which has not been written"), "{message}");
    let message = told(&|plan| plan.gpus[1].blocks[0].push(PlanOperation::barrier(0, 2)));
    assert!(message.contains("op 3 (barrier)"), "{message}");
    let message = told(&|plan| {
        let blocks = &mut plan.gpus[1].blocks;
        blocks[0].push(PlanOperation::barrier(0, 2));
        blocks.push(vec![PlanOperation::barrier(0, 3)]);
    });
    assert!(
        message.contains("for 3 thread blocks, but another block waits there for 2")
            || message.contains("for 2 thread blocks, but another block waits there for 3"),
        "{message}"
    );
}

#[test]
fn files_that_break_a_rule_are_told_with_their_place() {
    let text = write(&two());
    for (from, to, said) in [
        ("\"put\"", "\"putt\"", "gpus[0].threadblocks[0].ops[1].name: is 'putt'"),
        ("\"buffer_id\":0", "\"buffer_id\":3", "ops[1].dst_buff[0].buffer_id: is '3'"),
        ("\"connected_to\":[1]", "\"connected_to\":[7]", "has rank 7"),
        ("\"collective\":\"broadcast\"", "\"collective\":\"x\"", "collective: is 'x'"),
        ("\"id\":1", "\"id\":5", "differs from its position in the list"),
        ("\"name\":\"signal\",\"channel_ids\":[0],", "\"name\":\"signal\",", "'signal' has no channel"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}: {text}");
        let told = super::read(changed.as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(told.contains(said), "{said}: {told}");
    }
}
