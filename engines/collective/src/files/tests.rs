use super::*;
use crate::methods;
use crate::plan::CollectiveResult;
use crate::scenario::{CollectiveScenario, CollectiveSort, presets};
use crate::testing::preset;
use lightbay_core::checked::downcast;
use lightbay_core::format::Input;
use lightbay_core::param::ParamValue;
use lightbay_core::testing::Ask;
use lightbay_formats::chakra::{self, ChakraSort};
use lightbay_formats::msccl::{ExecuteOptions, execute, read};
use std::collections::BTreeMap;

/// A plan of whole chunks, constructed or along the paths of a baseline.
fn made(scenario: &CollectiveScenario, method: &str) -> CollectiveResult {
    let ended = Ask::of(&methods::all(), method, scenario.clone()).run();
    let Some(plan) = &ended.done.plan else { panic!("no plan: {:?}", ended.done) };
    downcast::<Collective>(plan).unwrap().plan().result.clone()
}

fn program(scenario: &CollectiveScenario, result: &CollectiveResult) -> String {
    let params = Params::resolve(&msccl::format().params, []).unwrap();
    lightbay_formats::msccl::write(&msccl::algorithm("test", scenario, result, &params).unwrap())
}

#[test]
fn programs_do_what_their_collectives_ask_for() {
    for (name, method) in [
        ("dgx1-allgather-200kb", "construct"),
        ("dgx1-allgather-200kb", "ring"),
        ("dgx1-reducescatter-200kb", "construct"),
        ("dgx1-allreduce-200kb", "construct"),
        ("dgx1-alltoall-200kb", "construct"),
        ("dgx1-broadcast-200kb", "construct"),
        ("ring4-allgather-1mb", "shortest-path"),
        ("ring4-allreduce-1mb", "ring"),
        ("ndv2x2-allgather-64kb", "construct"),
        ("ndv2x4-allgather-1mb", "construct"),
        ("ndv2x4-reducescatter-1mb", "construct"),
        ("dgx2x1-alltoall-1mb", "construct"),
        ("a100x4-allgather-1mb", "construct"),
        ("ndv2x2-allgather-64kb", "trees"),
        ("dgx1-allreduce-64kb", "trees"),
        ("dgx1-reducescatter-64kb", "trees"),
        ("dgx1-broadcast-64kb", "trees"),
    ] {
        let scenario = preset(name);
        let text = program(&scenario, &made(&scenario, method));
        let algorithm = read(text.as_bytes(), &lightbay_formats::Limits::default()).unwrap().value;
        assert_eq!(lightbay_formats::msccl::limits(&algorithm), Vec::<String>::new(), "{name}");
        for in_flight in [Some(1), None] {
            let options =
                ExecuteOptions { root: scenario.demand.root, in_flight, ..ExecuteOptions::default() };
            let done = execute(&algorithm, &options).unwrap_or_else(|problems| panic!("{name}: {problems}"));
            assert!(done.ordered && done.compared > 0, "{name}");
        }
    }
}

#[test]
fn programs_of_scatter_and_gather_are_executed_before_they_are_written() {
    for name in ["dgx1-scatter-200kb", "dgx1-gather-200kb", "ndv2x2-gather-1mb"] {
        let scenario = preset(name);
        let text = program(&scenario, &made(&scenario, "construct"));
        assert!(text.contains("coll=\"custom\"") && text.contains("type=\"cpy\""), "{name}: {text}");
    }
}

#[test]
fn execution_plans_do_what_their_collectives_ask_for() {
    for (name, method) in [
        ("dgx1-allgather-200kb", "construct"),
        ("dgx1-allgather-200kb", "ring"),
        ("dgx1-reducescatter-200kb", "construct"),
        ("dgx1-allreduce-200kb", "construct"),
        ("dgx1-alltoall-200kb", "construct"),
        ("dgx1-broadcast-200kb", "construct"),
        ("dgx1-gather-200kb", "construct"),
        ("ring4-allreduce-1mb", "ring"),
        ("ndv2x2-allgather-64kb", "construct"),
        ("dgx2x1-alltoall-1mb", "construct"),
    ] {
        let scenario = preset(name);
        let result = made(&scenario, method);
        for channel in ["by_group", "memory", "port"] {
            let given = [("channel", ParamValue::Text(channel.to_owned()))];
            let params = mscclpp::format().params;
            let params = Params::resolve(&params, given.iter().map(|(n, v)| (*n, v))).unwrap();
            let plan = mscclpp::plan("test", &scenario, &result, &params)
                .unwrap_or_else(|problems| panic!("{name} {channel}: {problems}"));
            let text = lightbay_formats::mscclpp::write(&plan);
            let again =
                lightbay_formats::mscclpp::read(text.as_bytes(), &lightbay_formats::Limits::default());
            assert_eq!(again.unwrap().value, plan, "{name} {channel}");
            let ports = text.contains("\"pws\"");
            assert_eq!(
                ports,
                channel == "port" || (channel == "by_group" && name.starts_with("ndv2x2")),
                "{name}"
            );
        }
    }
}

/// Three GPUs in a line reduce: GPU 1 passes on parts of GPUs 0 and 2, in one piece for each part.
#[test]
fn relays_pass_on_parts_of_sums() {
    let links = [(0, 1, 1.0, 0.0), (1, 0, 1.0, 0.0), (1, 2, 1.0, 0.0), (2, 1, 1.0, 0.0)];
    let mut scenario = crate::testing::own(3, &[], &links, &[(0, &[1])]);
    scenario.demand = crate::scenario::Demand::named(CollectiveSort::ReduceScatter, 3e4);
    for collective in [CollectiveSort::ReduceScatter, CollectiveSort::AllReduce] {
        scenario.demand.collective = collective;
        for chunks in [1, 2] {
            scenario.demand.chunks_per_rank = chunks;
            let result = made(&scenario, "shortest-path");
            program(&scenario, &result);
            let params = Params::resolve(&mscclpp::format().params, []).unwrap();
            mscclpp::plan("test", &scenario, &result, &params)
                .unwrap_or_else(|problems| panic!("{collective:?} {chunks}: {problems}"));
        }
    }
}

#[test]
fn several_chunks_and_other_ranks_have_places_of_their_own() {
    let mut scenario = preset("dgx1-alltoall-200kb");
    scenario.demand.chunks_per_rank = 2;
    scenario.demand.ranks = Some(vec![3, 0, 5, 1, 2, 4, 7, 6]);
    program(&scenario, &made(&scenario, "construct"));
    scenario.demand.collective = CollectiveSort::AllReduce;
    program(&scenario, &made(&scenario, "construct"));
    scenario.demand.ranks = Some(vec![0, 7]);
    let result = made(&scenario, "construct");
    let params = Params::resolve(&msccl::format().params, []).unwrap();
    let told = msccl::algorithm("test", &scenario, &result, &params).unwrap_err().to_string();
    assert!(told.contains("is not a rank"), "{told}");
}

#[test]
fn what_a_program_cannot_say_is_refused() {
    let scenario = preset("dgx1-allgather-200kb");
    let result = made(&scenario, "construct");
    let given = [("min_bytes", ParamValue::Int(9)), ("max_bytes", ParamValue::Int(8))];
    let params = Params::resolve(&msccl::format().params, given.iter().map(|(n, v)| (*n, v))).unwrap();
    let told = msccl::algorithm("test", &scenario, &result, &params).unwrap_err().to_string();
    assert!(told.contains("below min_bytes 9"), "{told}");
}

/// A program for each range, used from the size behind that of the one before.
#[test]
fn programs_of_ranges_touch() {
    let mut scenario = preset("ndv2x2-allgather-1gb");
    scenario.demand.sizes_bytes = (0..21).map(|step| 1000 << step).collect();
    let ended = Ask::of(&methods::all(), "auto", scenario).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let ranges = &plan.plan().result.ranges;
    assert!(ranges.len() > 1);
    for (format, info) in [("msccl", msccl::format()), ("mscclpp", mscclpp::format())] {
        let params = Params::resolve(&info.params, []).unwrap();
        let files = export(SubjectOf::Plan(&plan), format, &params).unwrap();
        assert_eq!(files.len(), ranges.len());
        for (file, range) in files.iter().zip(ranges) {
            let text = String::from_utf8_lossy(&file.bytes).replace("\": ", "\":");
            let (min, max) = (range.min_bytes, range.max_bytes);
            let [first, last] = if format == "msccl" {
                [format!("minBytes=\"{min}\""), format!("maxBytes=\"{max}\"")]
            } else {
                [format!("\"min_message_size\":{min}"), format!("\"max_message_size\":{max}")]
            };
            assert!(text.contains(&first) && text.contains(&last), "{}: {first}, {last}", file.name);
        }
        let given = ParamValue::Int(5);
        let params = Params::resolve(&info.params, [("min_bytes", &given)]).unwrap();
        let told = export(SubjectOf::Plan(&plan), format, &params).unwrap_err().to_string();
        assert!(told.contains("min_bytes") && told.contains("has no effect"), "{told}");
    }
}

#[test]
fn traces_send_what_they_receive() {
    let scenario = preset("dgx1-allreduce-200kb");
    let result = made(&scenario, "construct");
    let files = traces::files("x", &scenario, &result).unwrap();
    assert_eq!(files.len(), 8);
    let traces: Vec<_> = files.iter().map(|file| chakra::read(&file.bytes).unwrap()).collect();
    let mut messages: BTreeMap<[i128; 4], [usize; 2]> = BTreeMap::new();
    for node in traces.iter().flat_map(|trace| &trace.nodes) {
        let key = ["comm_src", "comm_dst", "comm_tag", "comm_size"].map(|name| node.int(name).unwrap());
        messages.entry(key).or_default()[usize::from(node.sort == ChakraSort::Receive)] += 1;
    }
    assert_eq!(messages.len(), result.sends.len());
    assert!(messages.values().all(|count| *count == [1, 1]));
    // Only what a rank has from the beginning depends on nothing.
    let sends = |trace: &chakra::ChakraTrace| {
        trace.nodes.iter().filter(|node| node.sort == ChakraSort::Send && node.data_deps.is_empty()).count()
    };
    assert!(traces.iter().all(|trace| (1..trace.nodes.len()).contains(&sends(trace))));
}

#[test]
fn tables_have_a_line_for_every_send() {
    let scenario = preset("ndv2x2-allgather-64kb");
    let result = made(&scenario, "construct");
    let table = tables::sends(&scenario, &result).unwrap();
    assert_eq!(table.lines().count(), result.sends.len() + 1);
    let last = table.lines().filter_map(|line| line.split(',').nth(2)?.parse::<u32>().ok()).max();
    assert_eq!(last, Some(result.claims.finish_epochs));
}

fn input(name: &str, text: &str) -> Input {
    Input { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
}

fn read_as(
    format: &str,
    text: &str,
    given: &[(&str, ParamValue)],
    strict: bool,
) -> Result<CollectiveScenario, String> {
    let info = import::formats().into_iter().find(|info| info.name == format).unwrap();
    let params = Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap();
    let made = import::import(format, &[input("a/machine.xml", text)], &params, strict);
    made.map(|made| made.scenario.body).map_err(|problems| problems.to_string())
}

const TWO: &str = "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" class=\"0x030200\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">\
    <gpu dev=\"0\" sm=\"80\"><nvlink target=\"0000:02:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci>\
    <pci busid=\"0000:02:00.0\" class=\"0x030200\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">\
    <gpu dev=\"1\" sm=\"80\"><nvlink target=\"0000:01:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu></pci></cpu></system>";

#[test]
fn machines_become_networks() {
    let scenario = read_as("nccl", TWO, &[], false).unwrap();
    assert_eq!((scenario.topology.name.as_str(), scenario.topology.nodes.len()), ("machine", 2));
    let rates: Vec<f64> = scenario.topology.links.iter().map(|link| link.capacity_gbyte_per_s).collect();
    assert_eq!(rates, [40.0, 40.0]);
    let given = [
        ("alpha_us", ParamValue::Float(2.0)),
        ("link_gbyte_per_s", ParamValue::Float(5.0)),
        ("collective", ParamValue::Text("all_to_all".to_owned())),
        ("output_buffer_bytes", ParamValue::Float(1e6)),
    ];
    let other = read_as("nccl", TWO, &given, true).unwrap();
    assert_eq!((other.topology.links[0].capacity_gbyte_per_s, other.topology.links[0].alpha_us), (10.0, 2.0));
    assert_eq!(other.demand, crate::scenario::Demand::named(CollectiveSort::AllToAll, 1e6));
    let told = read_as("nccl", TWO, &[], true).unwrap_err();
    assert!(told.contains("link_gbyte_per_s=") && told.contains("alpha_us="), "{told}");
    let text = ParamValue::Text("mesh:50".to_owned());
    let told = read_as("nccl", TWO, &[("intra", text)], false).unwrap_err();
    assert!(told.contains("lists links between GPUs"), "{told}");
    let bare = TWO.replace("nvlink", "other");
    let told = read_as("nccl", &bare, &[], false).unwrap_err();
    assert!(told.contains("intra"), "{told}");
    let switched =
        read_as("nccl", &bare, &[("intra", ParamValue::Text("nvswitch:300".to_owned()))], false).unwrap();
    assert_eq!((switched.topology.nodes.len(), switched.topology.links.len()), (3, 4));
    for wrong in ["nvswitch", "mesh:0", "ring:3"] {
        let told =
            read_as("nccl", &bare, &[("intra", ParamValue::Text(wrong.to_owned()))], false).unwrap_err();
        assert!(told.contains(&format!("is '{wrong}'")), "{told}");
    }
}

#[test]
fn inputs_of_the_published_program_become_scenarios() {
    let text = |name: &str, rest: &str| {
        format!(
            "{{\"TopologyParams\": {{\"name\": \"{name}\", \"chassis\": 2, \"chunk_size\": 0.0625}}, \
             \"InstanceParams\": {{\"collective\": 1, \"num_chunks\": 1, \"epoch_type\": 2{rest}}}}}"
        )
    };
    let scenario = read_as("teccl", &text("NDv2", ""), &[], false).unwrap();
    let usual = presets::scenario("ndv2x2-allgather-1gb").unwrap();
    assert_eq!((&scenario.topology, scenario.family.as_ref()), (&usual.topology, usual.family.as_ref()));
    assert_eq!(scenario.demand.chunk_size(&scenario.topology), 62.5e6);
    assert_eq!(scenario.time.epoch, crate::scenario::EpochRule::SlowestLink);
    let told = read_as("teccl", &text("Moebius", ""), &[], false).unwrap_err();
    assert!(told.contains("TopologyParams.name") && told.contains("'Moebius'"), "{told}");
    let told = read_as("teccl", &text("DGX1", ""), &[], false).unwrap_err();
    assert!(told.contains("give 1, 2 or 4 chassis"), "{told}");
}

fn defaults(info: FormatInfo, given: &[(&str, &str)]) -> Params {
    let values: Vec<(&str, ParamValue)> =
        given.iter().map(|(name, text)| (*name, ParamValue::Text((*text).to_owned()))).collect();
    Params::resolve(&info.params, values.iter().map(|(name, value)| (*name, value))).unwrap()
}

#[test]
fn loads_of_links_add_up_and_name_the_next_circuit() {
    let scenario = preset("ndv2x2-allgather-64kb");
    let result = made(&scenario, "construct");
    let table = traffic::table(&scenario, &result, &defaults(traffic::format(), &[])).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.lines().skip(1).map(cells).collect();
    assert_eq!(rows.len(), scenario.topology.links.len());
    let total: f64 = rows.iter().map(|row| row[5].parse::<f64>().unwrap()).sum();
    assert_eq!(total, 4000.0 * result.sends.len() as f64);
    // Eight chunks of 4 kB go in each direction between the chassis, over one link of 12.5 GB/s.
    let groups =
        traffic::table(&scenario, &result, &defaults(traffic::format(), &[("between", "groups")])).unwrap();
    let rows: Vec<Vec<String>> = groups.lines().skip(1).map(cells).collect();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((row[4].as_str(), row[5].as_str(), row[6].as_str()), ("1", "32000", "2.56"), "{groups}");
    }
    assert_eq!(rows.iter().filter(|row| row[9] == "yes").count(), 1);
    let dense = [("between", "groups"), ("form", "dense")];
    let dense = traffic::table(&scenario, &result, &defaults(traffic::format(), &dense)).unwrap();
    assert_eq!(dense, "from\\to,group 0,group 1\ngroup 0,0,32000\ngroup 1,32000,0\n");
    let all = occupation::totals(&scenario, &result).unwrap();
    let told = occupation::advice(&scenario, &result, &all).unwrap();
    assert!(told.starts_with("the next circuit belongs between group"), "{told}");
    // One chassis has no pairs of groups: there it is a pair of GPUs.
    let scenario = preset("dgx1-allgather-200kb");
    let result = made(&scenario, "construct");
    let all = occupation::totals(&scenario, &result).unwrap();
    let told = occupation::advice(&scenario, &result, &all).unwrap();
    assert!(told.contains("c0.g"), "{told}");
}

#[test]
fn transmissions_of_a_link_do_not_overlap() {
    for (name, method) in [("ndv2x2-allgather-64kb", "construct"), ("dgx1-allreduce-200kb", "ring")] {
        let scenario = preset(name);
        let result = made(&scenario, method);
        let mut free: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for one in occupation::transmissions(&scenario, &result).unwrap() {
            let free = free.entry((one.from, one.to)).or_default();
            assert!(one.begins_us >= *free && one.ends_us > one.begins_us, "{name}: {one:?}");
            assert!(one.begins_us >= f64::from(one.epoch) * result.time.epoch_us, "{name}: {one:?}");
            *free = one.ends_us;
        }
    }
}

#[test]
fn timelines_and_pictures_show_every_link_that_is_used() {
    let scenario = preset("dgx1-allreduce-200kb");
    let result = made(&scenario, "construct");
    let text = timeline::trace("sum", &scenario, &result).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(slices.len(), result.sends.len());
    assert!(
        slices.iter().any(|slice| slice["cat"] == "add up")
            && slices.iter().any(|slice| slice["cat"] == "spread")
    );
    let end = slices
        .iter()
        .map(|slice| slice["ts"].as_f64().unwrap() + slice["dur"].as_f64().unwrap())
        .fold(0.0, f64::max);
    assert!(end <= result.claims.finish_us + 1e-3, "{end}");
    assert_eq!(trace["otherData"]["collective"], "AllReduce");
    let svg = picture::svg("sum", &scenario, &result).unwrap();
    let links: std::collections::BTreeSet<_> = result.sends.iter().map(|send| (send.from, send.to)).collect();
    for (from, to) in links {
        assert!(svg.contains(&format!("c0.g{from}→c0.g{to}")), "{from} {to}");
    }
    assert!(svg.contains("AllReduce among 8 ranks") && svg.contains("url(#rising)"), "{svg}");
}

#[test]
fn the_library_is_told_which_algorithm_is_faster() {
    let table =
        |name: &str, given: &[(&str, &str)]| tuner::table(&preset(name), &defaults(tuner::format(), given));
    let sums = lightbay_formats::nccl::tuner::read(&table("dgx1-allreduce-200kb", &[]).unwrap()).unwrap();
    assert_eq!((sums[0].min_bytes, sums.last().unwrap().max_bytes), (0, 1 << 40));
    // Few hops count for small sizes, shared links for large ones.
    assert_eq!((sums[0].algorithm.as_str(), sums.last().unwrap().algorithm.as_str()), ("tree", "ring"));
    assert_eq!((sums[0].nodes, sums[0].ranks, sums[0].channels), (Some(1), Some(8), 0));
    let gathers = table("ndv2x2-allgather-64kb", &[("protocol", "ll128")]).unwrap();
    assert_eq!(gathers, "allgather,0,1099511627776,ring,ll128,0,2,16\n");
    let told = table("dgx1-alltoall-200kb", &[]).unwrap_err().to_string();
    assert!(told.contains("is all_to_all, which the plug-in does not support"), "{told}");
    // NCCL cuts a number that is given down to what it has; 0 leaves it its own, -1 would make it one.
    let given = Params::resolve(&tuner::format().params, [("channels", &ParamValue::Int(24))]).unwrap();
    let text = tuner::table(&preset("dgx1-allreduce-200kb"), &given).unwrap();
    let rows = lightbay_formats::nccl::tuner::read(&text);
    assert!(rows.unwrap().iter().all(|row| row.channels == 24));
    let channels = tuner::format().params.into_iter().find(|info| info.name == "channels").unwrap();
    assert!(channels.parse("0").is_ok());
    let told = channels.parse("-1").unwrap_err().to_string();
    assert!(told.contains("the plug-in reads -1 as one channel"), "{told}");
    for (name, others) in [
        ("dgx1-allreduce-200kb", "broadcast, reduce, allgather, reducescatter"),
        ("ndv2x2-allgather-64kb", "broadcast, reduce, reducescatter, allreduce"),
    ] {
        let remark = tuner::remark(&preset(name));
        assert!(remark.contains(&format!("collective that has no row: {others};")), "{remark}");
    }
}

#[test]
fn names_of_others_stay_in_their_field() {
    let mut scenario = preset("dgx1-allgather-200kb");
    scenario.topology.nodes[0].name = "=1+1".to_owned();
    scenario.topology.nodes[1].name = "a\u{1b}[2J,\"b\"".to_owned();
    let result = made(&scenario, "construct");
    let table = tables::sends(&scenario, &result).unwrap();
    assert!(table.contains(",'=1+1,") && !table.contains(",=1+1,"), "{table}");
    assert!(table.contains("\"a\\u{1b}[2J,\"\"b\"\"\"") && !table.contains('\u{1b}'), "{table}");
}

#[test]
fn copies_of_switches_are_counted_and_timed() {
    let remarks_of = |name: &str, format: &str| {
        let ended = Ask::of(&methods::all(), "construct", preset(name)).run();
        let plan = downcast::<Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
        (remarks(SubjectOf::Plan(&plan), format), plan.plan().result.claims.replay_us.unwrap())
    };
    // A switch copies the data of the root to the seven others: one send becomes seven over the link of the root.
    for format in [msccl::NAME, mscclpp::NAME] {
        let (told, own) = remarks_of("h100x1-broadcast-1mb", format);
        let [told] = told.as_slice() else { panic!("{told:?}") };
        assert!(told.starts_with("the file has 6 additional sends of ranks for the copies"), "{told}");
        assert!(told.ends_with(&format!("and the plan {own:.3} us")), "{told}");
        let file: f64 = told.split(" takes ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(file > 2.0 * own, "{told}");
        assert_eq!(remarks_of("ring8-allgather-1mb", format).0, Vec::<String>::new());
    }
}

#[test]
fn the_buffer_itself_gets_a_program_if_no_range_contains_it() {
    let mut scenario = preset("dgx1-allgather-200kb");
    scenario.demand.sizes_bytes = vec![1000, 64_000];
    let ended = Ask::of(&methods::all(), "auto", scenario).run();
    let plan = downcast::<Collective>(&ended.done.plan.unwrap()).unwrap();
    let largest = plan.plan().result.ranges.iter().map(|range| range.max_bytes).max().unwrap();
    let params = Params::resolve(&msccl::format().params, []).unwrap();
    let files = export(SubjectOf::Plan(&plan), msccl::NAME, &params).unwrap();
    assert_eq!(files.len(), plan.plan().result.ranges.len() + 1);
    let text = String::from_utf8_lossy(&files.last().unwrap().bytes).into_owned();
    let limits = format!("minBytes=\"{}\" maxBytes=\"200000\"", largest + 1);
    assert!(text.contains(&limits), "{limits}: {}", text.lines().next().unwrap());
}
