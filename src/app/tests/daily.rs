//! What a long day needs: copying the command, recorded keys, search, several settings at once, paths, messages.

use super::support::{Bench, real_run, scenario};
use crate::app::action::{Action, Command, Fact, Mouse, MouseKind, Opened, SessionView};
use crate::app::effect::{Effect, ExportSubject, Source};
use crate::app::layer::Layer;
use crate::app::listing::{ListedFile, Listing};
use crate::app::palette;
use crate::app::pane::PaneId;
use lightbay_core::event::Severity;
use lightbay_core::param::Setting;
use std::path::PathBuf;
use std::time::Duration;

fn copied(bench: &Bench) -> String {
    let copied = bench.effects.iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    copied.unwrap_or_else(|| panic!("nothing was copied: {}", bench.last_message()))
}

/// Applies the settings of a command line to the preset it names, and returns the hash of the scenario.
fn sha_of(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(&words[..3], ["lightbay", "solve", "preset:tiny4"]);
    let after = |flag: &str| -> Vec<&str> {
        words.windows(2).filter(|pair| pair[0] == flag).map(|pair| pair[1].trim_matches('\'')).collect()
    };
    let settings: Vec<Setting> = after("--set").iter().map(|text| text.parse().unwrap()).collect();
    let method = after("--method")[0];
    lightbay_engines::apply(&scenario(), method, &settings).unwrap().0.sha256().unwrap()
}

#[test]
fn the_copied_command_makes_the_scenario_on_the_screen() {
    let mut bench = Bench::open();
    bench.keys("C");
    assert_eq!(copied(&bench), "lightbay solve preset:tiny4 --method auto");
    bench.act(Action::Do(Command::Set("seq=8192 bandwidth_gbps=800 seed=7 time_limit_s=30".to_owned())));
    assert!(!bench.last_message().contains("refused"), "{}", bench.last_message());
    bench.keys("C");
    let command = copied(&bench);
    assert!(command.contains("--set bandwidth_gbps=800") && command.contains("--set seq=8192"), "{command}");
    assert!(command.ends_with("--seed 7 --time-limit 30"), "{command}");
    assert_eq!(sha_of(&command), bench.app.work.as_ref().unwrap().now.sha256);
}

#[test]
fn the_copied_command_is_that_of_the_displayed_plan() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    bench.keys("C");
    let command = copied(&bench);
    assert!(command.starts_with("lightbay solve preset:tiny4 --method delta-fast"), "{command}");
    assert_eq!(sha_of(&command), scenario().sha256().unwrap());
    // A later change of the form does not change the plan.
    bench.act(Action::Do(Command::Set("bandwidth_gbps=800".to_owned()))).keys("C");
    assert_eq!(copied(&bench), command);
    assert!(!real_run("delta-fast").is_empty());
}

#[test]
fn the_selection_is_copied_as_json() {
    let mut bench = Bench::open();
    bench.keys("Space f g g J");
    let parameter: serde_json::Value = serde_json::from_str(&copied(&bench)).unwrap();
    assert_eq!(
        (&parameter["schema"], &parameter["of"]),
        (&"lightbay.selection/1".into(), &"parameter".into())
    );
    assert!(parameter["selection"]["name"].is_string());
    bench.keys("Space t J");
    assert_eq!(bench.last_message(), "no plan exists yet");
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    bench.keys("Space t J");
    let plan: serde_json::Value = serde_json::from_str(&copied(&bench)).unwrap();
    assert_eq!((&plan["schema"], &plan["method"]), (&"lightbay.plan/1".into(), &"delta-fast".into()));
    bench.keys("Space x J");
    let run: serde_json::Value = serde_json::from_str(&copied(&bench)).unwrap();
    assert_eq!(run["of"], "run");
}

#[test]
fn several_settings_are_made_together_or_not_at_all() {
    let mut bench = Bench::open();
    let before = bench.app.work.as_ref().unwrap().now.clone();
    bench.keys(":").text("set seq=8192 bandwidth_gbps=800").keys("Enter");
    assert!(bench.last_message().contains("seq 4096 → 8192"), "{}", bench.last_message());
    assert!(bench.last_message().contains("bandwidth_gbps 400 → 800"), "{}", bench.last_message());
    bench.keys("u");
    assert!(bench.last_message().starts_with("undone: "), "{}", bench.last_message());
    assert!(bench.last_message().contains("seq 8192 → 4096"), "{}", bench.last_message());
    assert_eq!(bench.app.work.as_ref().unwrap().now, before);
    bench.keys("U");
    assert!(bench.last_message().starts_with("done again: "), "{}", bench.last_message());
    bench.keys("u").keys(":").text("set seq=8192 bandwidth_gbps=-1").keys("Enter");
    assert!(bench.last_message().ends_with("nothing was changed"), "{}", bench.last_message());
    assert_eq!(bench.app.work.as_ref().unwrap().now, before);
    // A blank inside a value is part of the value.
    bench.keys(":").text("set name=my own job seq=8192").keys("Enter");
    assert_eq!(bench.app.work.as_ref().unwrap().now.scenario.name(), "my own job");
    // The last assignment is completed.
    let lines = palette::lines(&bench.app, "set seq=8192 bandw");
    assert!(lines.iter().any(|line| line.text == "set seq=8192 bandwidth_gbps="), "{lines:?}");
}

#[test]
fn a_refused_value_is_named_with_its_reason_when_solving() {
    let mut bench = Bench::open();
    bench.keys(":").text("set ports_per_pod=0").keys("Enter");
    let reason = bench.last_message().to_owned();
    bench.keys("r");
    assert!(bench.last_message().contains(&reason), "{} lacks {reason}", bench.last_message());
    bench.keys("r");
    assert_eq!(bench.request().method, "auto");
}

#[test]
fn the_first_typed_character_replaces_the_value() {
    let mut bench = Bench::open();
    let text = |bench: &Bench| match bench.app.layers.last() {
        Some(Layer::EditKnob(edit)) => edit.field.text().to_owned(),
        other => panic!("{other:?}"),
    };
    let open = |bench: &mut Bench| {
        let row = bench.app.work.as_ref().unwrap().row_named("bandwidth_gbps").unwrap().id;
        bench.act(Action::Select { pane: PaneId::Params, item: Some(row) }).keys("e");
    };
    open(&mut bench);
    assert_eq!(text(&bench), "400");
    bench.text("80");
    assert_eq!(text(&bench), "80");
    bench.keys("Esc");
    open(&mut bench);
    bench.keys("End").text("0");
    assert_eq!(text(&bench), "4000");
    bench.keys("Esc");
    open(&mut bench);
    bench.keys("Backspace");
    assert_eq!(text(&bench), "40");
    bench.keys("Esc");
    open(&mut bench);
    bench.act(Action::Paste("12".to_owned()));
    assert_eq!(text(&bench), "12");
}

#[test]
fn edit_in_a_pane_without_cells_goes_to_the_parameters() {
    let mut bench = Bench::open();
    bench.keys("1 e");
    assert_eq!((bench.app.focus.pane, bench.app.layers.len()), (PaneId::Params, 0));
    bench.keys("e");
    assert!(matches!(bench.app.layers.last(), Some(Layer::EditKnob(_))));
}

#[test]
fn the_footer_names_the_leader_key_and_the_way_to_the_form() {
    let mut bench = Bench::open();
    bench.keys("1");
    let footer = crate::app::hints::footer(&bench.app);
    let of = |label: &str| footer.iter().position(|hint| hint.label == label).unwrap();
    assert_eq!(footer[of("more")].keys, "Space");
    assert_eq!(footer[of("form")].keys, "e");
    assert!(of("more") < 4 && of("form") < 4, "{footer:?}");
}

#[test]
fn names_are_found_with_underscores_and_without() {
    let bench = Bench::open();
    for query in ["set_baseline", "go to plans", "go_to_plans", "next_palette"] {
        let lines = palette::lines(&bench.app, query);
        assert_eq!(lines[0].text, query.replace(' ', "_"));
    }
    let help = palette::help(&bench.app, "set_baseline");
    assert!(help.iter().any(|line| line.text == "set_baseline"));
}

#[test]
fn the_palette_finds_plans_presets_and_terms() {
    let mut bench = Bench::open();
    let has = |bench: &Bench, query: &str, text: &str| {
        let lines = palette::lines(&bench.app, query);
        assert!(lines.iter().any(|line| line.text == text), "{query}: {text} is missing");
    };
    has(&bench, "tpu-64", "new tpu-64");
    has(&bench, "nct", "explain NCT");
    bench.keys("r");
    let run = bench.accept(false);
    let last = bench.replay(run, "delta-fast", 1) - 1;
    has(&bench, &format!("plan {last}"), &format!("show_plan {last}"));
    let start = Bench::start();
    has(&start, "tiny8", "new tiny8");
}

#[test]
fn a_path_is_completed_from_the_folder_that_is_typed() {
    let mut bench = Bench::open();
    bench.keys("Space o").text("jobs/");
    let folder = PathBuf::from("/tmp/lightbay-test/jobs/");
    assert_eq!(bench.effects, [Effect::ListFolder(folder.clone())]);
    let file = |name: &str, about: &str| ListedFile { name: name.to_owned(), about: about.to_owned() };
    let entries = vec![file("old/", "folder"), file("big.json", "scenario training big, 3 kB")];
    bench.fact(Fact::Folder(Listing { folder: folder.clone(), entries }));
    let lines = palette::lines(&bench.app, "open jobs/");
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["open jobs/", "open jobs/old/", "open jobs/big.json"]);
    assert!(lines[0].complete && !lines[1].complete && lines[2].help.starts_with("scenario training"));
    bench.text("bi").keys("Down Tab");
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("the palette is open") };
    assert_eq!(list.field.text(), "open jobs/big.json");
    bench.keys("Enter");
    let opened = |effect: &Effect| matches!(effect, Effect::Open(crate::app::effect::Source::File(path)) if path.ends_with("jobs/big.json"));
    assert!(bench.effects.iter().any(opened), "{:?}", bench.effects);
    // A listing of another folder is not used.
    bench.keys("Space o");
    bench.fact(Fact::Folder(Listing { folder, entries: vec![file("x.json", "")] }));
    assert!(palette::lines(&bench.app, "open ").iter().all(|line| !line.text.contains("x.json")));
}

#[test]
fn an_error_opens_whole_with_the_next_enter_only() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("bandwidth_gbps=-1".to_owned())));
    let message = bench.last_message().to_owned();
    bench.keys("Enter");
    let Some(Layer::Text(view)) = bench.app.layers.last() else { panic!("the message is open") };
    assert_eq!((view.title.as_str(), &view.lines[..]), ("Error", &[message][..]));
    bench.keys("Esc Enter");
    assert!(!matches!(bench.app.layers.last(), Some(Layer::Text(_))));
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("bandwidth_gbps=-1".to_owned()))).keys("1 Enter");
    assert!(!matches!(bench.app.layers.last(), Some(Layer::Text(_))));
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("bandwidth_gbps=-1".to_owned()))).keys("L Enter");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Text(view)) if view.title == "Error"));
}

#[test]
fn search_moves_the_selection_in_panes_lists_and_help() {
    let mut bench = Bench::open();
    bench.keys("Space f /").text("bandwidth").keys("Enter");
    let name = |bench: &Bench| {
        let row = bench.app.pane(PaneId::Params).selected.unwrap();
        bench.app.work.as_ref().unwrap().row(row).unwrap().name
    };
    let first = name(&bench);
    assert!(bench.last_message().starts_with("match 1 of "), "{}", bench.last_message());
    bench.keys("n N");
    assert_eq!(name(&bench), first);
    bench.keys("/").text("zzz").keys("Enter");
    assert!(bench.last_message().starts_with("'zzz' is not among"), "{}", bench.last_message());
    bench.keys("/ Esc");
    assert!(bench.app.layers.is_empty());
    bench.keys("L /").text("is open").keys("Enter");
    let Some(Layer::Log(list)) = bench.app.layers.last() else { panic!("the log is open") };
    let found = bench.app.log.iter().rev().nth(list.selected).unwrap();
    assert!(found.text.contains("is open"), "{}", found.text);
    bench.keys("Esc ?").text("/zoom");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Help(list)) if list.field.text() == "zoom"));
}

/// Records to a file that exists already or not.
fn record(bench: &mut Bench, name: &str, exists: bool) {
    bench.keys(":").text(&format!("record {name}")).keys("Enter");
    let path = PathBuf::from(format!("/tmp/lightbay-test/{name}"));
    assert_eq!(bench.effects, [Effect::CheckRecording(path.clone())]);
    bench.fact(Fact::RecordingChecked { path, exists, problem: None });
}

/// Returns path and text of the recording that is written.
pub fn written(bench: &Bench) -> Option<(PathBuf, String)> {
    bench.effects.iter().find_map(|effect| match effect {
        Effect::Export(job) => match &job.subject {
            ExportSubject::Text(text) => Some((job.path.clone(), text.clone())),
            _ => None,
        },
        _ => None,
    })
}

fn exported(path: PathBuf) -> Fact {
    Fact::Exported { path, bytes: 1, files: 1, rollbacks: 0, remarks: Vec::new() }
}

#[test]
fn a_recording_is_kept_until_its_file_is_written() {
    let mut bench = Bench::open();
    let lost = Some("the folder /nodir does not exist".to_owned());
    bench.fact(Fact::RecordingChecked { path: "/nodir/a.keys".into(), exists: false, problem: lost });
    assert!(bench.app.recording.is_none() && bench.last_message().contains("/nodir does not exist"));
    record(&mut bench, "a.keys", false);
    bench.keys("z").keys(":").text("stop_recording").keys("Enter");
    assert!(written(&bench).is_some());
    bench.fact(Fact::Failed("a.keys: no space".to_owned()));
    assert!(bench.last_message().contains(":record FILE"), "{}", bench.last_message());
    // Later keys do not belong to it.
    bench.keys("Enter Esc b");
    bench.keys(":").text("record b.keys").keys("Enter");
    let (path, text) = written(&bench).expect("the kept keys are written");
    assert!(path.ends_with("b.keys") && text.ends_with("\nz\n"), "{text}");
    bench.fact(exported(path));
    assert!(bench.app.recording.is_none() && bench.app.unwritten_keys().is_none());
}

#[test]
fn an_existing_recording_is_replaced_only_after_a_question_at_the_start() {
    let mut bench = Bench::open();
    record(&mut bench, "a.keys", true);
    bench.keys("Enter");
    assert!(bench.app.recording.is_none(), "the safe answer comes first");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Palette(list)) if list.field.text() == "record "));
    bench.keys("Esc");
    record(&mut bench, "a.keys", true);
    bench.keys("y z q");
    let job = bench.app.unwritten_keys().expect("the end of the program writes the keys");
    assert!(job.overwrite, "the user agreed");
    assert!(matches!(&job.subject, ExportSubject::Text(text) if text.ends_with("\nz\n")), "{job:?}");
}

#[test]
fn the_copied_command_sets_a_model_without_the_values_that_follow_from_it() {
    let mut bench = Bench::open();
    bench.act(Action::Do(Command::Set("model=llama_3_1_8b".to_owned()))).keys("C");
    let command = copied(&bench);
    assert_eq!(command, "lightbay solve preset:tiny4 --method auto --set model=llama_3_1_8b");
    bench.act(Action::Do(Command::Set("seq=8192".to_owned()))).keys("C");
    let command = copied(&bench);
    assert!(command.contains("--set model=llama_3_1_8b") && command.contains("--set seq=8192"), "{command}");
    assert_eq!(sha_of(&command), bench.app.work.as_ref().unwrap().now.sha256);
}

#[test]
fn warnings_about_what_is_opened_are_read_with_enter() {
    let mut bench = Bench::start();
    bench.app.warnings = vec!["config.toml: line 2: 'undoo' is unknown".to_owned()];
    bench.fact(Fact::Opened(Box::new(Opened {
        source: "hall.csv".to_owned(),
        scenario: scenario(),
        plans: Vec::new(),
        events: Vec::new(),
        remembered: None,
        session: SessionView::default(),
        notes: vec![(Severity::Info, "the installed circuits become the target".to_owned())],
        solve: None,
    })));
    assert!(bench.last_message().contains("undoo"), "the warning comes after 'is open'");
    bench.keys("Enter");
    let Some(Layer::Text(view)) = bench.app.layers.last() else { panic!("both are shown") };
    let text = view.lines.join("\n");
    assert!(text.contains("installed circuits") && text.contains("Warning: config.toml"), "{text}");
    bench.keys("Esc Enter");
    assert!(!matches!(bench.app.layers.last(), Some(Layer::Text(_))), "Enter opens them once");
}

#[test]
fn a_value_that_is_there_already_is_no_change() {
    let mut bench = Bench::open();
    bench.keys(":").text("set seq=4096").keys("Enter");
    assert_eq!(bench.last_message(), "seq is 4096 already");
    bench.keys(":").text("set seq=4096 bandwidth_gbps=400").keys("Enter");
    assert_eq!(bench.last_message(), "all of them have these values already");
    bench.keys("u");
    assert_eq!(bench.last_message(), "nothing is left to undo");
    bench.keys(":").text("set seq=4096 bandwidth_gbps=800").keys("Enter").keys("u");
    assert!(bench.last_message().starts_with("undone: bandwidth_gbps 800 → 400"), "{}", bench.last_message());
}

#[test]
fn an_unknown_name_among_several_settings_is_the_one_that_is_told() {
    let mut bench = Bench::open();
    bench.keys(":").text("set seq=8192 nope=3").keys("Enter");
    assert!(bench.last_message().starts_with("nope: is not a parameter"), "{}", bench.last_message());
    bench.keys(":").text("set name=job a=b").keys("Enter");
    assert_eq!(bench.app.work.as_ref().unwrap().now.scenario.name(), "job a=b");
}

#[test]
fn a_typed_folder_lists_its_files_and_opens_none() {
    let mut bench = Bench::open();
    let file = |name: &str| ListedFile { name: name.to_owned(), about: String::new() };
    bench.keys(":").text("open o");
    bench.fact(Fact::Folder(Listing {
        folder: "/tmp/lightbay-test/".into(),
        entries: vec![file("o/"), file("o.json")],
    }));
    bench.keys("Enter");
    assert!(matches!(bench.app.layers.last(), Some(Layer::Palette(list)) if list.field.text() == "open o/"));
    bench.fact(Fact::Folder(Listing {
        folder: "/tmp/lightbay-test/o/".into(),
        entries: vec![file("j1.json")],
    }));
    bench.keys("Enter");
    assert!(bench.effects.contains(&Effect::Open(Source::File("/tmp/lightbay-test/o/".into()))));
    bench.fact(Fact::IsFolder("/tmp/lightbay-test/o/".to_owned()));
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("lists the folder") };
    assert_eq!(list.field.text(), "open /tmp/lightbay-test/o/");
    assert!(!list.field.problem.is_empty());
    bench.fact(Fact::Folder(Listing {
        folder: "/tmp/lightbay-test/o/".into(),
        entries: vec![file("j1.json")],
    }));
    bench.keys("Down Enter");
    let opened = Effect::Open(Source::File("/tmp/lightbay-test/o/j1.json".into()));
    assert!(bench.effects.contains(&opened), "{:?}", bench.effects);
}

#[test]
fn plans_are_found_and_shown_by_their_names() {
    let mut bench = Bench::open();
    bench.keys("r");
    let run = bench.accept(false);
    bench.replay(run, "delta-fast", 1);
    let number = bench.app.plans.shown().unwrap().number;
    bench.keys(":").text("name_plan alpha").keys("Enter");
    assert!(
        palette::lines(&bench.app, "alpha").iter().any(|line| line.text == format!("show_plan {number}"))
    );
    bench.keys("Space t /").text("alpha").keys("Enter");
    assert!(bench.last_message().starts_with("match 1 of 1"), "{}", bench.last_message());
    bench.act(Action::Do(Command::Open("session:tiny4/alpha".to_owned())));
    assert_eq!(bench.app.plans.shown, crate::app::plans::Shown::Chosen(number));
    bench.act(Action::Do(Command::Open("session:tiny4/beta".to_owned())));
    assert!(bench.last_message().starts_with("no plan is called 'beta'"), "{}", bench.last_message());
}

#[test]
fn a_preset_is_found_as_the_command_line_writes_it() {
    let bench = Bench::open();
    let lines = palette::lines(&bench.app, "preset:tiny4");
    assert!(lines.iter().any(|line| line.text == "new tiny4"), "{lines:?}");
}

#[test]
fn recorded_keys_are_written_and_replayed() {
    let mut bench = Bench::open();
    record(&mut bench, "demo.keys", false);
    bench.keys("1 z :").text("set seq=8192").keys("Enter");
    bench.act(Action::Mouse(Mouse { what: MouseKind::Press, x: 3, y: 1 }));
    bench.keys(":").text("stop_recording").keys("Enter");
    let (path, text) = written(&bench).expect("the keys are written");
    assert!(path.ends_with("demo.keys"));
    assert!(text.ends_with("1\nz\n:\ntype set seq=8192\nEnter\nmouse press 3 1\n"), "{text}");
    bench.fact(exported(path));
    assert!(bench.app.recording.is_none());
    let mut other = Bench::open();
    other.keys(":").text("script demo.keys").keys("Enter");
    assert_eq!(other.effects, [Effect::ReadScript("/tmp/lightbay-test/demo.keys".into())]);
    other.fact(Fact::Script { name: "demo.keys".to_owned(), text: Ok(text.clone()) });
    for _ in 0..40 {
        other.wait(Duration::from_millis(50));
    }
    assert!(other.app.focus.zoomed && other.app.playing.is_none());
    let seq = other.app.setting("seq").and_then(|value| value.as_f64());
    assert_eq!((seq, other.last_message()), (Some(8192.0), "demo.keys was replayed"));
    // A key of the user stops the replay.
    other.fact(Fact::Script { name: "demo.keys".to_owned(), text: Ok(text) }).keys("x");
    assert!(other.app.playing.is_none() && other.last_message().starts_with("stopped replaying"));
    other.fact(Fact::Script { name: "bad.keys".to_owned(), text: Ok("Entr".to_owned()) });
    assert!(
        other.last_message().starts_with("bad.keys cannot be replayed: line 1"),
        "{}",
        other.last_message()
    );
}

#[test]
fn a_script_waits_for_the_end_of_runs() {
    let mut bench = Bench::open();
    bench.fact(Fact::Script { name: "a".to_owned(), text: Ok("r\nwait idle\nz\n".to_owned()) });
    bench.wait(Duration::from_millis(50));
    let run = bench.accept(false);
    for _ in 0..20 {
        bench.wait(Duration::from_millis(150));
    }
    assert!(!bench.app.focus.zoomed && bench.app.playing.is_some());
    bench.replay(run, "delta-fast", 1);
    for _ in 0..5 {
        bench.wait(Duration::from_millis(150));
    }
    assert!(bench.app.focus.zoomed);
}

#[test]
fn a_failed_opening_names_the_file_once() {
    let mut bench = Bench::start();
    let problems = vec!["a/b.json: line 1: is not JSON".to_owned()];
    bench.fact(Fact::OpenFailed { source: "a/b.json".to_owned(), problems });
    assert_eq!(bench.last_message(), "a/b.json could not be opened: line 1: is not JSON");
}

#[test]
fn letters_of_a_description_do_not_choose_an_action() {
    let bench = Bench::open();
    for typed in ["foo bar", "blort", "set the thing"] {
        let lines = palette::lines(&bench.app, typed);
        let chosen = palette::choose(typed, lines.first());
        assert!(!matches!(chosen, palette::Chosen::Run(Command::Baseline)), "{typed}: {chosen:?}");
    }
    assert!(palette::lines(&bench.app, "foo bar").is_empty());
    // Whole words of a description are still found.
    assert!(palette::lines(&bench.app, "undo").iter().any(|line| line.text == "undo"));
}

#[test]
fn a_long_value_is_typed_without_delay_and_a_very_long_one_is_refused() {
    let mut bench = Bench::open();
    let value = "17 ".repeat(3000);
    bench.keys(":").text("set seq=");
    let begun = std::time::Instant::now();
    bench.act(Action::Paste(value.clone()));
    let Some(Layer::Palette(list)) = bench.app.layers.last() else { panic!("no palette") };
    let typed = list.field.text().to_owned();
    assert_eq!(typed.trim_end(), format!("set seq={}", value.trim_end()));
    let lines = palette::lines(&bench.app, &typed);
    assert!(lines.first().is_some_and(|line| line.text.starts_with("set seq=17 17")));
    assert!(palette::lines(&bench.app, &"17 ".repeat(3000)).is_empty());
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    bench.act(Action::Paste(value));
    assert!(bench.last_message().contains("at most 10000 characters"), "{}", bench.last_message());
    // The last of several assignments is completed.
    let lines = palette::lines(&bench.app, "set seq=8192 bandw");
    assert!(lines.iter().any(|line| line.text == "set seq=8192 bandwidth_gbps="), "{lines:?}");
}
