//! Verdicts, and text that stays in its cells.

use super::*;
use crate::toy;
use lightbay_core::checked::BoundTrust;
use lightbay_core::problem::printable;
use lightbay_core::report::Unit;
use proptest::prelude::*;

fn header(value: f64) -> Header {
    toy::plan(value).header()
}

fn subject<'a>(label: &'a str, header: &'a Header, knobs: &'a [(String, ParamValue)]) -> ComparedPlan<'a> {
    let standing = Standing::of::<toy::Toy>(header, BoundTrust::Claimed, [], false);
    // Lives as long as the test.
    let standing = Box::leak(Box::new(standing));
    ComparedPlan { label, header, standing, knobs, other_question: None, apart: None }
}

const WEIGHT: MetricInfo = MetricInfo::gain("weight", "weight", Unit::NUMBER, "");

fn knobs(bandwidth: f64) -> Vec<(String, ParamValue)> {
    vec![("zeta".to_owned(), ParamValue::Int(4)), ("bandwidth_gbps".to_owned(), ParamValue::Float(bandwidth))]
}

#[test]
fn what_differs_comes_first_and_figures_have_sign_percent_and_verdict() {
    let (a, mut b) = (header(2.0), header(1.5));
    b.parameters.set("gap", ParamValue::Float(0.01));
    b.method = "delta-joint".to_owned();
    b.objective.bound = Some(1.25);
    let (ka, mut kb) = (knobs(400.0), knobs(800.0));
    kb[0].1 = ParamValue::Float(4.0);
    let table = compare(&[subject("a", &a, &ka), subject("b", &b, &kb)], TOLERANCE, &[WEIGHT]).unwrap();
    let settings: Vec<(Scope, &str)> =
        table.settings.iter().map(|row| (row.scope, row.name.as_str())).collect();
    assert_eq!(
        settings,
        [(Scope::Scenario, "bandwidth_gbps"), (Scope::Parameter, "gap"), (Scope::Plan, "method")],
        "4 and 4.0 are the same"
    );
    assert_eq!(table.settings[1].values, [None, Some(ParamValue::Float(0.01))]);
    let names: Vec<&str> = table.figures.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["cost", "bound", "gap", "weight", "elapsed_s"]);
    assert_eq!(
        table.figures[0].changes,
        [Some(MetricChange { difference: -0.5, percent: Some(-25.0), verdict: Verdict::Better })]
    );
    assert_eq!(table.figures[1].changes, [None], "the reference has no bound");
    assert_eq!(table.figures[3].changes[0].unwrap().verdict, Verdict::Worse);
    assert_eq!(table.figures[4].changes[0].unwrap().verdict, Verdict::Tie);
}

#[test]
fn only_outcomes_are_judged() {
    let (mut a, mut b) = (header(2.0), header(1.5));
    // Both bounds are below the values, which no plan beats.
    for (header, figure) in [(&mut a, 1.0), (&mut b, 1.25)] {
        header.objective.bound = Some(figure);
        header.objective.gap = Some(figure);
        header.provenance.elapsed_s = figure;
        header.metrics = ["result", "restated", "bound", "input", "nobody knows"]
            .map(|name| (name.to_owned(), figure))
            .into();
    }
    let infos = [
        MetricInfo::gain("result", "result", Unit::NUMBER, ""),
        MetricInfo::restated("restated", "restated", Unit::NUMBER, Sense::Min, ""),
        // A sense does not make a bound an outcome.
        MetricInfo { sense: Some(Sense::Max), ..MetricInfo::bound("bound", "bound", Unit::NUMBER, "") },
        MetricInfo { sense: Some(Sense::Min), ..MetricInfo::input("input", "input", Unit::NUMBER, "") },
    ];
    let table = compare(&[subject("a", &a, &[]), subject("b", &b, &[])], TOLERANCE, &infos).unwrap();
    let verdict = |name: &str| {
        let figure = table.figures.iter().find(|figure| figure.name == name).unwrap();
        (figure.role, figure.changes[0].unwrap().verdict)
    };
    for (name, expected) in [
        ("cost", (Role::Result, Verdict::Better)),
        ("result", (Role::Result, Verdict::Better)),
        ("restated", (Role::Restated, Verdict::Worse)),
        ("bound", (Role::Bound, Verdict::Different)),
        ("gap", (Role::Bound, Verdict::Different)),
        ("input", (Role::Input, Verdict::Different)),
        ("elapsed_s", (Role::Effort, Verdict::Different)),
        ("nobody knows", (Role::Result, Verdict::Different)),
    ] {
        assert_eq!(verdict(name), expected, "{name}");
    }
}

#[test]
fn a_plan_that_answers_another_question_is_listed_and_not_ranked() {
    let (a, b, c) = (header(2.0), header(0.0), header(1.0));
    let other = ComparedPlan { other_question: Some("it moves nothing"), ..subject("b", &b, &[]) };
    let plain = [subject("a", &a, &[]), subject("c", &c, &[])];
    let table = compare(&[plain[0], other, plain[1]], TOLERANCE, &[]).unwrap();
    let verdicts = |table: &CompareTable| {
        table.figures[0].changes.iter().map(|change| change.unwrap().verdict).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&table), [Verdict::Different, Verdict::Better]);
    let sentences: Vec<String> = table.not_ranked.iter().map(NotRanked::sentence).collect();
    let method = &b.method;
    assert_eq!(
        sentences,
        [format!("b is not ranked: {method} solves a different problem (it moves nothing).")]
    );
    assert!(table.to_markdown().contains(" is not ranked: "));
    let json: serde_json::Value = serde_json::to_value(&table).unwrap();
    assert_eq!(json["not_ranked"][0]["label"], "b");
    // Against such a plan nothing is better or worse.
    let table = compare(&[other, plain[0]], TOLERANCE, &[]).unwrap();
    assert_eq!(verdicts(&table), [Verdict::Different]);
}

/// Two models of 80 and 72 layers with halved times, and one parameter that was varied.
#[test]
fn plans_of_another_scenario_are_listed_with_every_difference_and_not_ranked() {
    let (a, b, c) = (header(2.0), header(1.5), header(1.0));
    let (ka, kc) = (knobs(400.0), knobs(800.0));
    let row = |name: &str, a: &str, b: &str| (name.to_owned(), [a.to_owned(), b.to_owned()]);
    let fields = vec![
        row("model.layers", "80", "72"),
        row("times", "80 values, sum 3.1", "80 values, 12 differ, sum 1.6"),
        row("loads", "-", "8 values, 8 differ, sum 1"),
    ];
    let other = Apart { fields, ..Apart::default() };
    let varied = Apart::default();
    let first = subject("a", &a, &ka);
    let of = |other, plan| ComparedPlan { apart: Some(other), ..plan };
    let table = compare(
        &[first, of(&other, subject("b", &b, &ka)), of(&varied, subject("c", &c, &kc))],
        TOLERANCE,
        &[],
    )
    .unwrap();
    let verdicts: Vec<Verdict> =
        table.figures[0].changes.iter().map(|change| change.unwrap().verdict).collect();
    assert_eq!(verdicts, [Verdict::Different, Verdict::Better]);
    let text = |text: &str| Some(ParamValue::Text(text.to_owned()));
    let rows: Vec<_> = table.settings.iter().map(|row| (row.name.as_str(), row.values.clone())).collect();
    assert_eq!(
        rows[1..],
        [
            ("model.layers", vec![text("80"), text("72"), text("80")]),
            (
                "times",
                vec![
                    text("80 values, sum 3.1"),
                    text("80 values, 12 differ, sum 1.6"),
                    text("80 values, sum 3.1")
                ]
            ),
            ("loads", vec![None, text("8 values, 8 differ, sum 1"), None]),
        ]
    );
    assert_eq!(
        table.not_ranked[0].sentence(),
        "b is not ranked: its scenario defines a different problem (model.layers: 80 -> 72; \
         times: 80 values, sum 3.1 -> 80 values, 12 differ, sum 1.6; loads: - -> 8 values, 8 differ, sum \
         1)."
    );
    let said = "The scenarios differ in the parameter bandwidth_gbps; figures are ranked nevertheless.";
    assert_eq!(table.varied_sentence().unwrap(), said);
    assert!(table.to_markdown().contains(said));
    // A parameter in which only a plan that is not ranked differs needs no note.
    let table = compare(
        &[first, of(&varied, subject("c", &c, &ka)), of(&other, subject("b", &b, &kc))],
        TOLERANCE,
        &[],
    );
    assert_eq!(table.unwrap().varied, [] as [&str; 0]);
    // The same question in other words is ranked and needs no note.
    let same = Apart { fields: other.fields.clone(), is_same_question: true, ..Apart::default() };
    let table = compare(&[first, of(&same, subject("b", &b, &ka))], TOLERANCE, &[]).unwrap();
    assert_eq!(table.figures[0].changes[0].unwrap().verdict, Verdict::Better);
    assert!(table.not_ranked.is_empty() && table.varied_sentence().is_none());
}

#[test]
fn plans_of_another_job_are_not_ranked_and_plans_of_another_design_are() {
    let (a, b) = (header(2.0), header(1.5));
    let ka = knobs(400.0);
    let first = subject("a", &a, &ka);
    let job = vec![("model".to_owned(), ["gpt_7b".to_owned(), "llama_3_1_8b".to_owned()])];
    let other = Apart { job, ..Apart::default() };
    let second = ComparedPlan { apart: Some(&other), ..subject("b", &b, &ka) };
    let table = compare(&[first, second], TOLERANCE, &[]).unwrap();
    assert_eq!(table.figures[0].changes[0].unwrap().verdict, Verdict::Different);
    assert_eq!(
        table.not_ranked[0].sentence(),
        "b is not ranked: its scenario defines a different problem (model: gpt_7b -> llama_3_1_8b)."
    );
    let design = Apart::default();
    let second = ComparedPlan { apart: Some(&design), ..subject("b", &b, &ka) };
    let table = compare(&[first, second], TOLERANCE, &[]).unwrap();
    assert_eq!(table.figures[0].changes[0].unwrap().verdict, Verdict::Better);
}

#[test]
fn latex_and_html_escape_every_text() {
    let (a, b) = (header(2.0), header(1.5));
    let (ka, kb) = (knobs(400.0), knobs(800.0));
    let table = compare(&[subject("a_1 & <b>", &a, &ka), subject("50 %", &b, &kb)], TOLERANCE, &[]).unwrap();
    let latex = table.to_latex();
    assert!(latex.contains("figure & a\\_1 \\& \\textless{}b\\textgreater{} & 50 \\% \\\\"), "{latex}");
    assert_eq!(latex.matches("\\begin{tabular}").count(), latex.matches("\\end{tabular}").count());
    let html = table.to_html();
    assert!(html.contains("<th>a_1 &amp; &lt;b&gt;</th><th>50 %</th>"), "{html}");
    assert!(html.contains("bandwidth\u{5f}gbps") && html.ends_with("</html>\n"));
}

#[test]
fn only_differences_drops_equal_figures() {
    let (a, b) = (header(2.0), header(1.5));
    let ka = knobs(400.0);
    let table = compare(&[subject("a", &a, &ka), subject("b", &b, &ka)], TOLERANCE, &[]).unwrap();
    let all = table.figures.len();
    let differing = table.clone().only_differences();
    assert_eq!(differing.figures[0], table.figures[0], "the objective differs");
    let is_tie = |figure: &Figure| figure.changes[0].is_some_and(|change| change.verdict == Verdict::Tie);
    assert!(differing.figures.len() < all && !differing.figures.iter().any(is_tie));
    let same = compare(&[subject("a", &a, &ka), subject("a", &a, &ka)], TOLERANCE, &[]).unwrap();
    assert!(same.only_differences().figures.is_empty());
}

#[test]
fn ties_are_ties_within_the_tolerance() {
    for (reference, value, tolerance, verdict) in [
        (1.0, 1.0 + 1e-12, 1e-9, Verdict::Tie),
        (1.0, 1.0 + 1e-6, 1e-9, Verdict::Worse),
        (1.0, 1.0 + 1e-6, 1e-3, Verdict::Tie),
        (0.0, 0.0, 1e-9, Verdict::Tie),
        (0.0, 1e-12, 1e-9, Verdict::Worse),
        (-2.0, -3.0, 1e-9, Verdict::Better),
    ] {
        let change = change(reference, value, Some(Sense::Min), tolerance);
        assert_eq!(change.verdict, verdict, "{reference} {value} {tolerance}");
    }
    assert_eq!(change(0.0, 3.0, None, 0.0).percent, None);
    assert_eq!(change(0.0, 3.0, None, 0.0).words(), "+3");
    assert_eq!(change(-2.0, -3.0, Some(Sense::Min), 0.0).words(), "-50.00 % better");
    assert_eq!(change(1.0, 1.0, Some(Sense::Min), 0.0).words(), "tie");
    assert_eq!(change(1.0, 1.000_001, Some(Sense::Min), 0.0).words(), "+1.0e-6 worse");
}

proptest! {
    /// Looking from the other plan turns better into worse, and nothing else.
    #[test]
    fn verdicts_are_antisymmetric(a in -1e3..1e3, b in -1e3..1e3, tolerance in 0.0..0.1, max: bool) {
        let sense = Some(if max { Sense::Max } else { Sense::Min });
        let (there, back) = (change(a, b, sense, tolerance), change(b, a, sense, tolerance));
        let turned = match there.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            same => same,
        };
        prop_assert_eq!(back.verdict, turned);
        prop_assert_eq!(back.difference, -there.difference);
    }

    /// Any label and name survives the way through CSV, line ends as they are shown, and the table keeps its shape.
    #[test]
    fn csv_reads_back(label in "[ -~\n\r\",|]{0,12}", other in "[ -~]{0,12}") {
        let (a, b) = (header(2.0), header(1.0));
        let ka = vec![("name".to_owned(), ParamValue::Text(label.clone()))];
        let kb = vec![("name".to_owned(), ParamValue::Text("plain".to_owned()))];
        let subjects =
            [subject(&label, &a, &ka), subject(&other, &b, &kb)];
        let table = compare(&subjects, TOLERANCE, &[]).unwrap();
        let rows = parse_csv(&table.to_csv());
        prop_assert!(rows.iter().all(|row| row.len() == 2 + 2 + 3), "{rows:?}");
        let shown = |text: &str| {
            let formula = text.starts_with(['=', '+', '-', '@']);
            let text = printable(text);
            if formula { format!("'{text}") } else { text }
        };
        prop_assert_eq!(&rows[0][2], &shown(&label));
        prop_assert_eq!(&rows[0][3], &shown(&other));
        prop_assert_eq!(&rows[1][2], &shown(&label));
    }
}

/// A plain RFC 4180 reader.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {
                chars.next();
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !quoted);
    rows
}

#[test]
fn markdown_stays_in_its_cells() {
    let (a, b) = (header(2.0), header(1.0));
    let (ka, kb) = (knobs(400.0), knobs(800.0));
    let table =
        compare(&[subject("a|b", &a, &ka), subject("\u{1b}[2J`x`\n", &b, &kb)], TOLERANCE, &[]).unwrap();
    let text = table.to_markdown();
    assert!(
        text.starts_with("| setting | of | a\\|b | \\\\u{1b}\\[2J\\`x\\`\\\\u{a} |\n|---|---|---|---|\n"),
        "{text}"
    );
    assert!(text.contains("| bandwidth_gbps | scenario | 400 | 800 |\n"), "{text}");
    assert!(text.contains("| cost | 2 | 1 (-50.00 % better) |\n"), "{text}");
    assert!(text.contains("within 0.000000001 of each other are ties"), "{text}");
}

#[test]
fn json_has_figures_with_verdicts() {
    let (a, b) = (header(2.0), header(1.0));
    let subjects = [subject("a", &a, &[]), subject("b", &b, &[])];
    let table = compare(&subjects, TOLERANCE, &[]).unwrap();
    let value: serde_json::Value = serde_json::to_value(&table).unwrap();
    assert_eq!(value["figures"][0]["changes"][0]["verdict"], "better");
    assert_eq!(value["figures"][0]["sense"], "min");
    assert!(value["settings"].as_array().unwrap().is_empty());
}

#[test]
fn one_plan_or_two_kinds_are_refused() {
    let (a, mut b) = (header(2.0), header(1.0));
    b.kind = "tpu".to_owned();
    let (a, b) = (subject("a", &a, &[]), subject("b", &b, &[]));
    let message = |subjects: &[ComparedPlan<'_>]| compare(subjects, TOLERANCE, &[]).unwrap_err().to_string();
    assert_eq!(message(&[a]), "1 plan was given; give at least two plans to compare");
    assert_eq!(message(&[a, a, b]), "'a' is of kind toy, but 'b' is of kind tpu; compare plans of one kind");
    assert!(message(&[]).contains("at least two"));
}
