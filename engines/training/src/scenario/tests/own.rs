//! Models, pods and switches of one's own.

use super::*;

#[test]
fn a_model_of_ones_own_is_set_size_by_size() {
    let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("model=llama_3_1_70b").unwrap();
    set("layers=80").unwrap();
    let refused = set("layers=0").unwrap_err().to_string();
    assert!(refused.contains("give a whole number from 1"), "{refused}");
    let TrainingScenario::Job(job) = &scenario else { panic!("a job") };
    assert_eq!(job.model, Some(ModelChoice::Preset("llama_3_1_70b".to_owned())), "the size that it has");
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("layers=40").unwrap();
    set("experts=8").unwrap();
    let said = scenario.validate().unwrap_err().to_string();
    assert!(said.contains("job.model.top_k: is missing in a model with experts"), "{said}");
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    for text in ["top_k=2", "expert_ffn=1024", "moe_layers=1,3,5"] {
        set(text).unwrap();
    }
    scenario.validate().unwrap();
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("dense_layers=2").unwrap();
    let said = scenario.validate().unwrap_err().to_string();
    assert!(said.contains("combined with 'dense_layers'"), "{said}");
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    for text in ["dense_layers=0", "moe_layers=3,1"] {
        set(text).unwrap();
    }
    assert!(scenario.validate().unwrap_err().to_string().contains("each once, in ascending order"));
}

#[test]
fn heads_are_a_multiple_of_key_and_value_heads() {
    let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    let mut said = |text: &str| {
        scenario.apply(&text.parse::<Setting>().unwrap()).unwrap();
        scenario.validate().err().map(|problems| problems.to_string()).unwrap_or_default()
    };
    let refused = said("heads=16");
    assert!(refused.contains("job.model.heads: is 16, which is not a multiple of kv_heads 32"), "{refused}");
    assert!(said("kv_heads=24").contains("not a multiple of kv_heads 24"));
    assert_eq!(said("kv_heads=4"), "");
}

/// 512 GPUs of 8 replicas with 8 stages on pods of 128: two stages of all replicas in a pod, whose gradients stay
/// there.
#[test]
fn replicas_share_pods() {
    let mut job = presets::job("tiny4").unwrap().job();
    job.run = RunConfig { gpus_per_pod: Some(128), ..RunConfig::of(8, 8, 512, 0, 64) };
    job.model = Some(ModelChoice::Preset("llama_3_1_70b".to_owned()));
    let shape = job.shape().unwrap();
    assert_eq!((shape.gpus_per_stage, shape.replicas, shape.replicas_per_pod, shape.dp_in), (64, 1, 8, 8));
    assert_eq!((shape.stages_per_pod, shape.pods_per_replica, &shape.ports), (2, 4, &vec![128; 4]));
    assert!(!shape.exchanging.contains(&true), "rings stay inside pods");
    // Pods of 16 hold the ranks of two replicas in one stage; the four groups exchange across pods.
    job.run.gpus_per_pod = Some(16);
    let shape = job.shape().unwrap();
    assert_eq!((shape.gpus_per_stage, shape.replicas, shape.replicas_per_pod), (16, 4, 2));
    assert!(shape.exchanging.iter().all(|exchanges| *exchanges) && shape.pods_per_replica == 8);
    for pod in [24, 96, 1024] {
        job.run.gpus_per_pod = Some(pod);
        let said = job.shape().unwrap_err().to_string();
        assert!(
            said.contains("job.run.gpus_per_pod: is '") && said.contains("a multiple of 64 up to 512"),
            "{said}"
        );
    }
    job.run = RunConfig { gpus_per_pod: Some(128), ..RunConfig::of(8, 8, 512, 16, 64) };
    assert!(job.shape().unwrap_err().to_string().contains("combined with 'gpus_per_pod_per_replica'"));
    job.run = RunConfig::of(8, 8, 512, 0, 64);
    assert!(job.shape().unwrap_err().to_string().contains("gpus_per_pod_per_replica: is missing"));
}

#[test]
fn circuits_may_move_if_the_scenario_says_how() {
    let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("switch=mems").unwrap();
    set("most_switchings=2").unwrap();
    let group = scenario.reconfiguration().copied();
    assert_eq!(group, Some(reconfiguration::Reconfiguration { delay_s: 0.025, most_switchings: 2 }));
    assert_eq!(scenario.get("switch"), Some(ParamValue::Text("mems".to_owned())));
    assert_eq!(scenario.build().unwrap().instance.reconfiguration, group);
    let written = serde_json::to_value(&scenario).unwrap();
    assert_eq!(written["job"]["reconfiguration"], json!({"delay_s": 0.025, "most_switchings": 2}));
    let mut given = written.clone();
    given["job"]["reconfiguration"] = json!({"delay_s": 0.025});
    assert!(problems(&given).contains("job.reconfiguration.most_switchings"));
    let said = |delay: serde_json::Value| {
        let mut other = written.clone();
        other["job"]["reconfiguration"] = json!({"delay_s": delay, "most_switchings": 1});
        problems(&other)
    };
    let negative = said(json!(-1.0));
    assert!(negative.contains("job.reconfiguration.delay_s: is"), "{negative}");
    assert!(negative.contains("give seconds from 0 to 3600"), "{negative}");
    assert!(said(json!(25_000)).contains("and check the unit"));
    assert!(said(json!("25 ms")).contains("give seconds"));
    given["job"]["reconfiguration"] = json!({"delay_s": 0.025, "most_switchings": 1.5});
    assert!(problems(&given).contains("job.reconfiguration.most_switchings: is"));
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("switch=none").unwrap();
    assert_eq!(scenario.reconfiguration(), None);
}

/// `topk` is the name in older files.
#[test]
fn the_old_spelling_of_top_k_is_read() {
    let mut scenario = TrainingScenario::Job(presets::job("mixtral_8x22b").unwrap().job());
    scenario.apply(&"top_k=1".parse::<Setting>().unwrap()).unwrap();
    let mut written = serde_json::to_value(&scenario).unwrap();
    let model = written["job"]["model"].as_object_mut().unwrap();
    let value = model.remove("top_k").unwrap();
    model.insert("topk".to_owned(), value);
    let Ok(TrainingScenario::Job(read)) = read(&written) else { panic!("an old file") };
    assert_eq!(read.resolved_model().unwrap().top_k, Some(1));
    written["job"]["model"]["top_k"] = json!(2);
    assert!(problems(&written).contains("topk"));
}

#[test]
fn dp_is_another_word_for_gpus() {
    let mut scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
    let mut set = |text: &str| scenario.apply(&text.parse::<Setting>().unwrap());
    set("dp=5").unwrap();
    let refused = set("dp=16000000").unwrap_err().to_string();
    assert!(refused.contains("gives 128000000 GPUs (8 in a replica)"), "{refused}");
    let TrainingScenario::Job(job) = &scenario else { panic!("a job") };
    assert_eq!((job.run.gpus, scenario.get("dp")), (40, Some(ParamValue::Int(5))));
}
