#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod own;

use super::*;
use crate::model::reduced_dag::Dominance;
use crate::scenario::presets;
use job::{ModelChoice, PortsPerPod, RunConfig};
use lightbay_core::param::{ParamValue, Setting};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<TrainingScenario, Problems> {
    let mut problems = Problems::new();
    let mut fields = Fields::of(value, "", &mut problems).unwrap();
    let scenario = TrainingScenario::read(&mut fields, &mut problems);
    fields.finish(&mut problems);
    let scenario = problems.into_result(scenario)?.unwrap();
    scenario.validate().map(|()| scenario)
}

fn problems(value: &Value) -> String {
    read(value).unwrap_err().to_string()
}

fn toy() -> Value {
    json!({"instance": {
        "nic_bandwidth_gbps": 400.0,
        "pods": [{"id": 0, "name": "p0", "ports": 3, "mirror": false},
                 {"id": 1, "name": "p1", "ports": 3, "mirror": false},
                 {"id": 2, "name": "peer", "ports": 0, "mirror": true}],
        "links": [{"id": 0, "pod_a": 0, "pod_b": 1, "kind": "pp", "ports_a": 1, "ports_b": 1},
                  {"id": 1, "pod_a": 1, "pod_b": 2, "kind": "dp", "ports_a": 1, "ports_b": 0}],
        "tasks": [{"id": 0, "name": "A", "kind": "pp_fwd", "micro_batch": 1, "stage": 1, "replica": 0,
                   "src_pod": 0, "dst_pod": 1, "flows": 2, "volume_bytes": 1e9,
                   "src_gpus": [0,1], "dst_gpus": [2,3], "release_s": 0.0, "tail_s": 0.0},
                  {"id": 1, "name": "B", "kind": "pp_bwd", "micro_batch": 1, "stage": 2, "replica": 0,
                   "src_pod": 1, "dst_pod": 0, "flows": 2, "volume_bytes": 1e9,
                   "src_gpus": [2,3], "dst_gpus": [0,1], "release_s": 0.0, "tail_s": 0.0},
                  {"id": 2, "name": "D", "kind": "dp", "micro_batch": 0, "stage": 2, "replica": 0,
                   "src_pod": 1, "dst_pod": 2, "flows": 2, "volume_bytes": 1.5e9,
                   "src_gpus": [4,9], "dst_gpus": [6,7], "release_s": 0.0, "tail_s": 0.0}],
        "edges": [{"pred": 0, "succ": 1, "delay_s": 0.01}, {"pred": 0, "succ": 2, "delay_s": 0.0}],
        "provenance": {"config": {}, "stages": [], "full_dag_nodes": 0, "collapsed": true, "replicas": 2}
    }})
}

/// The toy with one value changed.
fn toy_with(pointer: &str, value: Value) -> Value {
    let mut toy = toy();
    *toy.pointer_mut(&format!("/instance{pointer}")).unwrap() = value;
    toy
}

#[test]
fn every_preset_reads_back_as_it_was_written() {
    for preset in presets::JOBS {
        let scenario = TrainingScenario::Job(preset.job());
        let value = serde_json::to_value(&scenario).unwrap();
        assert_eq!(read(&value).unwrap(), scenario, "{}", preset.name);
        let run = value["job"]["run"].as_object().unwrap();
        // A scenario stands alone, so every key of run is written; but the knobs of other schedules only where they are
        // used, so that plans of plain jobs keep the hash of their scenario.
        let used = usize::from(preset.run.virtual_stages > 1) + usize::from(preset.run.dp_buckets > 1);
        assert_eq!(run.len(), 19 + used, "{}", preset.name);
    }
}

#[test]
fn instances_read_back_as_they_were_written() {
    let scenario = read(&toy()).unwrap();
    assert_eq!(read(&serde_json::to_value(&scenario).unwrap()).unwrap(), scenario);
    for name in ["tiny4", "small"] {
        let instance = TrainingScenario::Job(presets::job(name).unwrap().job()).build().unwrap().instance;
        let scenario = TrainingScenario::Instance(instance);
        assert_eq!(read(&serde_json::to_value(&scenario).unwrap()).unwrap(), scenario);
    }
}

#[test]
fn models_can_be_spelled_out() {
    for preset in presets::MODELS.iter() {
        let mut job = presets::job("tiny4").unwrap().job();
        job.model = Some(ModelChoice::Inline(preset.model.clone()));
        let scenario = TrainingScenario::Job(job);
        assert_eq!(read(&serde_json::to_value(&scenario).unwrap()).unwrap(), scenario, "{}", preset.name);
    }
}

#[test]
fn defaults_need_not_be_written() {
    let job = json!({"job": {"model": "gpt_7b", "run": {
        "tp": 2, "pp": 4, "gpus": 16, "gpus_per_pod_per_replica": 4, "micro_batches": 4}}});
    assert_eq!(read(&job).unwrap(), TrainingScenario::Job(presets::job("tiny4").unwrap().job()));
}

#[test]
fn all_mistakes_of_a_job_are_named_at_once() {
    let job = json!({"job": {
        "model": "gpt_7b", "reversed": true, "ports_per_pod": [4, -1],
        "run": {"tp": 2, "pp": 0, "gpus": "many", "gpus_per_pod_per_replica": 4, "micro_batchs": 4,
                "bandwidth_gbps": 1e30, "balance": "even"}}});
    let text = problems(&job);
    for line in [
        "job.run.pp: is '0'; give a whole number from 1 to 4096",
        "job.run.gpus: is 'many'; give a whole number from 1 to 16777216",
        "job.run.micro_batches: is missing; add it",
        "job.run.micro_batchs: is not a known key; did you mean 'micro_batches'?",
        "job.run.bandwidth_gbps: is '1e+30'; give a number from 0.001 to 1000000",
        "job.run.balance: is 'even'; use one of uniform, exact",
        "job.ports_per_pod[1]: is '-1'; give a whole number from 1 to 1000000",
        "job.reversed: is not a known key; did you mean 'reverse'?",
    ] {
        assert!(text.contains(line), "{line}\nnot in\n{text}");
    }
    assert_eq!(text.lines().count(), 8, "{text}");
}

#[test]
fn contradictions_of_a_job_are_named_with_a_remedy() {
    let mut job = presets::job("tiny4").unwrap().job();
    job.run.gpus = 20;
    job.run.gpus_per_pod_per_replica = 3;
    let text = TrainingScenario::Job(job.clone()).validate().unwrap_err().to_string();
    assert_eq!(
        text,
        "job.run.gpus: is '20', which is not a multiple of the 8 GPUs of a replica (2 per stage x 4 stages); \
         give 16 or 24, or change `tp`, `ep` or `pp`\n\
         job.run.gpus_per_pod_per_replica: is '3', which is not a multiple of the 2 GPUs of a stage; \
         give a multiple of 2: stages do not span pods"
    );
    job = presets::job("tiny4").unwrap().job();
    job.run.pp = 33;
    job.run.ep = 2;
    job.run.gpus = 66;
    let text = TrainingScenario::Job(job).validate().unwrap_err().to_string();
    assert!(text.contains("job.run.pp: is '33', but the model has 32 layers"), "{text}");
    assert!(text.contains("job.run.ep: is '2', but the model has no experts"), "{text}");
    let unknown = json!({"job": {"model": "gpt_7", "run": {
        "tp": 2, "pp": 4, "gpus": 16, "gpus_per_pod_per_replica": 4, "micro_batches": 4}}});
    assert!(problems(&unknown).contains("did you mean 'gpt_7b'?"));
}

#[test]
fn jobs_that_would_explode_are_refused_before_they_are_laid_out() {
    let mut job = presets::job("megatron_462b").unwrap().job();
    job.run.micro_batches = 100_000;
    let text = TrainingScenario::Job(job).validate().unwrap_err().to_string();
    assert!(text.contains("compute and transfer nodes per replica, but the maximum is 1000000"), "{text}");
    assert!(text.contains("transfers between pods per replica, but the maximum is 20000"), "{text}");
    let mut job = presets::job("tiny4").unwrap().job();
    job.run.ep = 4096;
    job.run.etp = 4096;
    assert!(TrainingScenario::Job(job).validate().unwrap_err().to_string().contains("GPUs per stage"));
}

#[test]
fn measured_figures_replace_the_model() {
    let job = json!({"job": {
        "run": {"tp": 1, "pp": 2, "gpus": 4, "gpus_per_pod_per_replica": 1, "micro_batches": 2},
        "ports_per_pod": 4,
        "measured": {
            "stages": [{"fwd_s": 0.1, "bwd_s": 0.2, "dp_bytes_per_gpu": 1e9},
                       {"fwd_s": 0.1, "bwd_s": 0.2, "dp_bytes_per_gpu": 2e9}],
            "pp_bytes_per_rank": 1e6,
            "order": [["F1", "F2", "B1", "B2"], ["F1", "B1", "F2", "B2"]]}}});
    let scenario = read(&job).unwrap();
    assert_eq!(read(&serde_json::to_value(&scenario).unwrap()).unwrap(), scenario);
    let built = scenario.build().unwrap();
    assert_eq!(built.instance.tasks.len(), 4 + 2);
    assert_eq!(built.instance.tasks[4].volume_bytes, 2e9);

    let with = |pointer: &str, value: Value| {
        let mut job = job.clone();
        *job.pointer_mut(pointer).unwrap() = value;
        problems(&job)
    };
    assert!(with("/job/measured/order/0/1", json!("G2")).contains("order[0][1]: is 'G2'; write 'F' or 'B'"));
    assert!(with("/job/measured/stages/0/fwd_s", json!(-1)).contains("stages[0].fwd_s: is '-1'"));
    assert!(with("/job/measured/stages", json!([])).contains("has 0 entries for 2 stages"));
    assert!(with("/job/measured/pp_bytes_per_rank", json!(0)).contains("pp_bytes_per_rank: is '0'"));
    let mut neither = job.clone();
    neither["job"].as_object_mut().unwrap().remove("measured");
    assert!(problems(&neither).contains("job.model: is missing"));
}

#[test]
fn an_iteration_that_the_simulators_cannot_resolve_is_refused() {
    let with = |bytes: f64, gbps: f64, delay_s: f64| {
        let mut toy = toy();
        let instance = &mut toy["instance"];
        instance["nic_bandwidth_gbps"] = json!(gbps);
        for task in instance["tasks"].as_array_mut().unwrap() {
            task["volume_bytes"] = json!(bytes);
        }
        instance["edges"][0]["delay_s"] = json!(delay_s);
        toy
    };
    // Three times one byte at 1.25e14 bytes per second.
    let text = problems(&with(1.0, 1e6, 0.0));
    let expected = "instance.tasks: take 2.4e-14 s in total, too short to simulate; the minimum is 1e-8 s";
    assert!(text.contains(expected), "{text}");
    // Three times 50 bytes at 50 GB/s are 3 ns.
    assert!(problems(&with(50.0, 400.0, 0.0)).contains("take 3.0e-9 s in total"));
    read(&with(50.0, 400.0, 1e-6)).unwrap();
    read(&with(200.0, 400.0, 0.0)).unwrap();
}

#[test]
fn damaged_instances_are_refused_by_place_and_remedy() {
    for (pointer, value, expected) in [
        ("/tasks/0/volume_bytes", json!(0), "tasks[0].volume_bytes: is '0'; give a number from 1 to"),
        (
            "/tasks/0/volume_bytes",
            json!(1e-6),
            "tasks[0].volume_bytes: is '0.000001'; give a number from 1 to",
        ),
        ("/tasks/0/volume_bytes", json!(1e300), "tasks[0].volume_bytes: is '1e+300'"),
        ("/tasks/0/flows", json!(0), "tasks[0].flows: is '0'; give at least 1"),
        ("/tasks/1/id", json!(2), "tasks[1].id: is '2'; give 1: ids are consecutive and start at 0"),
        ("/tasks/0/src_gpus", json!([0]), "tasks[0].src_gpus: has 1 entries for 2 flows"),
        ("/tasks/0/dst_pod", json!(0), "tasks[0].dst_pod: is '0', which is also the sending pod"),
        (
            "/tasks/0/dst_pod",
            json!(7),
            "tasks[0].dst_pod: is '7', but no such pod exists; give a pod from 0 to 2",
        ),
        (
            "/tasks/0/dst_pod",
            json!(2),
            "task 'A' sends from pod 0 to pod 2, but no link joins these pods; add the link",
        ),
        ("/tasks/0/kind", json!("pp"), "tasks[0].kind: is 'pp'"),
        ("/tasks/0/release_s", json!(-0.5), "tasks[0].release_s: is '-0.5'"),
        ("/links/1/pod_b", json!(9), "links[1].pod_b: is '9', but no such pod exists"),
        ("/links/1/pod_b", json!(1), "links[1]: joins pod 1 with itself"),
        (
            "/links/1/pod_b",
            json!(0),
            "links[1]: joins pods 1 and 0, as links[0] does; keep one link per pod pair",
        ),
        ("/links/0/ports_a", json!(0), "links[0].ports_a: is '0' at pod 'p0', which is not a mirror"),
        (
            "/pods/1/ports",
            json!(1),
            "pods[1].ports: pod 'p1' has 1 port, but one circuit on each of its 2 links needs 2",
        ),
        ("/edges/0/delay_s", json!(-1.0), "edges[0].delay_s: is '-1.0'"),
        (
            "/edges/0/succ",
            json!(5),
            "edges[0].succ: is '5', but no such task exists; give a task from 0 to 2",
        ),
        ("/edges/1", json!({"pred": 1, "succ": 0, "delay_s": 0}), "form a cycle: 0 'A' -> 1 'B' -> 0 'A'"),
        ("/edges/1", json!({"pred": 2, "succ": 2, "delay_s": 0}), "form a cycle: 2 'D' -> 2 'D'"),
        ("/nic_bandwidth_gbps", json!(0), "instance.nic_bandwidth_gbps: is '0'"),
        ("/provenance", json!({"edges_valid_up_to_gbps": 200}), "contains all edges only for up to 200 Gb/s"),
        ("/pods", json!("none"), "instance.pods: is 'none'; give a list"),
    ] {
        let text = problems(&toy_with(pointer, value));
        assert!(text.contains(expected), "{expected}\nnot in\n{text}");
    }
}

#[test]
fn a_wrong_number_hides_nothing_else() {
    let mut toy = toy();
    for (pointer, value) in [
        ("/instance/edges/0/delay_s", json!(-1.0)),
        ("/instance/tasks/0/flows", json!(0)),
        ("/instance/tasks/1/dst_pod", json!(9)),
        ("/instance/pods/0/ports", json!("three")),
        ("/instance/links/1/pod_b", json!(1)),
    ] {
        *toy.pointer_mut(pointer).unwrap() = value;
    }
    toy["instance"]["pots"] = json!(1);
    let text = problems(&toy);
    for expected in [
        "edges[0].delay_s: is '-1.0'",
        "tasks[0].flows: is '0'",
        "tasks[1].dst_pod: is '9'",
        "pods[0].ports: is 'three'",
        "links[1]: joins pod 1 with itself",
        "instance.pots: is not a known key; did you mean 'pods'?",
    ] {
        assert_eq!(text.matches(expected).count(), 1, "{expected}\nin\n{text}");
    }
}

#[test]
fn a_model_that_is_not_built_in_is_given_by_its_sizes() {
    let mut job = presets::job("tiny4").unwrap().job();
    job.model = Some(ModelChoice::Preset("llama_70b".to_owned()));
    let said = job.shape().unwrap_err().to_string();
    let typed =
        TrainingScenario::Job(job).apply(&"model=llama_70b".parse().unwrap()).unwrap_err().to_string();
    for said in [said, typed] {
        for name in presets::model_names() {
            assert!(said.contains(name), "{said}");
        }
        assert!(said.contains("llama_70b") && said.contains("\"layers\": 80"), "{said}");
    }
    // What the sentence shows is a model.
    let shown = presets::OWN_MODEL.split_once("\"model\": ").unwrap().1;
    let mut file = json!({"job": {"model": {}, "run": {
        "tp": 2, "pp": 4, "gpus": 16, "gpus_per_pod_per_replica": 4, "micro_batches": 4}}});
    file["job"]["model"] = serde_json::from_str(shown).unwrap();
    read(&file).unwrap();
}

#[test]
fn what_measured_figures_replace_is_neither_written_nor_read_as_if_it_were_used() {
    let stage = json!({"fwd_s": 0.2, "bwd_s": 0.4, "dp_bytes_per_gpu": 0});
    let mut file = json!({"job": {
        "run": {"tp": 1, "pp": 2, "gpus": 2, "gpus_per_pod_per_replica": 1, "micro_batches": 2, "seq": 4096},
        "ports_per_pod": 4,
        "measured": {"stages": [stage, stage], "pp_bytes_per_rank": 1e6}}});
    let scenario = read(&file).expect("earlier versions wrote the defaults");
    let written = serde_json::to_value(&scenario).unwrap();
    let run = written["job"]["run"].as_object().unwrap();
    assert!(
        !run.contains_key("seq") && !run.contains_key("mfu") && run.contains_key("bandwidth_gbps"),
        "{run:?}"
    );
    assert_eq!(read(&written).unwrap(), scenario);
    file["job"]["run"]["seq"] = json!(8192);
    let said = problems(&file);
    assert_eq!(
        said,
        "job.run.seq: is '8192', but `measured` replaces it; leave it out, or import again with another \
         sequence length"
    );
    let mut scenario = scenario;
    let said = scenario.apply(&"seq=8192".parse().unwrap()).unwrap_err().to_string();
    assert_eq!(said, "seq: has no effect on measured times; import again with another sequence length");
    scenario.apply(&"bandwidth_gbps=800".parse().unwrap()).unwrap();
}

#[test]
fn a_scenario_is_one_of_two_things() {
    assert!(problems(&json!({})).contains("has neither 'job' nor 'instance'"));
    let mut both = toy();
    both["job"] = json!({});
    assert!(problems(&both).contains("cannot be combined with 'instance'"));
}

#[test]
fn knobs_are_read_and_changed_by_name() {
    let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    for info in scenario.knobs() {
        // What follows from other values has none of its own, and a dense model has no experts.
        let absent = matches!(
            info.name.as_ref(),
            "intra_pod_gbps"
                | "gpus_per_pod"
                | "switching_delay_s"
                | "most_switchings"
                | "experts"
                | "top_k"
                | "failed_ports"
                | "expert_ffn"
                | "shared_experts"
                | "dense_layers"
                | "moe_layers"
        );
        if !absent {
            let value = scenario.get(&info.name).unwrap_or_else(|| panic!("{} has no value", info.name));
            let before = scenario.clone();
            scenario.set(&info.name, None, &value).unwrap();
            if info.name != "ports_per_pod" {
                assert_eq!(scenario, before, "{}", info.name);
            }
        }
    }
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("mfu=0.5").unwrap();
    set("balance=exact").unwrap();
    set("model=megatron_177b").unwrap();
    set("ports_per_pod[1]=9").unwrap();
    set("micro_batches=6").unwrap();
    assert!(set("mfu=2").unwrap_err().to_string().contains("give a number from 0.001 to 1"));
    assert!(set("ports_per_pod[2]=9").unwrap_err().to_string().contains("give a pod from 0 to 1"));
    assert!(set("mfu[1]=0.5").unwrap_err().to_string().contains("is not a list"));
    assert!(set("bandwith_gbps=3").unwrap_err().to_string().contains("did you mean 'bandwidth_gbps'?"));
    assert_eq!(scenario.get("mfu"), Some(ParamValue::Float(0.5)));
    let TrainingScenario::Job(job) = &scenario else { panic!("still a job") };
    assert_eq!(job.ports_per_pod, Some(PortsPerPod::ByPosition(vec![4, 9])));
    assert_eq!(scenario.build().unwrap().instance.pods[1].ports, 9);
}

#[test]
fn an_instance_is_not_raised_above_the_bandwidth_of_its_edges() {
    let job = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    let mut scenario = TrainingScenario::Instance(job.build().unwrap().instance);
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("bandwidth_gbps=200").unwrap();
    set("bandwidth_gbps=400").unwrap();
    let refused = set("bandwidth_gbps=800").unwrap_err().to_string();
    assert!(refused.contains("up to 400 Gb/s") && refused.contains("all_edges=true"), "{refused}");
    assert!(set("tp=4").unwrap_err().to_string().contains("belongs to jobs"));
    set("ports_per_pod[1]=6").unwrap();
    assert_eq!(
        scenario.get("ports_per_pod"),
        Some(ParamValue::List(vec![ParamValue::Int(4), ParamValue::Int(6)]))
    );
    let mut all = TrainingScenario::Instance(job.build_with(Dominance::KeepAll).unwrap().instance);
    all.apply(&"bandwidth_gbps=800".parse::<Setting>().unwrap()).unwrap();
    all.validate().unwrap();
}

/// Every place of a JSON tree.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    found.push(here.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                places(value, &format!("{here}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                places(value, &format!("{here}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn whatever_stands_anywhere_in_a_file_is_read_or_refused() {
    let mut job = json!({"job": {
        "model": presets::model("deepseek_671b").unwrap(),
        "run": {"tp": 1, "pp": 2, "gpus": 4, "gpus_per_pod_per_replica": 1, "micro_batches": 2, "ep": 1,
                "seq": 64, "bandwidth_gbps": 400.0, "mfu": 0.4, "bwd_ratio": 2.0, "intra_pod_gbps": null},
        "ports_per_pod": [4, 4],
        "measured": {"stages": [{"fwd_s": 0.1, "bwd_s": 0.2, "dp_bytes_per_gpu": 1e9},
                                {"fwd_s": 0.1, "bwd_s": 0.2, "dp_bytes_per_gpu": 0}],
                     "pp_bytes_per_rank": 1e6, "order": [["F1", "F2", "B1", "B2"], ["F1", "B1", "F2", "B2"]]}}});
    let mut closed = job.clone();
    closed["job"].as_object_mut().unwrap().remove("measured");
    job["job"]["run"].as_object_mut().unwrap().remove("seq");
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(2),
        json!(3),
        json!(0.5),
        json!(4_294_967_295_u64),
        json!(u64::MAX),
        json!(1e-300),
        json!(1e300),
        json!("x"),
        json!("gpt_7b"),
        json!([]),
        json!({}),
        json!([[["F1"]]]),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for file in [toy(), job, closed] {
        read(&file).unwrap().build().unwrap();
        let mut everywhere = Vec::new();
        places(&file, "", &mut everywhere);
        for place in &everywhere[1..] {
            for value in &odd {
                let mut changed = file.clone();
                *changed.pointer_mut(place).unwrap() = value.clone();
                // What is accepted must be usable and writable.
                match read(&changed) {
                    Ok(scenario) => {
                        let instance =
                            scenario.build().unwrap_or_else(|p| panic!("{place}={value}: {p}")).instance;
                        let written = serde_json::to_value(TrainingScenario::Instance(instance)).unwrap();
                        read(&written).unwrap_or_else(|p| panic!("{place}={value}: {p}"));
                        accepted += 1;
                    }
                    Err(problems) => {
                        let top = place.rfind('/') == Some(0);
                        let placed = problems.list().iter().all(|problem| top || !problem.path.is_empty());
                        assert!(placed, "{place}={value}: {problems}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn extremes_of_every_knob_are_usable_or_refused() {
    use lightbay_core::param::Domain;
    for info in knobs::job_knobs() {
        let extremes = match info.domain {
            Domain::Int { min, max } | Domain::IntOrList { min, max } => {
                [ParamValue::Int(min), ParamValue::Int(max)]
            }
            Domain::Float { min, max } => [ParamValue::Float(min), ParamValue::Float(max)],
            _ => continue,
        };
        for value in extremes {
            let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
            if info.name == "most_switchings" {
                let said = scenario.set(&info.name, None, &value).unwrap_err().to_string();
                assert!(said.contains("has no effect while circuits are static"), "{said}");
                scenario.set("switch", None, &ParamValue::Text("mems".to_owned())).unwrap();
            }
            if let Err(refused) = scenario.set(&info.name, None, &value) {
                assert!(info.name == "dp" && refused.message.contains("GPUs"), "{refused}");
                continue;
            }
            if scenario.validate().is_ok() {
                let built = scenario.build().unwrap();
                check_instance(&built.instance, "").into_result(()).unwrap();
            }
        }
    }
}

#[test]
fn interleaving_asks_for_whole_groups_and_even_chunks() {
    let refused = |change: &dyn Fn(&mut Job)| {
        let mut job = presets::job("tiny_interleaved").unwrap().job();
        change(&mut job);
        TrainingScenario::Job(job).validate().unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|job| job.run.micro_batches = 6),
        "job.run.micro_batches: is '6', but virtual stages need a multiple of pp 4; \
         give 4 or 8, or set `virtual_stages` to 1"
    );
    assert_eq!(
        refused(&|job| job.run.virtual_stages = 3),
        "job.run.virtual_stages: is '3', but 32 layers cannot be split evenly over 4 stages of 3 chunks; \
         give 1, 2, 4 or 8, or change `pp`"
    );
    assert_eq!(
        refused(&|job| (job.run.pp, job.run.gpus, job.run.gpus_per_pod_per_replica) = (1, 4, 2)),
        "job.run.virtual_stages: is '2', but a pipeline of 1 stage cannot be interleaved; give 1, or a `pp` of at least 2"
    );
    assert!(refused(&|job| job.run.virtual_stages = 0).contains("job.run.virtual_stages: is '0'; give"));
    let three = refused(&|job| (job.run.pp, job.run.gpus, job.run.micro_batches) = (3, 12, 3));
    assert!(three.contains("give 1, or a `pp` that divides 32"), "{three}");
}

#[test]
fn measured_times_are_interleaved_but_a_literal_order_is_not() {
    let stage = json!({"fwd_s": 0.2, "bwd_s": 0.4, "dp_bytes_per_gpu": 0});
    let mut job = json!({"job": {
        "run": {"tp": 1, "pp": 2, "gpus": 2, "gpus_per_pod_per_replica": 1, "micro_batches": 2, "virtual_stages": 2},
        "ports_per_pod": 4,
        "measured": {"stages": [stage, stage], "pp_bytes_per_rank": 1e6}}});
    assert_eq!(read(&job).unwrap().build().unwrap().instance.tasks.len(), 12);
    job["job"]["measured"]["order"] = json!([["F1", "F2", "B1", "B2"], ["F1", "B1", "F2", "B2"]]);
    let text = problems(&job);
    assert_eq!(
        text,
        "job.run.virtual_stages: is '2', but the steps of a literal order name micro-batches without chunks; \
         give 1, or the order '1f1b', which is interleaved"
    );
}

#[test]
fn a_job_of_the_plain_schedule_is_written_as_before() {
    let written = |name: &str| serde_json::to_value(presets::job(name).unwrap().job()).unwrap();
    let plain = written("tiny4");
    assert!(plain["run"].get("virtual_stages").is_none() && plain["run"].get("dp_buckets").is_none());
    assert_eq!(written("tiny_buckets")["run"]["dp_buckets"], 2);
    assert_eq!(written("tiny_interleaved")["run"]["virtual_stages"], 2);
}

#[test]
fn every_bucket_needs_a_layer() {
    let mut job = presets::job("deepseek_671b").unwrap().job();
    job.run.dp_buckets = 3;
    assert!(TrainingScenario::Job(job.clone()).validate().is_ok());
    job.run.dp_buckets = 4;
    assert_eq!(
        TrainingScenario::Job(job).validate().unwrap_err().to_string(),
        "job.run.dp_buckets: is '4', but a stage has 3 layers of the model; give 1 to 3: every bucket needs a layer"
    );
}
