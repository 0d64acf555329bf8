//! Error message for a file of another tool where a scenario or plan is expected: the message names the format, and the
//! command that reads the file.

use lightbay_core::problem::Problem;
use lightbay_formats::Format;
use lightbay_formats::detect::{detect, unpacked_head};
use lightbay_formats::solutions::Dialect;
use lightbay_formats::traces::rank_of_name;

/// Returns the problem of a file that is neither a scenario nor a plan; `None` for a file that may be a scenario or a
/// plan, and for JSON of an unknown kind. `source` is the name of the file as the user wrote it.
pub(crate) fn told(content: &[u8], source: &str) -> Option<Problem> {
    let head = &unpacked_head(content).ok()?;
    let format = match detect(head) {
        // Lines of a word and a number may be of any format; only the comments that Gurobi writes identify a solution
        // for certain.
        Format::Solution(Dialect::Gurobi) if !head.starts_with(b"# ") && !head.starts_with(b"=obj=") => {
            Format::Unknown
        }
        format => format,
    };
    let problem = |remedy: String| {
        Some(Problem::new("", format!("this is {}, not a scenario or plan", format.describe()), remedy))
    };
    if let Some(importer) = format.importer() {
        return problem(format!("import it: `{}`", command(format, importer, source)));
    }
    match format {
        Format::Scenario | Format::Plan | Format::OtherJson => None,
        Format::Empty => Some(Problem::new("", "is empty", format.advice())),
        // For text that begins like JSON, the JSON reader reports the position at which it becomes invalid.
        Format::Unknown if begins_like_json(head) => None,
        Format::Unknown => Some(Problem::new(
            "",
            "is neither a scenario or plan (which are JSON) nor a format that lightbay knows",
            "check that this is the file you meant; `lightbay methods --formats` lists the formats that can be imported",
        )),
        other => problem(other.advice().to_owned()).filter(|problem| !problem.remedy.is_empty()),
    }
}

/// Returns the problem of a file that cannot be imported: the file is a scenario or plan, or its format is unknown.
pub(crate) fn no_import(content: &[u8]) -> Problem {
    let format = unpacked_head(content).map_or(Format::Unknown, |head| detect(&head));
    match format {
        Format::Scenario | Format::Plan => {
            Problem::new("", format!("this is {}, which needs no import", format.describe()), format.advice())
        }
        _ => {
            let remedy = "put the format before the files; `lightbay methods --formats` lists the formats";
            Problem::new("", "has a format that lightbay does not recognise", remedy)
        }
    }
}

/// Returns the command that reads a file of a format; the command can be typed unchanged if the format needs only this
/// file.
fn command(format: Format, importer: &str, source: &str) -> String {
    let file = if source == "standard input" { "-" } else { source };
    let file = if file.contains(char::is_whitespace) { format!("'{file}'") } else { file.to_owned() };
    match format {
        Format::Solution(_) | Format::Names => {
            format!("lightbay import {importer} {file} MODEL.names.json -o plan.json")
        }
        Format::ChakraCollective => {
            format!("lightbay import {importer} {file} --set network=ring16 -o scenario.json")
        }
        Format::ChakraBinary => {
            format!("lightbay import {importer} {} -o scenario.json", of_all_ranks(&file))
        }
        Format::TacclSketch => format!("lightbay import {importer} TOPOLOGY {file} -o scenario.json"),
        Format::MscclAlgorithm | Format::MscclppPlan => {
            format!("lightbay import {importer} SCENARIO {file} -o plan.json")
        }
        Format::PodMap => format!("lightbay import {importer} SCENARIO {file} -o uneven.json"),
        Format::SwitchState(_) => format!("lightbay import {importer} SCENARIO {file} -o installed.json"),
        _ => format!("lightbay import {importer} {file} -o scenario.json"),
    }
}

/// Returns the name of a trace file with `*` in place of the rank, because a job has one file for each rank.
fn of_all_ranks(file: &str) -> String {
    let Some(rank) = rank_of_name(file) else { return file.to_owned() };
    let number = format!(".{rank}.");
    file.rfind(&number)
        .map_or_else(|| file.to_owned(), |at| format!("{}.*.{}", &file[..at], &file[at + number.len()..]))
}

fn begins_like_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let word = |word: &[u8]| head.starts_with(word);
    head.first().is_some_and(|sign| matches!(sign, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9'))
        || word(b"null")
        || word(b"true")
        || word(b"false")
        || word(b"NaN")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::importers;
    use lightbay_formats::SwitchState;
    use lightbay_formats::detect::ForeignFile;
    use lightbay_formats::network::NetworkForm;

    /// Every format that can be recognised.
    const ALL: [Format; 44] = [
        Format::SimaiText,
        Format::AicbCsv,
        Format::AiobTimes,
        Format::BusBandwidth,
        Format::AicbSpecification,
        Format::NcclTopology,
        Format::NcclGraphs,
        Format::MscclAlgorithm,
        Format::MscclTopology,
        Format::MscclppPlan,
        Format::ChakraBinary,
        Format::ChakraCollective,
        Format::ChakraJson,
        Format::PytorchTrace,
        Format::ProfilerTrace,
        Format::TacclTopology,
        Format::TacclSketch,
        Format::TecclInput,
        Format::Scenario,
        Format::Plan,
        Format::Names,
        Format::Solution(Dialect::Cbc),
        Format::Model,
        Format::ModelConfig,
        Format::Calculon,
        Format::Megatron,
        Format::ExpertLoads,
        Format::JointLoads,
        Format::SwitchState(SwitchState::PolatisTl1),
        Format::SwitchState(SwitchState::CalientTl1),
        Format::SwitchState(SwitchState::GlimmerglassTl1),
        Format::SwitchState(SwitchState::PolatisRestconf),
        Format::SwitchState(SwitchState::PolatisNetconf),
        Format::SwitchState(SwitchState::OcpOcs),
        Format::SwitchState(SwitchState::SonicOcs),
        Format::SwitchState(SwitchState::Csv),
        Format::PortMap,
        Format::PodMap,
        Format::Hall,
        Format::Html,
        Format::Topology,
        Format::Empty,
        Format::OtherJson,
        Format::Unknown,
    ];

    #[test]
    fn every_format_has_an_importer_or_advice() {
        let known = importers();
        let networks = NetworkForm::ALL.map(Format::Network);
        for format in ALL.into_iter().chain(networks).chain(ForeignFile::all().map(Format::Foreign)) {
            match format.importer() {
                Some(name) => assert!(known.iter().any(|info| info.name == name), "{format:?}: {name}"),
                None if matches!(format, Format::OtherJson | Format::Unknown) => {}
                None => assert!(!format.advice().is_empty(), "{format:?}"),
            }
        }
        // The second reader of AICB's files: they are recognised as what the first one reads.
        for info in known.into_iter().filter(|info| info.name != "aicb_moe") {
            assert!(
                ALL.iter().any(|format| format.importer() == Some(info.name)),
                "{} is not recognised",
                info.name
            );
        }
    }

    #[test]
    fn files_of_other_tools_are_told_by_name_with_the_command() {
        for (content, told_of) in [
            (
                "HYBRID_TRANSFORMER model_parallel_NPU_group: 8\n1\n",
                "lightbay import aicb a.txt -o scenario.json",
            ),
            ("Model status\nOptimal\n", "lightbay import sol a.txt MODEL.names.json -o plan.json"),
            (
                "ocs_id,action,pod_a,port_a,pod_b,port_b\n",
                "lightbay import csv SCENARIO a.txt -o installed.json",
            ),
            ("layer,expert,count\n0,0,5\n", "lightbay import routing_counts a.txt -o scenario.json"),
            ("layer_from,expert_from,layer_to,expert_to,count\n", "counts of single layers"),
            ("{\"traceEvents\": [\n", "lightbay import traces a.txt -o scenario.json"),
            ("<system version=\"1\">", "lightbay import nccl a.txt -o scenario.json"),
            ("{\"TopologyParams\": {", "lightbay import teccl a.txt -o scenario.json"),
            ("{\"gpus_per_node\": 8", "lightbay import taccl a.txt -o scenario.json"),
            ("{\"intranode_sketch\": {", "lightbay import taccl TOPOLOGY a.txt -o scenario.json"),
            ("{\"msccl_type\": \"topology\"", "lightbay import msccl_topology a.txt -o scenario.json"),
            (
                "{\"name\": \"a\", \"gpus\": [{\"input_chunks\"",
                "lightbay import mscclpp SCENARIO a.txt -o plan.json",
            ),
            ("<algo name=\"a\">", "lightbay import msccl SCENARIO a.txt -o plan.json"),
            ("NAME m\nROWS\n", "a model for a solver"),
            ("", "is empty"),
            (" \n\n", "is empty"),
            ("hello", "lightbay methods --formats"),
            ("pods: 3\n", "lightbay methods --formats"),
            ("router 0 node 0 router 1\nrouter 1 node 1\n", "lightbay import network a.txt -o scenario.json"),
            ("%PDF-1.4\n", "this is a PDF"),
            ("\u{1f}", "lightbay methods --formats"),
            ("# Solution for model m\nx 1\n", "lightbay import sol"),
        ] {
            let problem =
                told(content.as_bytes(), "a.txt").map(|problem| problem.to_string()).unwrap_or_default();
            assert!(problem.contains(told_of), "{content}: {problem}");
        }
        for content in ["{", "[1]", "{\"a\": 1}", "null", "\"a\"", "{\"schema\": \"lightbay.plan/1\"}"] {
            assert_eq!(told(content.as_bytes(), "a.txt"), None, "{content}");
        }
        let trace = b"\x05\x0a\x03abc\x02\x18\x04\x02\x18\x07";
        let problem = told(trace, "run.12.et").map(|problem| problem.to_string()).unwrap_or_default();
        assert!(problem.contains("lightbay import traces run.*.et -o"), "{problem}");
        let problem = told(b"MICRO\n", "a b.txt").map(|problem| problem.to_string()).unwrap_or_default();
        assert!(problem.contains("import aicb 'a b.txt' -o"), "{problem}");
    }
}
