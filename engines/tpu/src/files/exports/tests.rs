use super::*;
use crate::methods::assemble::{PodParts, candidate};
use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::{PORTS, SWITCHES};
use crate::model::router::Allocator;
use crate::plan::{Expansion, Route, RoutingClaims, Simulation};
use crate::routing;
use crate::scenario::TpuScenario;
use crate::scenario::presets;
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics;
use lightbay_core::param::ParamValue;
use lightbay_core::watch::Unwatched;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A pod with voltages by a formula.
fn formula(cubes: usize) -> Topology {
    let voltage = std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16);
    Topology::symmetric(Group::abelian(&[cubes]).unwrap(), voltage)
}

fn plan(pod: &Topology, routing: Option<Routing>) -> TpuResult {
    let hops = metrics::hops(pod).unwrap();
    candidate(PodParts {
        topology: pod.clone(),
        hops,
        certificate: Certificate {
            lower: 0.0,
            upper: metrics::hop_bound(pod.nodes(), hops.hop_sum),
            class_lengths: None,
            link_lengths: None,
            rounds: 0,
        },
        routing,
        faults: Vec::new(),
        simulation: Some(Simulation {
            saturation_flits_per_cycle_per_node: 1.5,
            allocator: Allocator::Wavefront,
            speedup: 2,
            curve: vec![(0.5, 0.5, 210.0), (1.5, 1.49, 420.0)],
        }),
    })
    .result
}

fn routed(pod: &Topology) -> Routing {
    routing::route(pod, &routing::RoutingSettings::default(), &mut Unwatched::default()).unwrap().routing
}

fn scenario(pod: &Topology) -> TpuScenario {
    presets::given(pod)
}

/// Writes with some knobs set, the others at their defaults.
fn export(
    format: &str,
    pod: &Topology,
    result: Option<&TpuResult>,
    given: &[(&str, ParamValue)],
) -> Result<Vec<File>, Problems> {
    let info = formats().into_iter().find(|info| info.name == format).unwrap();
    let params = Params::resolve(&info.params, given.iter().map(|(name, value)| (*name, value))).unwrap();
    let scenario = scenario(pod);
    let subject = PodSubject { name: "a pod", scenario: &scenario, pod, result, before: None };
    write(format, &subject, &params)
}

fn text(value: &str) -> ParamValue {
    ParamValue::Text(value.to_owned())
}

/// Rows of a CSV below its header, as numbers where they are.
fn rows(csv: &str, header: &str) -> Vec<Vec<String>> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(header));
    lines.map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn numbers(row: &[String]) -> Vec<usize> {
    row.iter().map_while(|field| field.parse().ok()).collect()
}

#[test]
fn the_routing_table_leads_from_every_source_to_every_target() {
    let pod = formula(2);
    let routing = routed(&pod);
    let hops = routing.claims.route_hop_sum;
    let result = plan(&pod, Some(routing.clone()));
    let neighbours = pod.neighbours();
    let header = "src,dst,hop,router,next,vc";
    let all = &export("routes", &pod, Some(&result), &[]).unwrap()[0].text;
    let mut ends: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
    let mut loads: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut lanes = vec![0u64; usize::from(routing.vc_count)];
    let table = rows(all, header);
    assert_eq!(table.len() as u64, hops);
    for row in &table {
        let [source, target, hop, router, next, vc] = numbers(row)[..] else { panic!("{row:?}") };
        let (at, done) = ends.entry((source, target)).or_insert((source, 0));
        assert_eq!((*at, *done), (router, hop));
        assert!(neighbours[router].contains(&(next as u32)));
        (*at, *done) = (next, hop + 1);
        *loads.entry((router, next)).or_default() += 1;
        lanes[vc] += 1;
    }
    assert_eq!(ends.len(), 128 * 127);
    assert!(ends.iter().all(|((_, target), (at, _))| target == at));
    assert_eq!(loads.values().max(), Some(&routing.claims.max_channel_load));
    assert_eq!(lanes, routing.claims.vc_hops);
    let few = &export("routes", &pod, Some(&result), &[("expand", ParamValue::Bool(false))]).unwrap()[0].text;
    assert_eq!(rows(few, header).len() as u64, hops / 2);
    assert!(all.starts_with(few.as_str()));
}

#[test]
fn a_table_that_would_be_too_large_is_refused_before_it_is_written() {
    let pod = formula(144);
    let route = Route { source: 0, target: 1, ports: vec![0; 700_000], vcs: vec![0; 700_000] };
    let claims = RoutingClaims { max_channel_load: 1, vc_hops: vec![], route_hop_sum: 0 };
    let routing = Routing {
        vc_count: 2,
        expand: Expansion::Translation,
        claims,
        routes: vec![route],
        unbalanced: None,
    };
    let refusal = routes::table(&pod, &routing, true).unwrap_err().to_string();
    assert!(refusal.contains("2.8 GB") && refusal.contains("expand=false"), "{refusal}");
}

#[test]
fn the_network_for_booksim_reads_back_as_the_pod() {
    let pod = formula(3);
    let given = [("electrical_cycles", ParamValue::Int(7)), ("optical_cycles", ParamValue::Int(3))];
    let files = export("anynet", &pod, None, &given).unwrap();
    assert_eq!(files.len(), 1, "without routes there is no table");
    let net = lightbay_formats::anynet::read(&files[0].text).unwrap();
    assert_eq!(net.nodes, (0..192).map(|node| (node, (node, 1))).collect());
    let links: BTreeSet<(u32, u32)> = net.links.keys().copied().collect();
    let expected: BTreeSet<(u32, u32)> = (0..192)
        .flat_map(|node| (0..PORTS as u8).map(move |port| (node, port)))
        .map(|(node, port)| (node, pod.neighbour(node, port)))
        .collect();
    assert_eq!(links, expected);
    let optical = net.links.values().filter(|&&latency| latency == 3).count();
    assert_eq!((optical, net.links.len()), (2 * SWITCHES * 3, 192 * PORTS));
    assert!(net.links.values().all(|latency| [3, 7].contains(latency)));
    let result = plan(&pod, Some(routed(&pod)));
    let both = export("anynet", &pod, Some(&result), &given).unwrap();
    assert_eq!((both.len(), both[1].beside), (2, Some(".routes.csv")));
    assert_eq!(both[1].text, export("routes", &pod, Some(&result), &[]).unwrap()[0].text);
    let alone = export("anynet", &pod, Some(&result), &[("with_routes", ParamValue::Bool(false))]).unwrap();
    assert_eq!(alone.len(), 1);
}

/// Circuits by switch and plus port.
type Circuits = BTreeMap<(usize, usize), usize>;

fn circuits(pod: &Topology) -> Circuits {
    let all = |switch| {
        (0..pod.cubes()).map(move |cube| ((switch, cube + 1), pod.cubes() + pod.to(switch, cube) + 1))
    };
    (0..SWITCHES).flat_map(all).collect()
}

#[test]
fn the_list_of_circuits_is_the_pod() {
    let pod = formula(5);
    let csv = &export("circuits", &pod, None, &[]).unwrap()[0].text;
    let table = rows(csv, "ocs,port_in,port_out,cube_a,cube_b,side_a,index_a,side_b,index_b");
    // Switch 25 is the tenth of dimension Y, at (1, 2) on the faces.
    let of_25 = table.iter().find(|row| row[0] == "25").unwrap();
    assert_eq!(of_25[5..], ["Y+", "9", "Y-", "9"]);
    let mut states = vec![vec![0; 5]; SWITCHES];
    for row in &table {
        let [switch, input, output, a, b] = numbers(row)[..] else { panic!("{row:?}") };
        assert_eq!((input, output), (a + 1, 5 + b + 1));
        states[switch][a] = b as u16;
    }
    assert_eq!(table.len(), SWITCHES * 5);
    let read = Topology::general(&states).unwrap();
    assert!((0..SWITCHES).all(|switch| read.state(switch) == pod.state(switch)));
}

#[test]
fn changes_lead_from_one_state_to_the_other_without_taking_a_live_port() {
    let pod = formula(4);
    for (from, before) in [
        ("pt", Some(baselines::pt(baselines::usual_shape(4)).unwrap())),
        ("pdtt", Some(baselines::pdtt(baselines::usual_pdtt(4).unwrap()).unwrap())),
        ("dark", None),
    ] {
        for together in [1, 5, 48] {
            let given = [("from", text(from)), ("switches_per_batch", ParamValue::Int(together))];
            let csv = &export("changes", &pod, None, &given).unwrap()[0].text;
            let mut state = before.as_ref().map(circuits).unwrap_or_default();
            let mut actions: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
            let mut switches: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            let (mut removed, mut last) = (0, 0);
            for row in
                rows(csv, "batch,ocs,port_in,port_out,cube_a,cube_b,action,side_a,index_a,side_b,index_b")
            {
                let [batch, switch, input, output, ..] = numbers(&row)[..] else { panic!("{row:?}") };
                assert!(batch >= last);
                last = batch;
                actions.entry(batch).or_default().insert(row[6].clone());
                switches.entry(batch).or_default().insert(switch);
                if row[6] == "remove" {
                    assert_eq!(state.remove(&(switch, input)), Some(output));
                    removed += 1;
                } else {
                    let live = state.iter().any(|((s, i), o)| *s == switch && (*i == input || *o == output));
                    assert!(!live, "{row:?}");
                    state.insert((switch, input), output);
                }
            }
            assert_eq!(state, circuits(&pod), "{from}");
            assert!(actions.values().all(|actions| actions.len() == 1), "a batch does one sort of thing");
            assert!(switches.values().all(|switches| switches.len() <= together as usize));
            assert_eq!(removed, before.as_ref().map_or(0, |before| circuits::difference(before, &pod)));
        }
    }
    // A switch that failed before the change holds no circuits, so all its circuits are added.
    let repaired = circuits::changes(Some(&pod.failing(&[7])), &pod, 48).unwrap();
    let repaired: Vec<&str> = repaired.lines().skip(1).collect();
    assert_eq!(repaired.len(), pod.cubes());
    assert!(repaired.iter().all(|row| row.contains(",7,") && row.contains(",add,")), "{repaired:?}");
    // Nothing to do between equal states.
    assert_eq!(circuits::changes(Some(&pod), &pod, 48).unwrap().lines().count(), 1);
    assert!(circuits::changes(Some(&formula(2)), &pod, 48).unwrap_err().to_string().contains("2 cubes"));
    let refusal = export("changes", &formula(3), None, &[("from", text("pdtt"))]).unwrap_err().to_string();
    assert!(refusal.contains("from=pt"), "{refusal}");
}

/// Circuits of failed switches carry no traffic and cannot change, so no file may contain them.
#[test]
fn files_leave_out_the_circuits_of_failed_switches() {
    let pod = formula(2);
    let scenario = TpuScenario { failed_ocs: vec![3, 17], ..scenario(&pod) };
    let subject = PodSubject { name: "a pod", scenario: &scenario, pod: &pod, result: None, before: None };
    let written = |format: &str, given: &[(&str, ParamValue)]| {
        let info = formats().into_iter().find(|info| info.name == format).unwrap();
        let given = given.iter().map(|(name, value)| (*name, value));
        let files = write(format, &subject, &Params::resolve(&info.params, given).unwrap()).unwrap();
        files.into_iter().next().unwrap().text
    };
    // Two switches of two circuits each.
    let links = 3 * 128 - 4;
    for (format, edge) in [("graphml", "<edge "), ("dot", " -- ")] {
        assert_eq!(written(format, &[]).matches(edge).count(), links, "{format}");
    }
    let by_cubes = written("dot", &[("level", text("cubes"))]);
    let counts = by_cubes.split("circuits=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(counts.map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), 2 * (SWITCHES - 2));
    let net = lightbay_formats::anynet::read(&written("anynet", &[])).unwrap();
    assert_eq!(net.links.len(), 2 * links);
    let dark = [("from", text("dark"))];
    for (table, at) in [(written("circuits", &[]), 0), (written("changes", &dark), 1)] {
        let switches: BTreeSet<usize> =
            table.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect();
        let working: BTreeSet<usize> = (0..SWITCHES).filter(|switch| ![3, 17].contains(switch)).collect();
        assert_eq!(switches, working);
    }
    let picture = written("svg", &[]);
    let drawn =
        picture.split("of cube ").filter_map(|part| part.split_once(": ")).filter_map(|(_, count)| {
            count.split_once(" circuit").and_then(|(count, _)| count.parse::<usize>().ok())
        });
    assert_eq!(drawn.sum::<usize>(), 2 * (SWITCHES - 2));
}

#[test]
fn graphs_have_every_link_once() {
    let pod = formula(2);
    for (format, node, edge) in [("graphml", "<node ", "<edge "), ("dot", " [cube=", " -- ")] {
        let chips = &export(format, &pod, None, &[]).unwrap()[0].text;
        assert_eq!((chips.matches(node).count(), chips.matches(edge).count()), (128, 3 * 128));
        assert_eq!(chips.matches("electrical").count(), 288);
    }
    let graph = graph::cubes("", &pod, 128.0);
    let total: i64 = graph
        .edges
        .iter()
        .map(|(_, _, values)| match values[0] {
            lightbay_formats::graph::Value::Int(count) => count,
            _ => 0,
        })
        .sum();
    assert_eq!((graph.nodes.len(), total), (2, 2 * SWITCHES as i64));
    let cubes = &export("dot", &pod, None, &[("level", text("cubes"))]).unwrap()[0].text;
    assert!(cubes.contains("0 -- 1 [circuits="), "{cubes}");
}

#[test]
fn the_curve_is_what_the_simulator_found() {
    let pod = formula(2);
    let result = plan(&pod, None);
    let csv = &export("curve", &pod, Some(&result), &[]).unwrap()[0].text;
    let header = "offered_flits_per_cycle_per_node,delivered_flits_per_cycle_per_node,mean_latency_cycles,mean_latency_ns,allocator,speedup";
    let table = rows(csv, header);
    assert_eq!(table[0][..3], ["0.5", "0.5", "210"]);
    assert_eq!(table[1][4..], ["wavefront", "2"]);
    assert!((table[1][3].parse::<f64>().unwrap() - 400.0).abs() < 1e-9);
}

#[test]
fn what_a_subject_lacks_is_said() {
    let pod = formula(2);
    let mut bare = plan(&pod, None);
    bare.simulation = None;
    let refused = |format: &str, pod: &Topology, result: Option<&TpuResult>, given: &[(&str, ParamValue)]| {
        export(format, pod, result, given).unwrap_err().to_string()
    };
    assert!(refused("routes", &pod, Some(&bare), &[]).contains("with_routes=true"));
    assert!(refused("curve", &pod, Some(&bare), &[]).contains("'simulate'"));
    assert!(
        refused("msccl", &pod, Some(&bare), &[("collective", text("alltoall"))]).contains("with_routes=true")
    );
    assert!(refused("msccl", &formula(5), None, &[]).contains("at most 4 cubes"));
    let sizes = [("min_bytes", ParamValue::Int(10)), ("max_bytes", ParamValue::Int(5))];
    assert!(refused("msccl", &pod, None, &sizes).contains("min_bytes"));
}

#[test]
fn every_knob_of_every_format_changes_what_is_written() {
    let pod = formula(2);
    let result = plan(&pod, Some(routed(&pod)));
    let changed = |format: &str, knob: &str| match (format, knob) {
        ("anynet", "electrical_cycles" | "optical_cycles") => ParamValue::Int(9),
        ("anynet", "with_routes") | ("routes", "expand") => ParamValue::Bool(false),
        ("changes", "from") => text("dark"),
        ("changes", "switches_per_batch") => ParamValue::Int(7),
        ("graphml" | "dot", "level") => text("cubes"),
        ("msccl", "collective") => text("alltoall"),
        ("msccl", "protocol") => text("LL128"),
        ("msccl", "min_bytes" | "max_bytes") => ParamValue::Int(4096),
        ("msccl", "seed") => ParamValue::Int(2),
        _ => panic!("{format} has a knob '{knob}' that nobody tests"),
    };
    for format in formats() {
        let usual = export(format.name, &pod, Some(&result), &[]).unwrap();
        assert!(usual.iter().all(|file| file.text.ends_with('\n')));
        for knob in &format.params {
            let given = [(knob.name.as_ref(), changed(format.name, &knob.name))];
            let other = export(format.name, &pod, Some(&result), &given).unwrap();
            assert_ne!(usual, other, "{} {}", format.name, knob.name);
        }
    }
}

/// A step as the file says it, and its thread block.
#[derive(Debug)]
struct Line {
    kind: String,
    source: (char, usize),
    destination: (char, usize),
    after: Option<(usize, usize)>,
    awaited: bool,
}

#[derive(Debug)]
struct Thread {
    send: Option<usize>,
    receive: Option<usize>,
    channel: usize,
    steps: Vec<Line>,
    done: usize,
}

fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    let start = format!(" {name}=\"");
    let from = line.find(&start).unwrap_or_else(|| panic!("no {name} in {line}")) + start.len();
    line[from..].split('"').next().unwrap()
}

fn peer(word: &str) -> Option<usize> {
    word.parse().ok()
}

/// Content of a chunk: its name and, of sums, the ranks that have contributed as bits.
type Chunk = (usize, u128);

/// Runs a schedule with first-in first-out connections of a few slots, and gives back what is in the buffers.
fn execute(xml: &str, room: usize) -> Vec<HashMap<(char, usize), Chunk>> {
    let ranks: usize = attribute(xml, "ngpus").parse().unwrap();
    let collective = attribute(xml, "coll").to_owned();
    let mut gpus: Vec<Vec<Thread>> = Vec::new();
    let mut sizes: Vec<HashMap<char, usize>> = Vec::new();
    for line in xml.lines() {
        let number = |name: &str| attribute(line, name).parse::<usize>().unwrap();
        if line.trim_start().starts_with("<gpu") {
            assert_eq!(number("id"), gpus.len());
            gpus.push(Vec::new());
            sizes.push(['i', 'o', 's'].map(|buffer| (buffer, number(&format!("{buffer}_chunks")))).into());
        } else if line.trim_start().starts_with("<tb") {
            let threads = gpus.last_mut().unwrap();
            assert_eq!(number("id"), threads.len());
            let [send, receive] = ["send", "recv"].map(|name| peer(attribute(line, name)));
            assert!(!threads.iter().any(|other| {
                other.channel == number("chan")
                    && (other.send.is_some() && other.send == send
                        || other.receive.is_some() && other.receive == receive)
            }));
            threads.push(Thread { send, receive, channel: number("chan"), steps: Vec::new(), done: 0 });
        } else if line.trim_start().starts_with("<step") {
            let thread = gpus.last_mut().unwrap().last_mut().unwrap();
            assert_eq!(number("s"), thread.steps.len());
            let place = |buffer, offset| (attribute(line, buffer).chars().next().unwrap(), number(offset));
            let after = peer(attribute(line, "depid")).map(|block| (block, number("deps")));
            thread.steps.push(Line {
                kind: attribute(line, "type").to_owned(),
                source: place("srcbuf", "srcoff"),
                destination: place("dstbuf", "dstoff"),
                after,
                awaited: number("hasdep") == 1,
            });
        }
    }
    assert_eq!(gpus.len(), ranks);
    let start = |rank: usize| -> HashMap<(char, usize), Chunk> {
        match collective.as_str() {
            "allgather" => [(('o', rank), (rank, 0))].into(),
            "alltoall" => (0..ranks).map(|to| (('i', to), (rank * ranks + to, 0))).collect(),
            _ => (0..ranks).map(|shard| (('i', shard), (shard, 1 << rank))).collect(),
        }
    };
    let mut memory: Vec<_> = (0..ranks).map(start).collect();
    let mut links: HashMap<(usize, usize, usize), VecDeque<Chunk>> = HashMap::new();
    loop {
        let mut moved = false;
        for rank in 0..ranks {
            for block in 0..gpus[rank].len() {
                while let Some(step) = gpus[rank][block].steps.get(gpus[rank][block].done) {
                    let ready = step.after.is_none_or(|(other, at)| {
                        assert!(gpus[rank][other].steps[at].awaited);
                        gpus[rank][other].done > at
                    });
                    let thread = &gpus[rank][block];
                    let connection = match step.kind.as_str() {
                        "s" => (rank, thread.send.unwrap(), thread.channel),
                        "cpy" => (0, 0, 0),
                        _ => (thread.receive.unwrap(), rank, thread.channel),
                    };
                    let queue = links.entry(connection).or_default();
                    let possible = match step.kind.as_str() {
                        "s" => queue.len() < room,
                        "cpy" => true,
                        _ => !queue.is_empty(),
                    };
                    if !ready || !possible {
                        break;
                    }
                    assert!(step.destination.0 != 'i' || collective != "alltoall");
                    if step.kind == "s" {
                        queue.push_back(memory[rank][&step.source]);
                    } else {
                        assert!(step.destination.1 < sizes[rank][&step.destination.0]);
                        let chunk = match step.kind.as_str() {
                            "cpy" => memory[rank][&step.source],
                            "r" => queue.pop_front().unwrap(),
                            "rrc" => {
                                let (more, own) = (queue.pop_front().unwrap(), memory[rank][&step.source]);
                                assert_eq!((more.0, more.1 & own.1), (own.0, 0), "each contributes once");
                                (own.0, own.1 | more.1)
                            }
                            other => panic!("{other}"),
                        };
                        memory[rank].insert(step.destination, chunk);
                    }
                    gpus[rank][block].done += 1;
                    moved = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    let stuck = gpus.iter().flatten().filter(|thread| thread.done < thread.steps.len()).count();
    assert_eq!(stuck, 0, "thread blocks that cannot go on");
    assert!(links.values().all(VecDeque::is_empty));
    memory
}

#[test]
fn msccl_schedules_deliver_every_chunk() {
    let pod = formula(2);
    let result = plan(&pod, Some(routed(&pod)));
    for (collective, chunks) in
        [("allgather", 128), ("reduce_scatter", 1), ("allreduce", 128), ("alltoall", 128)]
    {
        let files = export("msccl", &pod, Some(&result), &[("collective", text(collective))]).unwrap();
        let xml = &files[0].text;
        for name in ["minBytes", "maxBytes", "outofplace", "nchunksperloop"] {
            attribute(xml, name).parse::<u64>().unwrap();
        }
        for room in [1, 4] {
            let memory = execute(xml, room);
            for (rank, memory) in memory.iter().enumerate() {
                let expected: Vec<((char, usize), Chunk)> = match collective {
                    "allgather" => (0..128).map(|shard| (('o', shard), (shard, 0))).collect(),
                    "reduce_scatter" => vec![(('i', rank), (rank, u128::MAX))],
                    "allreduce" => (0..128).map(|shard| (('i', shard), (shard, u128::MAX))).collect(),
                    _ => (0..128).map(|from| (('o', from), (from * 128 + rank, 0))).collect(),
                };
                assert_eq!(expected.len(), chunks);
                for (place, chunk) in expected {
                    assert_eq!(memory.get(&place), Some(&chunk), "{collective} {rank} {place:?}");
                }
            }
        }
    }
}

#[test]
fn long_programs_are_split_over_channels() {
    // A ring of sixteen chips: more routes over its links than a thread block has steps.
    let shape = [4, 4, 16];
    let pod = baselines::pt(shape).unwrap();
    let watch = &mut Unwatched::default();
    let routing =
        crate::routing::dor::route(&pod, shape, false, &crate::routing::dor::DorSettings::default(), watch)
            .unwrap();
    assert!(routing.claims.max_channel_load > lightbay_formats::msccl::MOST_STEPS as u64);
    let exchange = crate::collectives::single_path(&pod, &routing, watch).unwrap();
    let algorithm = msccl::algorithm(&pod, &exchange.schedule, "long").unwrap();
    let blocks = || algorithm.gpus.iter().flat_map(|gpu| &gpu.blocks);
    assert!(blocks().any(|block| block.channel > 0));
    assert!(blocks().all(|block| block.steps.len() <= lightbay_formats::msccl::MOST_STEPS));
    let memory = execute(&lightbay_formats::msccl::write(&algorithm), 2);
    assert!((0..256).all(|rank| (0..256).all(|from| memory[rank][&('o', from)].0 == from * 256 + rank)));
}
