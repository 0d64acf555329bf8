//! Every knob of every form of scenario, and every parameter of every method on it: it acts, or it is refused with a
//! sentence that says what to do, and by everybody alike: settings, sweeps, configurations, jobs for the run board.

use super::runs::settings;
use lightbay_core::param::{Domain, ParamInfo, ParamValue, Setting};
use lightbay_core::run::common_params;
use lightbay_engines::sweep::Sweep;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::{
    AnyFile, AnyScenario, Input, Request, Subject, apply, export, idle, import, job, knobs, methods, preset,
    read_file,
};
use lightbay_moe::MoeScenario;
use lightbay_moe::placement::PlacementShape;
use lightbay_moe::placement::eplb::eplb;
use lightbay_moe::plan::FabricKind;
use lightbay_moe::schedule::assemble;
use lightbay_moe::schedule::policies::{SwitchPolicy, schedule};
use lightbay_moe::schedule::stage::StageModel;
use lightbay_moe::search::exchange::{Exchange, RoutingRule};
use lightbay_moe::search::swap::swapped;
use std::collections::BTreeSet;
use std::path::Path;

/// A scenario of every form, with a method that is over in a moment.
fn forms() -> Vec<(&'static str, AnyScenario, &'static str)> {
    let changed =
        |name: &str, text: &str| apply(&preset(name).unwrap(), suited(name), &settings(text)).unwrap().0;
    vec![
        ("job", preset("tiny4").unwrap(), "prop-alloc"),
        ("job with experts", preset("mixtral_8x22b").unwrap(), "prop-alloc"),
        ("job in buckets", preset("small_buckets").unwrap(), "prop-alloc"),
        ("one replica", changed("tiny4", "gpus=8"), "prop-alloc"),
        ("one pod", changed("tiny4", "gpus=8 gpus_per_pod_per_replica=8"), "prop-alloc"),
        ("one stage", changed("tiny4", "pp=1 gpus=8 gpus_per_pod_per_replica=2"), "prop-alloc"),
        ("stages alone", preset("one_stage_per_pod").unwrap(), "prop-alloc"),
        ("imported job", measured(), "prop-alloc"),
        ("instance", instance(), "prop-alloc"),
        ("several jobs", preset("tiny4_pair").unwrap(), "reallocate"),
        ("pod to design", preset("tpu-128").unwrap(), "random"),
        ("torus", preset("pt-4x4x8").unwrap(), "pt"),
        ("random hall", preset("crossconnect-8-8-25").unwrap(), "lumos-repair"),
        ("hall", preset("crossconnect-example").unwrap(), "lumos-repair"),
        ("region", preset("moe-small").unwrap(), "mfabric-swap"),
        ("region without circuits", changed("moe-small", "optical_degree=0"), "mfabric-swap"),
        ("region of one server", changed("moe-small", "tp=1 top_k=1"), "mfabric-swap"),
        ("region of circuits alone", changed("moe-small", "optical_degree=8"), "mfabric-swap"),
        ("region of counts", counted(), "mfabric-swap"),
        (
            "region with places",
            changed("moe-small", "expert_placement=free redundant_experts=8"),
            "mfabric-placed",
        ),
        ("GPUs at links", preset("dgx1-allgather-200kb").unwrap(), "construct"),
        ("GPUs at a switch", preset("dgx2x1-reducescatter-1mb").unwrap(), "construct"),
    ]
}

fn suited(name: &str) -> &'static str {
    preset(name).unwrap().suited_method()
}

fn measured() -> AnyScenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/resources/inputs/aicb");
    let name = "gen_gpt22B_tp8_pp2_dp4_ga16_seq2048_aiob.txt.gz";
    let input = Input { name: name.to_owned(), bytes: std::fs::read(folder.join(name)).unwrap() };
    import("aicb", &[input], &settings("gpus_per_pod_per_replica=8"), false).unwrap().product.scenario()
}

/// Two layers of one iteration.
fn counted() -> AnyScenario {
    let rows = "9,4,3,2,1,1,1,1\n1,1,1,1,2,3,4,9\n";
    let input = Input { name: "counts.csv".to_owned(), bytes: rows.as_bytes().to_vec() };
    import("routing_counts", &[input], &settings("axis=layers"), false).unwrap().product.scenario()
}

fn instance() -> AnyScenario {
    let written =
        export(Subject::Scenario(&preset("tiny4").unwrap()), "instance", &settings("all_edges=true"))
            .unwrap();
    match read_file(written[0].bytes.as_slice(), "instance").unwrap() {
        AnyFile::Scenario(scenario) => scenario,
        AnyFile::Plan(_) => panic!("an instance is a scenario"),
    }
}

/// All knobs that scenarios of the kind have in any form.
fn of_kind(scenario: &AnyScenario) -> Vec<ParamInfo> {
    let mut all = scenario.every_knob();
    let pair = preset("tiny4_pair").unwrap();
    let others = knobs(scenario.kind()).into_iter().chain(if scenario.kind() == pair.kind() {
        pair.every_knob()
    } else {
        vec![]
    });
    for info in others {
        if all.iter().all(|known| known.name != info.name) {
            all.push(info);
        }
    }
    all
}

/// Values that are worth a try, as they are typed.
fn values(scenario: &AnyScenario, info: &ParamInfo) -> Vec<String> {
    let present = scenario.knob(&info.name).or_else(|| info.default.clone());
    let number = present.as_ref().and_then(ParamValue::as_f64);
    let around = |min: f64, max: f64, whole: bool| -> Vec<String> {
        let near = number.unwrap_or(min.max(1.0));
        let tried = [2.0, 0.5, 3.0, 4.0, 8.0].map(|factor| factor * near);
        let tried = tried.into_iter().chain([near + 1.0, near - 1.0, min, min + 1.0, 100.0]);
        let mut seen = BTreeSet::new();
        tried
            .into_iter()
            .map(|value| if whole { value.round() } else { value })
            .filter(|value| (min..=max).contains(value))
            .map(|value| value.to_string())
            .filter(|text| seen.insert(text.clone()))
            .collect()
    };
    let texts: Vec<String> = match &info.domain {
        Domain::Bool => vec!["true".to_owned(), "false".to_owned()],
        Domain::Int { min, max } => around(*min as f64, *max as f64, true),
        Domain::IntOrList { min, max } => {
            let most = match &present {
                Some(ParamValue::List(list)) => {
                    list.iter().filter_map(ParamValue::as_f64).fold(1.0, f64::max)
                }
                _ => number.unwrap_or(1.0),
            };
            let mut texts: Vec<String> = vec![(2.0 * most).to_string(), (most + 1.0).to_string()];
            texts.extend(around(*min as f64, *max as f64, true));
            texts.push("16".to_owned());
            texts.push("0,1".to_owned());
            texts.push("1,2".to_owned());
            texts
        }
        Domain::Float { min, max } => around(*min, *max, false),
        Domain::Choice { names } => names.iter().map(ToString::to_string).collect(),
        Domain::IntList { .. } => ["4,4,16", "4,8,8", "4,4,8", "1,1,1"].map(str::to_owned).to_vec(),
        Domain::Text => {
            let texts = [
                "0-1:0",
                "0-1:1",
                "0-16:7",
                "0:0:a0",
                "7",
                "3",
                "2",
                "seq=2048,8192",
                "Z2",
                "p0:1",
                "r0p0:1",
                "8,8,16,32",
                "0:1.0-2.0",
                "s0:1",
                "s0:3",
                "none",
            ];
            texts.map(str::to_owned).to_vec()
        }
    };
    texts.into_iter().filter(|text| info.parse(text).ok() != present).collect()
}

fn set(scenario: &AnyScenario, method: &str, name: &str, text: &str) -> Result<AnyScenario, String> {
    let setting = Setting { name: name.to_owned(), index: None, text: text.to_owned() };
    apply(scenario, method, &[setting]).map(|(changed, _)| changed).map_err(|problems| problems.to_string())
}

/// Input of the methods, without names and origin: any effect has to show in it.
fn built(scenario: &AnyScenario) -> String {
    if let AnyScenario::Moe(region) = scenario {
        return planned(&region.body);
    }
    let AnyScenario::Training(training) = scenario else { return scenario.sha256().unwrap() };
    let of = |scenario: &TrainingScenario| {
        let mut built = scenario.build().unwrap();
        let compute_s = built.compute_s();
        built.instance.provenance = None;
        if built.instance.tasks.is_empty() {
            // Nothing is planned: all that is left is the duration.
            return format!("{compute_s:?}");
        }
        format!("{compute_s:?} {}", serde_json::to_string(&built.instance).unwrap())
    };
    match &training.body {
        TrainingScenario::Shared(shared) => {
            let jobs = shared.jobs.iter().map(|placed| {
                let job = of(&TrainingScenario::Job(placed.job.clone()));
                format!("{} {} {job}", placed.weight, placed.first_pod)
            });
            format!("{:?} {:?}", shared.layout().unwrap().budget, jobs.collect::<Vec<_>>())
        }
        one => of(one),
    }
}

/// Plans of a region whose circuits change before every dispatch, and of networks without circuits.
fn planned(region: &MoeScenario) -> String {
    let mut stage = StageModel::of(region, RoutingRule::Spill);
    for layer in 0..stage.layers() {
        let weights = stage.demands[layer].both_ways();
        let exchange = Exchange::of(&stage.demands[layer], &stage.rates, RoutingRule::Spill);
        let (circuits, _) = swapped(&exchange, &stage.rates.optical, &weights);
        match stage.add(circuits, Some(layer)) {
            Ok(own) => stage.own.push(own),
            Err(pair) => return format!("{pair:?}"),
        }
    }
    let placed = region.placement.map(|_| {
        let shape = PlacementShape::of(region);
        let layers = 0..stage.layers();
        layers.map(|layer| eplb(&region.history(0).expert_loads(layer), &shape)).collect::<Vec<_>>()
    });
    let circuits = assemble::regional(&stage, &schedule(&stage, SwitchPolicy::Window));
    let others = [FabricKind::Rail, FabricKind::Topoopt].map(|fabric| assemble::fabric(region, fabric));
    format!("{circuits:?} {others:?} {placed:?}")
}

#[test]
fn every_knob_of_every_form_acts_or_is_refused_with_what_to_do() {
    let mut wrong = Vec::new();
    for (form, scenario, method) in forms() {
        let idle = scenario.idle();
        let before = built(&scenario);
        for info in of_kind(&scenario) {
            let name = info.name.as_ref();
            let tried = values(&scenario, &info);
            if let Some(problem) = idle.iter().find(|problem| problem.path == name) {
                let sentence = problem.to_string();
                if problem.message.is_empty() || problem.remedy.is_empty() {
                    wrong.push(format!("{form}: {sentence} is no sentence with a remedy"));
                }
                if scenario.knobs().iter().any(|known| known.name == name) {
                    wrong.push(format!("{form}: {name} is idle and offered all the same"));
                }
                for text in tried.iter().filter(|text| info.parse(text).ok() != info.default) {
                    match set(&scenario, method, name, text) {
                        Ok(_) => wrong.push(format!("{form}: {name}={text} is taken, though: {sentence}")),
                        // Values that no scenario could have are refused as such.
                        Err(said) if said.contains(&problem.message) || said.contains("give") => {}
                        Err(said) => wrong.push(format!("{form}: {name}={text}: {said}, not: {sentence}")),
                    }
                }
                continue;
            }
            let mut said = Vec::new();
            let acts = tried.iter().any(|text| match set(&scenario, method, name, text) {
                Ok(changed) => built(&changed) != before,
                Err(why) => {
                    said.push(why);
                    false
                }
            });
            // Where every value is refused, each refusal says what to do.
            // 'none' may say again what the scenario says.
            let known =
                tried.iter().filter(|text| *text == "none" && set(&scenario, method, name, text).is_ok());
            if !acts
                && (said.len() + known.count() < tried.len()
                    || said.is_empty()
                    || said.iter().any(|why| !why.contains("; ")))
            {
                wrong.push(format!("{form}: no value of {name} acts, tried {tried:?}; refused: {said:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scenarios_that_ask_the_same_question_are_the_same_to_the_methods() {
    let mut compared = 0;
    for (form, scenario, method) in forms() {
        let Some(question) = scenario.question() else { continue };
        let before = built(&scenario);
        for info in scenario.knobs() {
            for text in values(&scenario, &info) {
                let Ok(changed) = set(&scenario, method, &info.name, &text) else { continue };
                let same = changed.question().as_ref() == Some(&question);
                assert_eq!(same, built(&changed) == before, "{form}: {}={text}", info.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn rows_of_a_sweep_that_differ_by_an_idle_knob_cannot_come_to_be() {
    for (form, scenario, method) in forms() {
        let idle = scenario.idle();
        for info in of_kind(&scenario) {
            let name = info.name.as_ref();
            // Lists hold commas, which separate the values of an axis.
            let plain = |text: &String| !text.contains(',') && !text.contains(':');
            let tried: Vec<String> = values(&scenario, &info).into_iter().filter(plain).take(4).collect();
            let mut distinct: Vec<String> = Vec::new();
            for text in tried {
                let parsed = info.parse(&text).ok();
                if parsed.is_some() && distinct.iter().all(|other| info.parse(other).ok() != parsed) {
                    distinct.push(text);
                }
            }
            if distinct.len() < 2 {
                continue;
            }
            let over = format!("{name}={}", distinct.join(","));
            let sweep = Sweep::of(vec![scenario.clone()]).unwrap().methods(&[method.to_owned()]).unwrap();
            match sweep.over(&[over.parse().unwrap()]) {
                Err(problems) => {
                    if let Some(problem) = idle.iter().find(|problem| problem.path == name) {
                        let said = problems.to_string();
                        assert!(said.contains(&problem.message), "{form}: {over}: {said}");
                    }
                }
                Ok(sweep) => {
                    assert!(idle.iter().all(|problem| problem.path != name), "{form}: {over} is idle");
                    let cells =
                        (1..=sweep.len()).filter_map(|number| sweep.scenario(&sweep.cell(number)).ok());
                    let rows: Vec<String> = cells.map(|cell| built(&cell)).collect();
                    let different: BTreeSet<&String> = rows.iter().collect();
                    assert_eq!(rows.len(), different.len(), "{form}: {over} has equal rows");
                }
            }
        }
    }
}

#[test]
fn configurations_over_an_idle_knob_are_refused_with_the_same_sentence() {
    for (form, scenario, _) in forms() {
        let AnyScenario::Training(training) = &scenario else { continue };
        for problem in scenario.idle() {
            let Some(info) = scenario.every_knob().into_iter().find(|info| info.name == problem.path) else {
                continue;
            };
            let tried = values(&scenario, &info);
            let Some(text) = tried.iter().find(|text| info.parse(text).ok() != info.default) else {
                continue;
            };
            let said =
                training.body.variants(&format!("{}={text}", problem.path)).map_err(|why| why.to_string());
            let said = said.expect_err(&format!("{form}: {}={text} is no configuration", problem.path));
            // A value that no job of the form could have is refused as such.
            assert!(said.contains(&problem.message) || said.contains("give"), "{form}: {said}");
        }
    }
    let tiny = preset("tiny4").unwrap();
    let AnyScenario::Training(tiny) = &tiny else { panic!("a training job") };
    let said = tiny.body.variants("seq=2048,2048").unwrap_err().to_string();
    assert!(said.contains("give the same plans"), "{said}");
}

/// Settings under which a phase of a method is left out.
const PHASES_OFF: [&str; 14] = [
    "",
    "generations=0",
    "islands=1",
    "lps=0",
    "orders=0",
    "proof=outer",
    "robust=seq=2048,8192",
    "windows=dag",
    "circuits=1,1,1",
    "anneal_rounds=0",
    "free_patience=0",
    "polish_start=repair",
    "routing=none",
    "symmetric=false",
];

#[test]
fn what_a_method_leaves_without_effect_is_refused_by_settings_sweeps_and_jobs_alike() {
    let mut refused = 0;
    for (form, scenario, _) in forms() {
        for method in methods(scenario.kind()) {
            for context in PHASES_OFF {
                let Ok((changed, given)) = apply(&scenario, method.name, &settings(context)) else {
                    continue;
                };
                for problem in idle(&changed, method.name, &given) {
                    let name = problem.path.as_str();
                    let param = method.params.iter().find(|info| info.name == name);
                    let known = param.is_some()
                        || of_kind(&scenario).iter().any(|info| info.name == name)
                        || common_params().iter().any(|info| info.name == name);
                    assert!(known, "{form}: {} says that {name} is idle, which nobody knows", method.name);
                    assert!(!problem.remedy.is_empty(), "{form}: {problem}");
                    let Some(info) = param else { continue };
                    let tried = values(&scenario, info);
                    let Some(text) =
                        tried.iter().find(|text| info.parse(text).is_ok_and(|v| Some(v) != info.default))
                    else {
                        continue;
                    };
                    // What the context sets itself is what leaves the others out.
                    if context.starts_with(&format!("{name}=")) {
                        continue;
                    }
                    let both = format!("{context} {name}={text}");
                    let Err(said) = apply(&scenario, method.name, &settings(&both)) else {
                        panic!("{form}: {} takes {both}, though: {problem}", method.name)
                    };
                    assert!(said.to_string().contains(&problem.message), "{form}: {both}: {said}");
                    let mut ask = Request::of(method.name).with(given.clone());
                    ask.settings.push((name.to_owned(), info.parse(text).unwrap()));
                    let Err(said) = job(&changed, &ask) else {
                        panic!("{form}: {both} is a job for {}", method.name)
                    };
                    assert!(said.to_string().contains(&problem.message), "{form}: {both}: {said}");
                    let sweep =
                        Sweep::of(vec![changed.clone()]).unwrap().methods(&[method.name.to_owned()]).unwrap();
                    let sweep = sweep.set(&settings(context)).unwrap();
                    let list = matches!(info.domain, Domain::IntList { .. });
                    let value = if list { format!("[{text}]") } else { text.clone() };
                    let said = sweep.over(&[format!("{name}={value}").parse().unwrap()]).unwrap_err();
                    assert!(said.to_string().contains(&problem.message), "{form}: over {both}: {said}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_gap_and_a_plan_to_start_from_are_refused_by_jobs_for_methods_that_do_not_heed_them() {
    let plan = super::runs::solve("tiny4", "prop-alloc", "").done.plan;
    let (mut gaps, mut starts) = (0, 0);
    for (form, scenario, _) in forms() {
        for method in methods(scenario.kind()) {
            let plain = Request::of(method.name);
            // What the method refuses anyway tells nothing.
            if job(&scenario, &plain).is_err() {
                continue;
            }
            let of_gap = idle(&scenario, method.name, &[]).into_iter().find(|problem| problem.path == "gap");
            let said =
                job(&scenario, &plain.clone().with(vec![("gap".to_owned(), ParamValue::Float(0.5))])).err();
            assert_eq!(said.map(|said| said.to_string()), of_gap.as_ref().map(ToString::to_string), "{form}");
            gaps += u32::from(of_gap.is_some());

            let said = job(&scenario, &Request { hot_start: plan.clone(), ..plain }).err();
            let said = said.map(|said| said.to_string()).unwrap_or_default();
            assert_eq!(
                said.contains("does not accept a hot start; leave it out"),
                !method.hot_start,
                "{form}: {said}"
            );
            starts += u32::from(!method.hot_start);
        }
    }
    assert!(gaps > 0 && starts > 0);
    // A sweep solves the methods that do not heed the gap without it.
    let sweep = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let sweep = Sweep::of(vec![preset("tiny4").unwrap()]).unwrap().methods(&names).unwrap();
        sweep.limited(None, Some(0.5), None)
    };
    let both = sweep(&["prop-alloc", "delta-joint"]);
    assert!(both.heeds_gap() && !sweep(&["prop-alloc"]).heeds_gap());
    for number in 1..=both.len() {
        let limits = both.job(&both.cell(number), None).unwrap().limits();
        assert_eq!(limits.1.is_some(), number == 2, "{limits:?}");
    }
}
