//! Files for people and other programs are read back by other readers and say what the plan says.

use super::support::{measured_job, one, settings, solve};
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::analysis::Analysis;
use lightbay_engines::training::plan::TrainingResult;
use lightbay_engines::training::simulate::evaluate::{Rates, Scratch};
use lightbay_engines::{AnyPlan, AnyScenario, Artifact, Subject, apply, export, preset};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

const SHORT: &str = "generations=10 islands=2";

fn body(plan: &AnyPlan) -> (&TrainingScenario, &TrainingResult) {
    let AnyPlan::Training(plan) = plan else { panic!("a training plan") };
    (&plan.plan().scenario.body, &plan.plan().result)
}

fn explained(plan: &AnyPlan) -> Analysis {
    let (scenario, result) = body(plan);
    Analysis::new(scenario, result).unwrap()
}

/// Plans of jobs and instances, with rates of their own and without, of one replica of several kinds.
fn plans() -> Vec<AnyPlan> {
    let instance = measured_job();
    let instance = export(Subject::Scenario(&instance), "expanded", &[]).unwrap();
    let instance = match lightbay_engines::read_file(instance[0].bytes.as_slice(), "expanded").unwrap() {
        lightbay_engines::AnyFile::Scenario(scenario) => scenario,
        lightbay_engines::AnyFile::Plan(_) => panic!("a plan"),
    };
    let mut plans: Vec<AnyPlan> = ["tiny4", "small", "mixtral_8x22b", "megatron_177b", "one_stage_per_pod"]
        .into_iter()
        .zip(["delta-joint", "delta-topo", "delta-joint", "delta-level", "delta-joint"])
        .map(|(name, method)| solve(&preset(name).unwrap(), method, SHORT))
        .collect();
    plans.push(solve(&measured_job(), "delta-joint", SHORT));
    plans.push(solve(&instance, "iter-halve", ""));
    plans.push(solve(&preset("small").unwrap().renamed("=a, \"b\" | <c> & d"), "prop-alloc", ""));
    plans.push(solve(&alone(), "delta-joint", ""));
    plans
}

/// A job in one pod: nothing crosses pods.
fn alone() -> AnyScenario {
    let one_pod = settings("gpus=8 gpus_per_pod_per_replica=8");
    apply(&preset("tiny4").unwrap(), "delta-joint", &one_pod).unwrap().0
}

fn files(subject: Subject<'_>, format: &str, text: &str) -> Vec<Artifact> {
    export(subject, format, &settings(text)).unwrap_or_else(|problems| panic!("{format} {text}: {problems}"))
}

fn text(plan: &AnyPlan, format: &str, knobs: &str) -> String {
    String::from_utf8(one(files(Subject::Plan(plan), format, knobs)).bytes).unwrap()
}

/// A CSV file as its columns by name.
struct Csv {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Csv {
    fn read(text: &str) -> Self {
        let mut lines = text.lines().map(fields);
        let columns = lines.next().unwrap();
        let rows: Vec<Vec<String>> = lines.collect();
        assert!(rows.iter().all(|row| row.len() == columns.len()), "{text}");
        Self { columns, rows }
    }

    fn column(&self, name: &str) -> impl Iterator<Item = &str> {
        let at = self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name}"));
        self.rows.iter().map(move |row| row[at].as_str())
    }

    fn whole(&self, name: &str) -> Vec<i64> {
        self.column(name).map(|field| field.parse().unwrap_or_else(|_| panic!("{name}: {field}"))).collect()
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        self.column(name).map(|field| field.parse().unwrap()).collect()
    }
}

fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    assert!(!quoted, "{line}");
    all.push(field);
    all
}

#[test]
fn sums_of_the_tables_are_the_volumes_of_the_plan() {
    for plan in plans() {
        for replicas in ["one", "all"] {
            let name = plan.header().name;
            let table =
                |table: &str| Csv::read(&text(&plan, "csv", &format!("table={table} replicas={replicas}")));
            let (tasks, segments) = (table("tasks"), table("segments"));
            let (scenario, result) = body(&plan);
            let total: i64 = tasks.whole("bytes").iter().sum();
            // What the kind itself tells others of its traffic, over all replicas.
            let known: f64 = lightbay_training::files::handover::traffic(scenario)
                .unwrap()
                .entries
                .iter()
                .map(|entry| entry.2)
                .sum();
            let of_one = tasks.rows.len() == result.tasks.len();
            assert!(of_one || replicas == "all", "{name}");
            if replicas == "all" {
                assert!((total as f64 - known).abs() <= 1e-9 * known, "{name}: {total} {known}");
            }
            let mut sent: BTreeMap<i64, i64> = BTreeMap::new();
            for (task, bytes) in segments.whole("task").into_iter().zip(segments.whole("bytes")) {
                assert!(bytes >= 0, "{name}");
                *sent.entry(task).or_default() += bytes;
            }
            assert_eq!(sent.into_values().collect::<Vec<_>>(), tasks.whole("bytes"), "{name}");
            for ((rate, bytes), (start, end)) in segments
                .numbers("rate_gbps")
                .into_iter()
                .zip(segments.whole("bytes"))
                .zip(segments.numbers("start_s").into_iter().zip(segments.numbers("end_s")))
            {
                assert!((rate * 1e9 / 8.0 * (end - start) - bytes as f64).abs() <= 1.0, "{name}");
            }
            let traffic = table("traffic");
            assert_eq!(traffic.whole("bytes").iter().sum::<i64>(), total, "{name}");
            let dense = table("traffic_dense");
            assert_eq!(dense.columns[1..], dense.column("bytes from").collect::<Vec<_>>(), "{name}");
            for ((from, to), bytes) in
                traffic.column("src").zip(traffic.column("dst")).zip(traffic.whole("bytes"))
            {
                let row = dense.column("bytes from").position(|pod| pod == from).unwrap();
                assert_eq!(dense.whole(to)[row], bytes, "{name}");
            }
            let all_cells: i64 = dense.columns[1..].iter().flat_map(|pod| dense.whole(pod)).sum();
            assert_eq!(all_cells, total, "{name}");
            let circuits = table("circuits");
            let carried: i64 = ["bytes_ab", "bytes_ba"].iter().flat_map(|way| circuits.whole(way)).sum();
            assert_eq!(carried, total, "{name}");
            if of_one {
                let planned: Vec<i64> = result.circuits().into_iter().map(i64::from).collect();
                assert_eq!(circuits.whole("circuits"), planned, "{name}");
                let finish: Vec<f64> = result.tasks.iter().map(|task| task.finish_s).collect();
                assert_eq!(tasks.numbers("finish_s"), finish, "times lose nothing");
            }
        }
    }
}

#[test]
fn tables_of_a_scenario_are_those_that_need_no_plan() {
    let scenario = preset("tiny4").unwrap();
    let names: Vec<String> =
        files(Subject::Scenario(&scenario), "csv", "").into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["tiny4.tasks.csv", "tiny4.traffic.csv", "tiny4.traffic_dense.csv"]);
    let refusal = export(Subject::Scenario(&scenario), "csv", &settings("table=circuits")).unwrap_err();
    assert!(refusal.to_string().contains("exists only for a plan"), "{refusal}");
    let plan = solve(&scenario, "delta-joint", "");
    let names: Vec<String> =
        files(Subject::Plan(&plan), "csv", "").into_iter().map(|file| file.name).collect();
    let all = ["tasks", "segments", "circuits", "traffic", "traffic_dense"];
    assert_eq!(names, all.map(|table| format!("tiny4.{table}.csv")));
    // Worked out by hand: twice 5460983808 and 4831838208 bytes of exchange, eight sends.
    let of_scenario = one(files(Subject::Scenario(&scenario), "csv", "table=traffic"));
    assert_eq!(
        String::from_utf8(of_scenario.bytes).unwrap(),
        "src,dst,bytes\np0,p1,134217728\np0,ring-p0,10292822016\np1,p0,134217728\np1,ring-p1,10292822016\n"
    );
}

#[test]
fn graphml_is_read_by_an_xml_parser() {
    for plan in plans() {
        let analysis = explained(&plan);
        let instance = &analysis.setting.instance;
        for (what, nodes, edges) in [
            ("topology", instance.pods.len(), instance.links.len()),
            ("dag", instance.tasks.len(), instance.edges.len()),
        ] {
            let text = text(&plan, "graphml", &format!("what={what}"));
            let document = roxmltree::Document::parse(&text).unwrap();
            let all = |name: &'static str| {
                document.descendants().filter(move |node| node.tag_name().name() == name).collect::<Vec<_>>()
            };
            assert_eq!((all("node").len(), all("edge").len()), (nodes, edges));
            let keys: BTreeMap<&str, &str> = all("key")
                .iter()
                .map(|key| (key.attribute("attr.name").unwrap(), key.attribute("id").unwrap()))
                .collect();
            let value = |node: &roxmltree::Node<'_, '_>, name: &str| -> String {
                let key = keys[name];
                let data = node.children().find(|data| data.attribute("key") == Some(key)).unwrap();
                data.text().unwrap_or_default().to_owned()
            };
            let ids: BTreeSet<String> =
                all("node").iter().map(|node| node.attribute("id").unwrap().to_owned()).collect();
            for edge in all("edge") {
                assert!(["source", "target"].iter().all(|end| ids.contains(edge.attribute(*end).unwrap())));
            }
            if what == "topology" {
                for ((edge, link), known) in all("edge").iter().zip(&instance.links).zip(&analysis.links) {
                    assert_eq!(value(edge, "circuits"), known.circuits.to_string());
                    let capacity: f64 = value(edge, "capacity_gbps").parse().unwrap();
                    assert_eq!(capacity, f64::from(known.circuits) * instance.nic_bandwidth_gbps);
                    assert_eq!(edge.attribute("source"), Some(link.pod_a.0.to_string().as_str()));
                }
            } else {
                let critical = all("node").iter().filter(|node| value(node, "critical") == "1").count();
                assert_eq!(critical, analysis.path.len());
                let finish: f64 = all("node")
                    .iter()
                    .map(|node| value(node, "finish_s").parse().unwrap())
                    .fold(0.0, f64::max);
                assert!(finish <= analysis.makespan_s);
            }
        }
    }
}

/// Nodes and edges of a DOT file, each with its attributes: one statement per line, values in quotes.
type Statements = (BTreeMap<String, BTreeMap<String, String>>, Vec<(String, String)>);

fn read_dot(text: &str) -> Statements {
    let (mut nodes, mut edges) = (BTreeMap::new(), Vec::new());
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let arrow = if head.starts_with("digraph ") { " -> " } else { " -- " };
    assert!(head.starts_with("graph ") || head.starts_with("digraph "), "{head}");
    assert!(head.ends_with(" {") && text.contains("}\n// left out of this format: "));
    for line in lines.filter(|line| *line != "}" && !line.starts_with("//")) {
        let statement = line.trim().strip_suffix(';').unwrap_or_else(|| panic!("{line}"));
        let (ends, list) = statement.split_once(" [").unwrap_or((statement, "]"));
        if ends.contains('=') {
            continue;
        }
        let attributes = attributes(list.strip_suffix(']').unwrap());
        match ends.split_once(arrow) {
            Some((from, to)) => edges.push((from.to_owned(), to.to_owned())),
            None => {
                nodes.insert(ends.to_owned(), attributes);
            }
        }
    }
    (nodes, edges)
}

fn attributes(list: &str) -> BTreeMap<String, String> {
    let mut rest = list;
    let mut all = BTreeMap::new();
    while let Some((name, tail)) = rest.split_once("=\"") {
        let (mut value, mut letters) = (String::new(), tail.char_indices());
        let end = loop {
            match letters.next().unwrap() {
                (_, '\\') => value.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    other => other,
                }),
                (at, '"') => break at,
                (_, other) => value.push(other),
            }
        };
        all.insert(name.trim_start_matches([',', ' ']).to_owned(), value);
        rest = &tail[end + 1..];
    }
    assert!(rest.is_empty(), "{list}");
    all
}

/// Picture that Graphviz makes of a file; `None` where it is not installed.
fn graphviz(text: &str) -> Option<String> {
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was not tested")]
fn dot_is_read_by_graphviz() {
    for plan in plans() {
        let analysis = explained(&plan);
        let instance = &analysis.setting.instance;
        for what in ["topology", "dag"] {
            let text = text(&plan, "dot", &format!("what={what}"));
            let (nodes, edges) = read_dot(&text);
            let (labels, joined): (Vec<&str>, Vec<(u32, u32)>) = if what == "topology" {
                (
                    instance.pods.iter().map(|pod| pod.name.as_str()).collect(),
                    instance.links.iter().map(|link| (link.pod_a.0, link.pod_b.0)).collect(),
                )
            } else {
                (
                    instance.tasks.iter().map(|task| task.name.as_str()).collect(),
                    instance.edges.iter().map(|edge| (edge.pred.0, edge.succ.0)).collect(),
                )
            };
            assert_eq!(nodes.len(), labels.len());
            for (index, label) in labels.iter().enumerate() {
                assert_eq!(nodes[&index.to_string()]["label"].lines().next(), Some(*label));
            }
            let written: Vec<(u32, u32)> =
                edges.iter().map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap())).collect();
            assert_eq!(written, joined);
            // Drawing takes long where there are many.
            if nodes.len() > 60 {
                continue;
            }
            let Some(drawn) = graphviz(&text) else {
                eprintln!("dot is not installed: read by the reader of this test alone");
                continue;
            };
            let start = drawn.find("<svg").unwrap();
            let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
            let document = roxmltree::Document::parse_with_options(&drawn[start..], options).unwrap();
            let of = |class: &str| {
                document.descendants().filter(|node| node.attribute("class") == Some(class)).count()
            };
            assert_eq!((of("node"), of("edge")), (nodes.len(), edges.len()));
        }
    }
}

#[test]
fn the_picture_is_sound_and_stands_alone() {
    for plan in plans() {
        let name = plan.header().name;
        let text = text(&plan, "svg", "");
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        let size = |side: &str| root.attribute(side).unwrap().parse::<f64>().unwrap();
        let (width, height) = (size("width"), size("height"));
        let words: Vec<String> = document
            .descendants()
            .filter(|node| node.tag_name().name() == "text")
            .map(|node| {
                for (side, most) in [("x", width), ("y", height)] {
                    let at: f64 = node.attribute(side).unwrap().parse().unwrap();
                    assert!((0.0..=most).contains(&at), "{name}: {:?} at {side} {at}", node.text());
                }
                node.text().unwrap_or_default().to_owned()
            })
            .collect();
        for node in
            document.descendants().filter(|node| node.has_attribute("width") && node.has_attribute("x"))
        {
            let number = |side: &str| node.attribute(side).unwrap().parse::<f64>().unwrap();
            assert!(number("x") >= 0.0 && number("x") + number("width") <= width + 0.02, "{name}");
            assert!(number("y") >= 0.0 && number("y") + number("height") <= height + 0.02, "{name}");
        }
        // Nothing is loaded, no script runs, and what is filled with a pattern finds it.
        for element in ["script", "image", "use", "style", "foreignObject"] {
            assert!(
                document.descendants().all(|node| node.tag_name().name() != element),
                "{name}: {element}"
            );
        }
        let ids: BTreeSet<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        for fill in document.descendants().filter_map(|node| node.attribute("fill")) {
            if let Some(id) = fill.strip_prefix("url(#") {
                assert!(ids.contains(id.trim_end_matches(')')), "{name}: {fill}");
            }
        }
        let analysis = explained(&plan);
        for (link, known) in analysis.setting.instance.links.iter().zip(&analysis.links) {
            let pod = &analysis.setting.instance.pods[link.pod_a.index()].name;
            assert!(words.iter().any(|text| text == pod), "{name}: {pod}");
            assert!(words.contains(&known.circuits.to_string()), "{name}");
        }
        assert!(words.iter().any(|text| text.contains("An iteration takes")), "{name}");
    }
}

/// The tables of a Markdown file: rows of cells, the head first.
fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if !line.starts_with('|') {
            inside = false;
            continue;
        }
        if !inside {
            tables.push(Vec::new());
        }
        inside = true;
        let cells = line.trim_matches('|').replace("\\|", "\u{0}");
        let cells: Vec<String> = cells.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect();
        tables.last_mut().unwrap().push(cells);
    }
    tables
}

#[test]
fn the_report_says_what_the_plan_and_the_baselines_are() {
    for plan in plans() {
        let name = plan.header().name;
        let written = files(Subject::Plan(&plan), "markdown", "picture=beside");
        let [report, picture] = &written[..] else { panic!("{name}: {} files", written.len()) };
        assert_eq!((report.beside, picture.beside), (None, Some(".svg")), "{name}");
        assert_eq!(picture.bytes, text(&plan, "svg", "").into_bytes(), "{name}");
        let text = String::from_utf8(report.bytes.clone()).unwrap();
        assert!(text.contains(&format!("](<{}>)", picture.name)) && !text.contains("base64"), "{name}");
        let renamed = String::from_utf8(report.content_as("review.md").into_owned()).unwrap();
        assert!(renamed.contains("](<review.md.svg>)"), "{name}");
        let value = plan.header().objective.value;
        assert!(text.contains(&format!("An iteration takes {value:.6} s")), "{name}");
        let tables = tables(&text);
        for table in &tables {
            assert!(table.len() > 2, "{name}: an empty table");
            assert!(table.iter().all(|row| row.len() == table[0].len()), "{name}: {table:?}");
        }
        // Tables by a heading that no other table has.
        let headed = |head: &str| {
            let has = |table: &&Vec<Vec<String>>| table[0].iter().any(|cell| cell == head);
            tables.iter().find(has).unwrap_or_else(|| panic!("{name}: no table has '{head}': {text}"))
        };
        let analysis = explained(&plan);
        if analysis.tasks.is_empty() {
            continue;
        }
        let load = headed("holds up");
        let written: Vec<u32> = load[2..].iter().map(|row| row[2].parse().unwrap()).collect();
        assert_eq!(written, analysis.circuits, "{name}");
        // Baselines are what the methods of that name find.
        let compared = headed("by link");
        for method in ["prop-alloc", "sqrt-alloc", "iter-halve"] {
            let alone = solve(&plan.scenario(), method, "").header();
            let row = compared.iter().find(|row| row[0].contains(method)).unwrap();
            assert_eq!(row[1], format!("{:.6}", alone.objective.value), "{name} {method}");
            assert_eq!(row[2], format!("{:.4}", alone.metrics["nct"]), "{name} {method}");
        }
        let own = compared.iter().find(|row| row[0] == "this plan").unwrap();
        assert_eq!((&own[1], own[3].as_str()), (&format!("{value:.6}"), "0.000"), "{name}");
        // What tasks lose is the difference of what they take and the least.
        for row in &headed("slack of ideal ms")[2..] {
            let number = |cell: usize| row[cell].parse::<f64>().unwrap();
            let lost: f64 = (8..=10).map(number).sum();
            assert!((number(5) - number(6) - lost).abs() < 0.003, "{name}: {row:?}");
        }
    }
}

#[test]
fn the_report_says_what_is_proven_and_what_is_not() {
    let scenario = preset("tiny4").unwrap();
    let proven = text(&solve(&scenario, "delta-joint", ""), "markdown", "");
    // Worked out by hand: 450.424228 ms, NCT 1.0240, against 1.0901 under the fair rule.
    let shown = proven.split("[picture-1]: ").next().unwrap();
    let says = |text: &str| assert!(proven.contains(text), "{text}: {shown}");
    says(
        "An iteration takes 0.450424 s, NCT 1.0240, 0.001342 s more than on the ideal network, with 8 of 8 ports.",
    );
    says("Proven optimal: verified bound on makespan 0.450424 s, gap 0.00 %.");
    says("| 0.454125 | 1.0901 |");
    assert!(proven.contains("[picture-1]: data:image/svg+xml;base64,PD94bWwg"));
    assert!(!text(&solve(&scenario, "delta-joint", ""), "markdown", "picture=none").contains("![picture"));
    // Circuits 1, 3, 3: what is lost with one of those between p0 and its neighbours.
    let analysis = explained(&solve(&scenario, "delta-joint", ""));
    assert_eq!(analysis.circuits, [1, 3, 3]);
    let left = analysis.setting.evaluator.makespan(&[1, 2, 3], Rates::Best, &mut Scratch::default());
    let later = format!("{:+.3}", (left - analysis.makespan_s) * 1e3);
    let fails =
        tables(&proven).into_iter().flatten().find(|row| row.len() > 3 && row[1] == "3" && row[3] == later);
    assert!(fails.is_some(), "{later} in\n{proven}");
    let open = text(&solve(&scenario, "prop-alloc", ""), "markdown", "");
    assert!(open.contains("prop-alloc gives no bound") && !open.contains("Proven optimal"), "{open}");
}

#[test]
fn reports_of_every_kind_have_a_picture_that_is_sound_and_stands_alone() {
    for (name, method) in [
        ("tpu-random-256", "evaluate"),
        ("pt-8x8x16", "pt"),
        ("crossconnect-example", "lumos-halving"),
        ("crossconnect-64-16-25", "lumos-halving"),
        ("ndv2x2-allgather-64kb", "construct"),
        ("dgx1-allreduce-200kb", "ring"),
        ("moe-small", "mfabric-swap"),
        ("moe-mixtral_8x22b", "auto"),
        ("moe-mixtral_8x22b", "fat-tree"),
    ] {
        let set = if method == "evaluate" || method == "pt" { "routing=none" } else { "" };
        let plan = solve(&preset(name).unwrap(), method, set);
        let written = files(Subject::Plan(&plan), "markdown", "picture=beside");
        assert_eq!(written.len(), 2, "{name}");
        let page = text(&plan, "html", "");
        assert!(page.contains("data:image/svg+xml;base64,") && !page.contains("http"), "{name}");
        assert!(!text(&plan, "html", "picture=none").contains("<img"), "{name}");
        let text = String::from_utf8(written[1].bytes.clone()).unwrap();
        let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = document.root_element();
        let size = |side: &str| root.attribute(side).unwrap().parse::<f64>().unwrap();
        let (width, height) = (size("width"), size("height"));
        for node in document.descendants().filter(|node| node.has_attribute("x")) {
            let number = |side: &str| node.attribute(side).map_or(0.0, |text| text.parse::<f64>().unwrap());
            // Text is wider than it says: half of the size of its letters, each.
            let letters = node.text().unwrap_or_default().chars().count() as f64;
            let words =
                if node.has_attribute("text-anchor") { 0.0 } else { letters * number("font-size") * 0.5 };
            let right = number("x") + number("width").max(words);
            assert!(number("x") >= 0.0 && right <= width + 0.02, "{name}: {node:?}");
            assert!(
                number("y") >= 0.0 && number("y") + number("height") <= height + 0.02,
                "{name}: {node:?}"
            );
        }
        assert!(text.len() < 1 << 20, "{name}: {} bytes", text.len());
    }
    // An order of phases changes no circuit: there is nothing to draw, and a report without a picture.
    let order = solve(&preset("crossconnect-example").unwrap(), "all-to-all-order", "");
    assert!(!text(&order, "markdown", "").contains("![picture"));
    let refused = export(Subject::Plan(&order), "markdown", &settings("picture=inline")).unwrap_err();
    assert!(refused.to_string().contains("order of phases"), "{refused}");
    // A scenario that is wired is drawn, one to be designed is not.
    let wired = preset("pt-4x4x8").unwrap();
    assert_eq!(files(Subject::Scenario(&wired), "markdown", "picture=beside").len(), 2);
    let open = preset("tpu-256").unwrap();
    assert_eq!(files(Subject::Scenario(&open), "markdown", "").len(), 1);
}

#[test]
fn the_trace_has_a_slice_for_every_segment_and_none_overlap() {
    for plan in plans() {
        let name = plan.header().name;
        let value: Value = serde_json::from_str(&text(&plan, "trace", "")).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let whole = |event: &Value, key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{event}"));
        let named: BTreeSet<(u64, u64)> = events
            .iter()
            .filter(|event| event["name"] == "thread_name" || event["name"] == "process_name")
            .map(|event| (whole(event, "pid"), whole(event, "tid")))
            .collect();
        let mut rows: BTreeMap<(u64, u64), Vec<(i64, i64)>> = BTreeMap::new();
        let mut sent: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
        let mut last = 0.0_f64;
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let row = (whole(event, "pid"), whole(event, "tid"));
            assert!(named.contains(&row) && named.contains(&(row.0, 0)), "{name}: {event}");
            let [at, lasts] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
            rows.entry(row)
                .or_default()
                .push(((at * 1e3).round() as i64, ((at + lasts) * 1e3).round() as i64));
            last = last.max((at + lasts) / 1e6);
            if let Some(task) = event["args"]["task"].as_u64() {
                let (segments, bytes) = sent.entry(task).or_default();
                *segments += 1;
                *bytes += event["args"]["bytes"].as_f64().unwrap();
            }
        }
        for (row, mut slices) in rows {
            slices.sort_unstable();
            assert!(slices.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{name}: {row:?}");
        }
        let (scenario, result) = body(&plan);
        let instance = scenario.build().unwrap().instance;
        assert_eq!(sent.len(), result.tasks.len(), "{name}");
        for (task, schedule) in result.tasks.iter().enumerate() {
            let (segments, bytes) = sent[&(task as u64)];
            assert_eq!(segments, schedule.segments.len(), "{name}");
            let volume = instance.tasks[task].volume_bytes;
            assert!((bytes - volume).abs() <= 1e-6 * volume, "{name}");
        }
        // Compute and transfers of a job fill the whole iteration, and nothing is later than its end.
        let makespan = plan.header().objective.value;
        assert!(last <= makespan + 1e-6, "{name}: {last}");
        if matches!(scenario, TrainingScenario::Job(_)) {
            assert!((last - makespan).abs() < 1e-6, "{name}: {last} of {makespan}");
        }
    }
}
