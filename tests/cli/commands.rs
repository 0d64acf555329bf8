//! Tests of the output and the exit code of every command.

use super::support::Place;
use lightbay_sessions::{Overwrite, Store, atomic_write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn help_is_short_or_long() {
    let place = Place::new();
    let short = place.run(&["-h"]).done().out;
    let long = place.run(&["--help"]).done().out;
    assert!(long.contains("Examples:") && long.contains("Exit codes:"), "{long}");
    assert!(!short.contains("Examples:") && short.len() < long.len());
    for command in [
        "presets",
        "new",
        "methods",
        "solve",
        "sweep",
        "check",
        "show",
        "compare",
        "export",
        "import",
        "sessions",
        "info",
        "config",
        "keys",
        "completions",
        "man",
    ] {
        assert!(short.contains(command), "{command} is missing in:\n{short}");
        place.run(&[command, "-h"]).done().prints(&["Usage: lightbay"]);
    }
    assert_eq!(place.files(), Vec::<String>::new(), "help leaves nothing behind");
}

#[test]
fn version_says_which_build_it_is() {
    let out = Place::new().run(&["--version"]).done().out;
    assert!(out.starts_with(concat!("lightbay ", env!("CARGO_PKG_VERSION"), " (")), "{out}");
    assert!(out.contains("built 20"), "{out}");
}

#[test]
fn presets_are_listed_and_every_one_can_be_shown_and_written() {
    let place = Place::new();
    let listed = place.run(&["presets"]).done().out;
    let document = place.run(&["presets", "--json"]).done().json();
    assert_eq!(document["schema"], "lightbay.presets/1");
    let presets = document["presets"].as_array().unwrap();
    assert!(presets.len() >= 9);
    for preset in presets {
        let name = preset["name"].as_str().unwrap();
        assert!(listed.contains(&format!("preset:{name}")), "{name}");
        let scenario = place.run(&["new", name]).done().json();
        assert_eq!(scenario["schema"], "lightbay.scenario/1");
        assert_eq!(scenario["kind"], preset["kind"]);
        let shown = place.run(&["show", &format!("preset:{name}"), "--json"]).done().json();
        assert_eq!(shown["schema"], "lightbay.show/2");
        let kind = preset["kind"].as_str().unwrap();
        let (section, size) = match kind {
            "training" => ("job", "tasks"),
            "tpu" => ("pod", "chips"),
            "moe" => ("region", "servers"),
            "collective" => ("demand", "ranks"),
            _ => ("hall", "pods"),
        };
        assert!(shown[kind][section][size].as_u64().unwrap() > 0, "{name}");
    }
}

#[test]
fn methods_describe_every_knob_once_for_people_and_programs() {
    let place = Place::new();
    let text = place.run(&["methods"]).done().out;
    let document = place.run(&["methods", "--json"]).done().json();
    assert_eq!(document["schema"], "lightbay.methods/1");
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|knob| knob["name"].as_str().unwrap().to_owned()).collect()
    };
    for kind in document["kinds"].as_array().unwrap() {
        let default = kind["default_method"].as_str().unwrap();
        let methods = kind["methods"].as_array().unwrap();
        assert!(methods.iter().any(|method| method["name"] == default), "{default}");
        let scenario = names(&kind["scenario_knobs"]);
        for method in methods {
            assert!(text.contains(method["name"].as_str().unwrap()));
            for name in names(&method["params"]) {
                assert!(text.contains(&name), "{name}");
                assert!(!scenario.contains(&name), "{name} is a scenario knob too");
            }
        }
        for name in scenario.iter().chain(&names(&document["common_params"])) {
            assert!(text.contains(name), "{name}");
        }
    }
    let formats = place.run(&["methods", "training", "--formats"]).done().out;
    for format in ["json", "instance", "expanded"] {
        assert!(formats.contains(format), "{format} is missing in:\n{formats}");
    }
}

#[test]
fn a_kind_lists_shared_parameters_once_and_a_method_lists_all_of_its_own() {
    let place = Place::new();
    let document = place.run(&["methods", "--json"]).done().json();
    for kind in document["kinds"].as_array().unwrap() {
        let name = kind["name"].as_str().unwrap();
        let methods = kind["methods"].as_array().unwrap();
        // How many methods have a parameter, form by form.
        let mut forms: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        for param in methods.iter().flat_map(|method| method["params"].as_array().unwrap()) {
            let known = forms.entry(param["name"].as_str().unwrap()).or_default();
            *known.entry(param.to_string()).or_default() += 1;
        }
        // Rows of tables are indented by four; lists of names by more.
        let rows = |text: &str, name: &str| {
            let rows = text.lines().filter_map(|line| line.strip_prefix("    "));
            rows.filter(|row| row.split(' ').next() == Some(name)).count()
        };
        let text = place.run(&["methods", name]).done().out;
        for (param, forms) in &forms {
            // The most frequent form stands once, whatever the number of its methods.
            let most = forms.values().max().unwrap();
            let expected = forms.values().sum::<usize>() - most + 1;
            assert_eq!(rows(&text, param), expected, "{name} {param}");
        }
        for method in methods {
            let method_name = method["name"].as_str().unwrap();
            let text = place.run(&["methods", name, method_name]).done().out;
            let own: Vec<&str> =
                method["params"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
            for param in forms.keys() {
                assert_eq!(rows(&text, param), usize::from(own.contains(param)), "{method_name} {param}");
            }
            let alone = place.run(&["methods", name, method_name, "--json"]).done().json();
            assert_eq!(alone["kinds"][0]["methods"], json!([method]));
        }
    }
    let once = place.run(&["methods", "tpu"]).done().out;
    assert_eq!(once.matches("balances the load over the virtual channels").count(), 1);
    place
        .run(&["methods", "tpu", "tons-fsat"])
        .exit(2)
        .says(&["method 'tons-fsat' does not exist for kind tpu; did you mean 'tons-fast'?"]);
    place.run(&["methods", "tpu", "tons-fast", "--formats"]).exit(2);
}

#[test]
fn check_prints_violations_with_codes_and_a_count() {
    let place = Place::new();
    place.plan("tiny4", "delta-joint", "plan.json");
    let clean = place.run(&["check", "plan.json"]).done().prints(&["0 violations", "bound on makespan"]);
    assert_eq!(clean.err, "");
    place.run(&["check", "plan.json", "--exact"]).done().prints(&["0 violations"]);

    let mut plan = place.json("plan.json");
    let value = plan["objective"]["value"].as_f64().unwrap();
    plan["objective"]["value"] = (value * 0.99).into();
    place.write("bad.json", plan.to_string());
    let bad = place.run(&["check", "bad.json"]).exit(1);
    let lines: Vec<&str> = bad.out.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("makespan: ")), "{}", bad.out);
    let counted: usize =
        lines.iter().find_map(|line| line.strip_suffix(" violations")).unwrap_or("1").parse().unwrap();
    let with_code =
        lines.iter().filter(|line| line.split_once(": ").is_some_and(|(code, _)| !code.contains(' ')));
    assert_eq!(with_code.count(), counted, "{}", bad.out);
}

#[test]
fn bounds_that_were_not_repeated_are_called_claims() {
    let place = Place::new();
    place.plan("tiny4", "prop-alloc", "plan.json");
    place.run(&["check", "plan.json"]).done().prints(&["prop-alloc claims no bound"]);
}

#[test]
fn show_summarises_scenarios_and_plans() {
    let place = Place::new();
    place.run(&["show", "preset:tiny8"]).done().prints(&[
        "training scenario 'tiny8'",
        "tail-exact           yes",
        "Pods",
        "Links",
        "tp 2, pp 4",
    ]);
    place.run(&["show", "preset:one_stage_per_pod"]).done().prints(&["tail-exact           no"]);
    place.plan("tiny8", "delta-joint", "plan.json");
    place.run(&["show", "plan.json"]).done().prints(&[
        "training plan 'tiny8'",
        "delta-joint",
        "optimal",
        "Schedule",
    ]);
    let plan = place.json("plan.json");
    let shown = place.run(&["show", "plan.json", "--json"]).done().json();
    assert_eq!(shown["what"], "plan");
    assert_eq!(shown["plan"]["objective"], plan["objective"]);
    assert_eq!(shown["scenario_sha256"], plan["provenance"]["scenario_sha256"]);
    for (link, circuits) in plan["result"]["topology"].as_array().unwrap().iter().enumerate() {
        assert_eq!(shown["training"]["links"][link]["circuits"], circuits["circuits"]);
        assert!(circuits["circuits"].as_u64() <= shown["training"]["links"][link]["fit"].as_u64());
    }
}

#[test]
fn show_says_why_a_plan_is_not_ideal() {
    let place = Place::new();
    place.plan("small", "prop-alloc", "plan.json");
    place.run(&["show", "plan.json"]).done().prints(&[
        "Critical path",
        "capacity loss",
        "contention delay",
        "leaves the ideal path",
        "second chain",
        "Links with spare circuits",
        "add to the makespan",
    ]);
    let plan = place.json("plan.json");
    let shown = place.run(&["show", "plan.json", "--json"]).done().json();
    let path = &shown["training"]["path"];
    let summary = &path["summary"];
    let number = |value: &Value| value.as_f64().unwrap();
    let loss = number(&plan["objective"]["value"]) - number(&plan["result"]["ideal_makespan_s"]);
    assert!((number(&path["chain"]["loss_s"]) - loss).abs() < 1e-9, "{summary}");
    let causes = ["capacity_loss_s", "contention_delay_s", "paused_s"];
    let costs: f64 = causes.iter().map(|cause| number(&summary[cause])).sum();
    let tasks = path["tasks"].as_array().unwrap();
    let adds: f64 = tasks.iter().map(|task| number(&task["adds_s"])).sum();
    assert!((adds - costs).abs() < 1e-9, "{adds} {costs}");
    for pair in tasks.windows(2) {
        let [first, next] = [&pair[0], &pair[1]].map(|task| number(&task["adds_s"]));
        assert!(first >= next - 1e-9, "those that add most come first");
    }
    let contention = shown["training"]["contention"].as_array().unwrap();
    let adds: f64 = contention.iter().map(|way| number(&way["adds_s"])).sum();
    assert!((adds - costs).abs() < 1e-9, "what tasks add, by directed link: {adds} {costs}");
    let slack = &shown["training"]["slack"];
    let spread: u64 =
        slack["spread"].as_array().unwrap().iter().map(|bin| bin["tasks"].as_u64().unwrap()).sum();
    assert_eq!(spread as usize, slack["tasks"].as_array().unwrap().len(), "every task is in one range");
    for link in slack["spare"].as_array().unwrap() {
        let own = &shown["training"]["links"][link["link"].as_u64().unwrap() as usize]["circuits"];
        assert_eq!(&link["circuits"], own);
        assert!(own.as_u64().unwrap() > 1);
    }
}

#[test]
fn show_prices_ports_and_circuits_and_tries_failures() {
    let place = Place::new();
    place.plan("tiny8", "delta-joint", "plan.json");
    place.run(&["show", "plan.json"]).done().prints(&[
        "Every figure is the difference of two proven optima.",
        "Sensitivity: One port more",
        "Sensitivity: One circuit fewer",
        "Robustness: One failed circuit",
        "as planned",
    ]);
    let shown = place.run(&["show", "plan.json", "--json"]).done().json();
    let (prices, tried) = (&shown["training"]["sensitivity"], &shown["training"]["robustness"]);
    let makespan = &place.json("plan.json")["objective"]["value"];
    let base = &prices["base"];
    assert_eq!((&base["plan_makespan_s"], &base["best_is_proven"]), (makespan, &true.into()));
    assert_eq!(prices["one_port_more"].as_array().unwrap().len(), 2);
    assert_eq!(prices["one_circuit_less"].as_array().unwrap().len(), 3);
    assert_eq!(&tried["cases"][0]["joint_s"], makespan);
    assert_eq!(tried["failed_circuit"].as_array().unwrap().len(), 3);
    assert_eq!(tried["one_slow"].as_array().unwrap().len(), 4);
    // Where transfers compete before the end it takes long, so it has to be asked for.
    place.plan("one_stage_per_pod", "iter-halve", "loose.json");
    let quick = place.run(&["show", "loose.json", "--json"]).done().json();
    assert!(quick["training"]["sensitivity"].is_null());
    place.run(&["show", "loose.json"]).done().prints(&["sensitivity, robustness", "--thorough"]);
    let thorough = place.run(&["show", "loose.json", "--json", "--thorough"]).done().json();
    assert_eq!(thorough["training"]["sensitivity"]["base"]["rates"], "max-min fair");
    assert!(thorough["training"]["robustness"]["cases"][2]["joint_s"].is_number());
    let one = place.run(&["show", "loose.json", "--section", "robustness", "--json"]).done().json();
    assert_eq!(one, thorough["training"]["robustness"], "a section asked for by name is worked out");
}

#[test]
fn compare_shows_differences_in_four_forms() {
    let place = Place::new();
    place.plan("tiny8", "prop-alloc", "a.json");
    place.plan("tiny8", "delta-joint", "b.json");
    place.run(&["compare", "a.json", "b.json"]).done().prints(&[
        "method",
        "prop-alloc",
        "delta-joint",
        "better",
    ]);
    let document = place.run(&["compare", "a.json", "b.json", "--json"]).done().json();
    let objective = &document["figures"][0];
    assert_eq!(objective["values"][0], place.json("a.json")["objective"]["value"]);
    assert_eq!(objective["changes"][0]["verdict"], "better");
    place.run(&["compare", "a.json", "b.json", "--md"]).done().prints(&["| figure |", "|---|"]);
    let csv = place.run(&["compare", "a.json", "b.json", "--csv"]).done().out;
    assert!(csv.starts_with("scope,name,a.json,b.json"), "{csv}");
    place.run(&["compare", "a.json"]).exit(2);
    place.run(&["compare", "a.json", "b.json", "--md", "--csv"]).exit(2);
}

#[test]
fn exports_are_read_back_as_what_they_were() {
    let place = Place::new();
    place.plan("tiny8", "delta-joint", "plan.json");
    let plan = place.run(&["export", "plan.json", "--to", "json"]).done().json();
    assert_eq!(plan, place.json("plan.json"));

    place.run(&["export", "preset:tiny8", "--to", "instance", "-o", "instance.json"]).done();
    let explicit = place.run(&["solve", "instance.json"]).done().json();
    let relative = |a: &Value, b: &Value| (a.as_f64().unwrap() / b.as_f64().unwrap() - 1.0).abs();
    assert!(relative(&explicit["objective"]["value"], &plan["objective"]["value"]) < 1e-9);

    place.run(&["export", "plan.json", "--to", "expanded", "-o", "wide.json"]).done();
    place.run(&["check", "wide.json"]).done();
    let wide = place.json("wide.json");
    assert!(relative(&wide["objective"]["value"], &plan["objective"]["value"]) < 1e-9);
    let pods = wide["scenario"]["instance"]["pods"].as_array().unwrap();
    assert!(pods.iter().all(|pod| pod["mirror"] == false), "real pods only");
}

#[test]
fn a_folder_takes_exports_under_their_usual_names() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).unwrap();
    let ran = place.run(&["export", "preset:tiny4", "--to", "instance", "-o", "out"]).done();
    let name = ran.out.trim();
    assert!(place.path(name).is_file(), "{name}");
    place
        .run(&["export", "preset:tiny4", "--to", "instance", "-o", "out"])
        .exit(2)
        .says(&["exists already", "--force"]);
    place.run(&["export", "preset:tiny4", "--to", "instance", "-o", "out", "--force"]).done();
}

#[test]
fn info_shows_places_and_a_card_and_no_colour_in_a_pipe() {
    let place = Place::new();
    let out = place.run(&["info"]).done().out;
    for part in ["version", "lightbay.plan/1", "config.toml", "sessions", "delta-joint", "heat", "eighths"] {
        assert!(out.contains(part), "{part} is missing in:\n{out}");
    }
    assert!(!out.contains('\u{1b}'), "escape sequences in a pipe:\n{out}");
    let coloured = place.run(&["info", "--color", "always"]).done().out;
    assert!(coloured.contains("\u{1b}["), "{coloured}");
    let ascii = place.run(&["info", "--glyphs", "ascii"]).done().out;
    assert!(ascii.is_ascii(), "{ascii}");
    let elsewhere = place.run(&["info", "--data-dir", "elsewhere"]).done().out;
    assert!(elsewhere.contains("elsewhere/sessions"), "{elsewhere}");
}

#[test]
fn completions_and_manual_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        place.run(&["completions", shell]).done().prints(&["lightbay", "LIGHTBAY_COMPLETE"]);
    }
    place.run(&["man"]).done().prints(&[".TH", "lightbay", "Exit codes"]);
    place.run(&["man", "sweep", "merge"]).done().prints(&[".TH", "in the order of the cells"]);
    place.run(&["man", "solve"]).done().prints(&[".TH", "hot\\-start"]);
    place.run(&["man", "sovle"]).exit(2).says(&["did you mean 'solve'?"]);
}

#[test]
fn sessions_without_any_say_where_they_would_be() {
    let place = Place::new();
    let ran = place.run(&["sessions"]).done().says(&["no sessions", ".local/share/lightbay/sessions"]);
    assert_eq!(ran.out, "");
    place.run(&["sessions", "show", "nothing"]).exit(2).says(&["session 'nothing' does not exist"]);
    place.run(&["sessions", "rm", "../etc"]).exit(2);
}

#[test]
fn a_reader_who_leaves_early_is_a_failure_with_a_message() {
    use std::io::Read as _;
    let place = Place::new();
    let mut child = place.spawn(&["methods", "--json"]);
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("the reader closed the pipe before it had read the whole output"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_a_failure_with_a_message() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let place = Place::new();
    let output = place.command(&["presets"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
}

#[test]
fn without_a_terminal_the_workbench_names_solve() {
    let place = Place::new();
    place
        .run(&["preset:tiny4", "--solve"])
        .exit(2)
        .says(&["needs a terminal", "lightbay solve preset:tiny4"]);
    place.run(&[]).exit(2).says(&["lightbay solve"]);
}

#[test]
fn the_configuration_is_read_checked_and_printed() {
    let place = Place::new();
    let default = place.run(&["config", "default"]).done().out;
    place.write("c.toml", &default);
    place.run(&["config", "check", "--config", "c.toml"]).done().prints(&["c.toml is valid"]);
    place.run(&["config", "path", "--config", "c.toml"]).done().prints(&["c.toml"]);
    place.run(&["config"]).done().prints(&["does not exist, so all defaults apply"]);
    place.write("bad.toml", "[ui]\nglyphz = \"ascii\"\n");
    let says = ["bad.toml: line 2, column 1", "glyphz", "did you mean `glyphs`?"];
    place.run(&["config", "--config", "bad.toml"]).exit(2).says(&says);
    // A wrong line is told, and does not stop the work.
    for command in [&["info"][..], &["solve", "preset:tiny4"]] {
        let ran = place.run(&[command, &["--config", "bad.toml"]].concat()).done();
        ran.says(&says).says(&["the default applies"]);
    }
    place.write("ascii.toml", "[ui]\nglyphs = \"ascii\"\n[solve]\nthreads = 3\n");
    assert!(place.run(&["info", "--config", "ascii.toml"]).done().out.is_ascii());
    let solve = ["solve", "preset:tiny4", "--config", "ascii.toml"];
    assert_eq!(place.run(&solve).done().json()["threads"], 3);
    assert_eq!(place.run(&[&solve[..], &["--threads", "1"]].concat()).done().json()["threads"], 1);
}

#[test]
fn keys_are_listed_for_people_and_programs() {
    let place = Place::new();
    let text = place.run(&["keys"]).done().out;
    let document = place.run(&["keys", "--json"]).done().json();
    let actions = document["actions"].as_array().unwrap();
    assert!(actions.len() > 20);
    for action in actions {
        assert!(text.contains(action["name"].as_str().unwrap()), "{action}");
        assert!(!action["help"].as_str().unwrap().is_empty(), "{action}");
    }
    place.write("keys.toml", "[keys]\nzoom = \"F5\"\nstop_solv = \"F6\"\n");
    let run = |arguments: &[&str]| place.run(&[arguments, &["--config", "keys.toml"]].concat());
    let document = run(&["keys", "--json"]).done().says(&["keys.toml", "line 3", "stop_solve"]).json();
    let zoom =
        document["actions"].as_array().unwrap().iter().find(|action| action["name"] == "zoom").unwrap();
    assert_eq!((&zoom["keys"], &zoom["default"]), (&serde_json::json!(["F5"]), &serde_json::json!(["z"])));
    run(&["config", "check"]).exit(2).says(&["keys.toml", "line 3, column 1", "did you mean 'stop_solve'"]);
    // Commands without a screen do not need the keys.
    run(&["solve", "preset:tiny4"]).done();
}

#[test]
fn sessions_are_listed_shown_and_removed() {
    let place = Place::new();
    place.plan("tiny4", "delta-joint", "plan.json");
    let scenario = place.json("plan.json")["scenario"].clone();
    let store = Store::at(place.path("data/sessions"));
    let session = store.create("tiny4", "training", &scenario, "2026-01-02T03:04:05Z").unwrap();
    let plan = session.plans_folder().join("0001.json");
    atomic_write(&plan, place.read("plan.json").as_bytes(), Overwrite::Refuse).unwrap();
    let name = session.name().to_owned();
    let run = |arguments: &[&str]| place.run(&[&["sessions", "--data-dir", "data"], arguments].concat());

    run(&["rm", &name]).exit(2).says(&["is open in"]);
    drop(session);
    run(&["list"]).done().prints(&[&name, "training", "2026-01-02"]);
    run(&["show", &name]).done().prints(&["delta-joint", "optimal", "0001.json"]);
    run(&["show", &format!("session:{name}")]).done();
    run(&["rm", &name]).done().says(&["removed"]);
    run(&["list"]).done().says(&["no sessions"]);
    assert!(!plan.exists());
}

#[test]
fn schemas_are_printed_as_they_are_checked_in() {
    let place = Place::new();
    let names = place.run(&["schema"]).done().out;
    assert!(names.starts_with("scenario\nplan\nevent\n"), "{names}");
    for name in names.lines().take(3) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("engines/schemas/{name}.json"));
        let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(place.run(&["schema", name]).done().json(), kept, "{name}");
    }
    place.run(&["schema", "plans"]).exit(2).says(&["there is no schema 'plans'; did you mean 'plan'?"]);
}

/// Completes the last word of a line as bash does.
fn completed(place: &Place, line: &str) -> Vec<String> {
    let script = place.run(&["completions", "bash"]).done().out;
    let test = format!(
        "{script}\nCOMP_LINE='{line}' COMP_POINT=${{#COMP_LINE}}\nCOMP_LINE='{line}'; COMP_POINT={}\n_lightbay 2> \
         /dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line.len()
    );
    let folder = Path::new(super::support::PROGRAM).parent().unwrap();
    let output = std::process::Command::new("bash")
        .args(["-c", &test])
        .current_dir(place.path(""))
        .env_clear()
        .env("HOME", place.path("home"))
        .env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_presets_parameters_values_formats_and_files() {
    let place = Place::new();
    place.scenario("tiny4", "job.json");
    for (line, among) in [
        ("lightbay sol", "solve"),
        // Bash replaces only the part after the last `:` or `=`.
        ("lightbay solve preset:mixt", "mixtral_8x22b"),
        ("lightbay solve jo", "job.json"),
        ("lightbay solve job.json --set bandw", "bandwidth_gbps="),
        ("lightbay new collective --set collective=all_r", "all_reduce"),
        ("lightbay solve job.json --method delta-f", "delta-fast"),
        ("lightbay export job.json --to do", "dot"),
        ("lightbay show job.json --section lin", "links"),
        ("lightbay schema so", "solve"),
    ] {
        let found = completed(&place, line);
        assert!(found.iter().any(|one| one == among), "{line}: {found:?}");
    }
}

#[test]
fn new_states_the_values_that_it_takes_from_the_example_of_a_kind() {
    let place = Place::new();
    let new = place.run(&["new", "training", "--set", "layers=8", "--set", "hidden=2048"]).done();
    let note = new.err.lines().find(|line| line.contains("preset:tiny4: ")).unwrap();
    assert!(note.contains(" vocab=51200") && note.contains(" mfu=0.4"), "{note}");
    for absent in ["layers=", "hidden=", "=none"] {
        assert!(!note.contains(absent), "{absent} is set or absent: {note}");
    }
    let known = ["new", "training", "--set", "model=llama_3_1_70b", "-o", "llama.json"];
    let note = place.run(&known).done().err;
    assert!(note.contains(" mfu=0.4") && !note.contains("layers="), "the model sets its layers: {note}");
    place.run(&["new", "collective"]).done().says(&["network=dgx1", "capacities=…"]);
    assert_eq!(place.run(&["new", "tiny4"]).done().err, "", "a preset is named by the user");
}
