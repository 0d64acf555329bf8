use crate::Collective;
use crate::check::{ScheduleEnvelope, check};
use crate::files::import::import_plan;
use crate::files::{msccl as written, mscclpp as plus};
use crate::methods;
use crate::scenario::{CollectiveScenario, CollectiveSort};
use crate::testing::preset;
use lightbay_core::checked::downcast;
use lightbay_core::format::{ImportedPlan, Input};
use lightbay_core::param::Params;
use lightbay_core::scenario::Scenario;
use lightbay_core::testing::Ask;

macro_rules! resource {
    ($name:literal) => {
        include_bytes!(concat!("../../../../../../tests/resources/inputs/collectives/", $name)).as_slice()
    };
}

/// Imports a schedule on a scenario; what is read passes the checker.
fn read(scenario: &CollectiveScenario, schedule: &[u8]) -> Result<ImportedPlan<Collective>, String> {
    let is_xml = schedule.starts_with(b"<") || schedule.starts_with(&[0x1f, 0x8b]);
    read_as(if is_xml { "msccl" } else { "mscclpp" }, scenario, schedule)
}

fn read_as(
    format: &str,
    scenario: &CollectiveScenario,
    schedule: &[u8],
) -> Result<ImportedPlan<Collective>, String> {
    let scenario = Scenario::<Collective>::new("s".to_owned(), scenario.clone());
    let inputs = [
        Input { name: "schedule.xml".to_owned(), bytes: schedule.to_vec() },
        Input { name: "scenario.json".to_owned(), bytes: scenario.to_json().unwrap() },
    ];
    let made = import_plan(format, &inputs, false).map_err(|problems| problems.to_string())?;
    let candidate = &made.candidate;
    let envelope = ScheduleEnvelope {
        value: candidate.value,
        bound: None,
        bound_covers: None,
        metrics: &candidate.metrics,
    };
    let verdict = check(&made.scenario.body, &candidate.result, &envelope);
    assert_eq!(verdict.violations, [], "{:?}", made.lines);
    Ok(made)
}

/// Finish in epochs of the plan of a method, and the plan as a program.
fn program(scenario: &CollectiveScenario, method: &str) -> (u32, String) {
    let ended = Ask::of(&methods::all(), method, scenario.clone()).run();
    let plan = downcast::<Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
    let result = &plan.plan().result;
    let params = Params::resolve(&written::format().params, []).unwrap();
    let algorithm = written::algorithm("test", scenario, result, &params).unwrap();
    (result.claims.finish_epochs, lightbay_formats::msccl::write(&algorithm))
}

#[test]
fn a_published_schedule_is_played_on_its_machine() {
    let machine = preset("amdx2-allgather-1gb");
    let made = read(&machine, resource!("teccl_amd_32.xml.gz")).unwrap();
    assert_eq!(made.scenario.body.demand.chunks_per_rank, 2);
    let told = made.lines.join("\n");
    assert!(told.contains("32 ranks, 532 thread blocks, 1910 messages on 2 channels"), "{told}");
    assert!(told.contains("chunks per rank: 2 as in the schedule instead of 1"), "{told}");
    // 1984 receipts of chunks, of which none brings a chunk a second time.
    assert_eq!(
        (made.summary["repeated"].as_u64(), made.summary["detours"].as_u64()),
        (Some(0), Some(0)),
        "{told}"
    );
}

#[test]
fn own_schedules_come_back_as_they_were() {
    for (name, method) in [
        ("dgx1-allgather-200kb", "ring"),
        ("dgx1-reducescatter-200kb", "ring"),
        ("dgx1-broadcast-200kb", "construct"),
        ("ndv2x4-allgather-1mb", "ring"),
    ] {
        let scenario = preset(name);
        let (finish, text) = program(&scenario, method);
        let made = read(&scenario, text.as_bytes()).unwrap();
        assert_eq!(made.candidate.result.claims.finish_epochs, finish, "{name} {method}: {:?}", made.lines);
    }
}

#[test]
fn sums_and_exchanges_are_played_as_well() {
    for name in ["dgx1-allreduce-200kb", "dgx1-alltoall-200kb", "ring4-allreduce-1mb", "dgx2x1-alltoall-1mb"]
    {
        let scenario = preset(name);
        let (finish, text) = program(&scenario, "construct");
        let made = read(&scenario, text.as_bytes()).unwrap();
        let claims = &made.candidate.result.claims;
        assert!(
            claims.finish_epochs <= 2 * finish,
            "{name}: {} epochs, {finish} before",
            claims.finish_epochs
        );
    }
}

#[test]
fn parts_of_sums_that_ranks_pass_on_come_back() {
    let links = [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 2, 1.0, 0.0), (2, 1, 1.0, 0.0)];
    let mut scenario = crate::testing::own(3, &[], &links, &[(0, &[1])]);
    scenario.demand = crate::scenario::Demand::named(CollectiveSort::ReduceScatter, 3e4);
    let (finish, text) = program(&scenario, "shortest-path");
    let made = read(&scenario, text.as_bytes()).unwrap();
    // The two ends send two parts each, one of them through GPU 1, which has two parts of its own.
    assert_eq!(made.candidate.result.sends.len(), 8);
    assert_eq!(made.candidate.result.claims.finish_epochs, finish, "{:?}", made.lines);
    let told = made.lines.join("\n");
    assert!(told.contains("ranks such as 1 pass on parts of sums"), "{told}");
    scenario.demand.collective = CollectiveSort::AllReduce;
    let (_, text) = program(&scenario, "shortest-path");
    let told = read(&scenario, text.as_bytes()).map(|made| made.lines).unwrap_err();
    assert!(told.contains("rank 1 passes on a part of the sum of chunk"), "{told}");
}

#[test]
fn pairs_without_links_are_reached_by_way_of_others() {
    let made = read(&preset("dgx1-alltoall-200kb"), resource!("alltoall-8n-0-9kb.xml")).unwrap();
    // Every GPU of the cube mesh has links to four others, and sends to three more.
    assert_eq!(made.summary["detours"].as_u64(), Some(24), "{:?}", made.lines);
}

#[test]
fn execution_plans_come_back_as_well() {
    for (name, method) in [
        ("dgx1-allgather-200kb", "ring"),
        ("dgx1-alltoall-200kb", "construct"),
        ("dgx1-reducescatter-200kb", "ring"),
        ("dgx1-allreduce-200kb", "construct"),
        ("ndv2x2-allgather-64kb", "construct"),
    ] {
        let scenario = preset(name);
        let ended = Ask::of(&methods::all(), method, scenario.clone()).run();
        let plan = downcast::<Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
        let result = &plan.plan().result;
        let params = Params::resolve(&plus::format().params, []).unwrap();
        let text = lightbay_formats::mscclpp::write(&plus::plan("test", &scenario, result, &params).unwrap());
        let made = read(&scenario, text.as_bytes()).unwrap();
        let (finish, before) = (made.candidate.result.claims.finish_epochs, result.claims.finish_epochs);
        assert!(finish <= 3 * before, "{name}: {finish}, {before} before");
        assert_eq!(made.summary["repeated"].as_u64(), Some(0), "{name}: {:?}", made.lines);
    }
    let told = read_as("mscclpp", &preset("dgx1-allreduce-200kb"), resource!("mscclpp_allreduce.json.gz"));
    assert!(told.unwrap_err().contains("16 operations read buffers of other ranks (rres)"));
}

/// Two ranks that add up by turns: each sends its part of every chunk.
const DOUBLING: &str = r#"<algo name="d" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1" outofplace="0" minBytes="0" maxBytes="9">
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="1" recv="1" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/></tb></gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="0" recv="0" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
<step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/></tb></gpu></algo>"#;

#[test]
fn schedules_that_no_plan_can_say_are_refused_with_the_reason() {
    let exchange = resource!("alltoall-8n-0-9kb.xml");
    let told = |name: &str, schedule: &[u8]| read(&preset(name), schedule).unwrap_err();
    let message = told("dgx1-allgather-200kb", exchange);
    assert!(message.contains("the schedule is for AllToAll, but the scenario is for AllGather"), "{message}");
    let message = told("dgx2x1-alltoall-1mb", exchange);
    assert!(message.contains("the schedule has 8 ranks, but the scenario has 16"), "{message}");
    let (_, custom) = program(&preset("dgx1-scatter-200kb"), "construct");
    // The buffers of a scatter do not match a gather, and a file with another root fails the test run.
    let message = told("dgx1-gather-200kb", custom.as_bytes());
    assert!(message.contains("is a custom collective"), "{message}");
    let mut other = preset("dgx1-scatter-200kb");
    other.demand.root = Some(3);
    assert!(read(&other, custom.as_bytes()).is_err());
    let mut two = preset("dgx1-allreduce-200kb");
    two.demand.ranks = Some(vec![0, 1]);
    let message = read(&two, DOUBLING.as_bytes()).unwrap_err();
    assert!(message.contains("is not reduced along one tree"), "{message}");
    let mut uncopied = preset("dgx1-broadcast-200kb");
    let (_, text) = program(&uncopied, "construct");
    uncopied.demand.copy = false;
    let message = read(&uncopied, text.as_bytes()).unwrap_err();
    assert!(message.contains("demand.copy"), "{message}");
    let alone = [Input { name: "a.xml".to_owned(), bytes: exchange.to_vec() }];
    let message = import_plan("msccl", &alone, false).unwrap_err().to_string();
    assert!(message.contains("none of the files is a scenario"), "{message}");
}

#[test]
fn programs_of_scatter_are_read_back_and_those_of_gather_refused() {
    let scenario = preset("dgx1-scatter-200kb");
    let (epochs, text) = program(&scenario, "construct");
    let made = read(&scenario, text.as_bytes()).unwrap();
    assert!(made.candidate.result.claims.finish_epochs <= 2 * epochs, "{:?}", made.lines);
    assert!(made.lines.iter().all(|line| !line.contains("not checked")), "{:?}", made.lines);
    let scenario = preset("dgx1-gather-200kb");
    let refused = read(&scenario, program(&scenario, "construct").1.as_bytes()).unwrap_err();
    assert!(refused.contains("coll: is a custom collective"), "{refused}");
}
