//! Detects the format of a file from its content, so that an error message can name the format of a wrong file.
//!
//! Only the first bytes are examined. Formats without a reader are recognised too, because "this is an NCCL topology"
//! helps more than "line 1: '<system' is not a policy".

mod foreign;

#[cfg(test)]
mod tests;

pub use foreign::ForeignFile;

use std::io::{self, BufRead, Cursor, Read};

use lightbay_core::problem::Problem;

use crate::chakra;
use crate::expert_loads::is_long_header;
use crate::gz::{self, Limits, io_problem};
use crate::model_config::megatron;
use crate::network::{self, NetworkForm};
use crate::solutions::{self, Dialect};

/// Number of bytes of a file that are examined.
pub const HEAD_BYTES: usize = 64 << 10;

/// First word of a SimAI text workload: the parallelism policy.
pub const SIMAI_POLICIES: [&str; 11] = [
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
    "HYBRID_TRANSFORMER",
    "DATA",
    "MODEL",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_CUSTOMIZED",
    "MICRO",
    "DISTRIBUTED_INFERENCE",
];

/// Form in which an optical switch reports its cross-connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchState {
    /// Polatis-class switch, TL1.
    PolatisTl1,
    /// Calient switch, TL1.
    CalientTl1,
    /// Glimmerglass switch, TL1.
    GlimmerglassTl1,
    /// Polatis-class switch, RESTCONF JSON.
    PolatisRestconf,
    /// Polatis-class switch, NETCONF XML.
    PolatisNetconf,
    /// Model of the Open Compute Project, JSON.
    OcpOcs,
    /// CONFIG_DB of SONiC, JSON.
    SonicOcs,
    /// A table in the format that this program writes.
    Csv,
}

/// Kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// SimAI text workload, one rank of one stage.
    SimaiText,
    /// AICB per-call CSV.
    AicbCsv,
    /// AICB kernel times.
    AiobTimes,
    /// SimAI bus-bandwidth table.
    BusBandwidth,
    /// AICB's table of model parameters, from which workloads are generated.
    AicbSpecification,
    /// NCCL topology XML.
    NcclTopology,
    /// NCCL channel dump.
    NcclGraphs,
    /// MSCCL collective schedule.
    MscclAlgorithm,
    /// MSCCL topology JSON.
    MscclTopology,
    /// MSCCL++ execution plan JSON.
    MscclppPlan,
    /// Chakra trace, binary.
    ChakraBinary,
    /// Chakra trace, binary, of a single collective.
    ChakraCollective,
    /// Chakra trace, JSON.
    ChakraJson,
    /// PyTorch execution trace.
    PytorchTrace,
    /// PyTorch profiler trace.
    ProfilerTrace,
    /// TACCL topology JSON.
    TacclTopology,
    /// TACCL sketch JSON.
    TacclSketch,
    /// Input of the published TE-CCL program.
    TecclInput,
    /// A scenario of this program.
    Scenario,
    /// A plan of this program.
    Plan,
    /// The file of column names that belongs to a model that this program wrote.
    Names,
    /// A solution that a solver wrote.
    Solution(Dialect),
    /// The printable report of `glpsol -o`, which HiGHS writes as style 3.
    SolutionReport,
    /// A model for a solver.
    Model,
    /// The sizes of a model, as Hugging Face writes them.
    ModelConfig,
    /// A model, execution or system of Calculon.
    Calculon,
    /// Arguments of Megatron-LM, in a script or as YAML.
    Megatron,
    /// Counts of tokens by expert.
    ExpertLoads,
    /// Joint token counts of the experts in two layers.
    JointLoads,
    /// Cross-connections of an optical switch, as the switch reports them.
    SwitchState(SwitchState),
    /// The ports of optical switches, one row per port.
    PortMap,
    /// The ranks of a job by pod.
    PodMap,
    /// A table of a fabric: pods, switches, cables or target circuits.
    Hall,
    /// A network of nodes and links.
    Network(NetworkForm),
    /// A topology of a collective in the format of this program's specification.
    Topology,
    /// A file of a known format without a reader.
    Foreign(ForeignFile),
    /// Some other JSON.
    OtherJson,
    /// A web page.
    Html,
    /// Some other XML.
    OtherXml,
    /// A file without content.
    Empty,
    /// Content of none of these kinds.
    Unknown,
}

impl Format {
    /// Returns the description of the format, to follow "this is".
    pub const fn describe(self) -> &'static str {
        match self {
            Self::SimaiText => "a SimAI text workload",
            Self::AicbCsv => "an AICB per-call CSV",
            Self::AiobTimes => "a file of AICB kernel times",
            Self::BusBandwidth => "a bus-bandwidth table",
            Self::AicbSpecification => "AICB's table of model parameters, from which workloads are generated",
            Self::NcclTopology => "an NCCL topology",
            Self::NcclGraphs => "an NCCL channel dump",
            Self::MscclAlgorithm => "an MSCCL schedule",
            Self::MscclTopology => "an MSCCL topology",
            Self::MscclppPlan => "an execution plan of MSCCL++",
            Self::ChakraBinary => "a binary Chakra trace",
            Self::ChakraCollective => "a binary Chakra trace of one collective",
            Self::ChakraJson => "a Chakra trace in JSON",
            Self::PytorchTrace => "a PyTorch execution trace",
            Self::ProfilerTrace => "a PyTorch profiler trace",
            Self::TacclTopology => "a TACCL topology",
            Self::TacclSketch => "a TACCL sketch",
            Self::TecclInput => "an input of the published TE-CCL program",
            Self::Scenario => "a lightbay scenario",
            Self::Plan => "a lightbay plan",
            Self::Names => "the names file of an exported model",
            Self::Solution(_) => "the solution file of a solver",
            Self::SolutionReport => {
                "the printable report of glpsol (style 3 of HiGHS), which rounds its values"
            }
            Self::Model => "a model for a solver",
            Self::ModelConfig => "the config.json of a model",
            Self::Calculon => "a model, execution or system of Calculon",
            Self::Megatron => "a list of arguments of Megatron-LM",
            Self::ExpertLoads => "a file of token counts by expert",
            Self::JointLoads => "a table of joint token counts of two layers",
            Self::SwitchState(SwitchState::Csv) => "a table of circuits of optical switches",
            Self::SwitchState(_) => "the state of an optical switch",
            Self::PortMap => "a port map of optical switches",
            Self::PodMap => "a table of the ranks in each pod",
            Self::Hall => "a table of pods, switches, cables or circuits",
            Self::Network(form) => form.describe(),
            Self::Topology => "a topology of a collective",
            Self::Foreign(file) => file.describe(),
            Self::OtherJson => "JSON of an unknown kind",
            Self::Html => "a web page",
            Self::OtherXml => "XML of an unknown kind",
            Self::Empty => "an empty file",
            Self::Unknown => "none of the known formats",
        }
    }

    /// Returns the name of the importer that reads the format; `None` if no importer reads the format;
    /// [`Format::advice`] then states what the user can do.
    pub const fn importer(self) -> Option<&'static str> {
        match self {
            Self::SimaiText | Self::AicbCsv | Self::AiobTimes | Self::BusBandwidth => Some("aicb"),
            Self::Solution(_) | Self::Names => Some("sol"),
            Self::ModelConfig => Some("hf_config"),
            Self::Calculon => Some("calculon"),
            Self::Megatron => Some("megatron"),
            Self::ExpertLoads => Some("routing_counts"),
            Self::NcclTopology => Some("nccl"),
            Self::TecclInput => Some("teccl"),
            Self::TacclTopology | Self::TacclSketch => Some("taccl"),
            Self::MscclTopology => Some("msccl_topology"),
            Self::Network(_) | Self::Topology => Some("network"),
            Self::ChakraCollective => Some("chakra"),
            Self::ChakraBinary | Self::ChakraJson | Self::PytorchTrace | Self::ProfilerTrace => {
                Some("traces")
            }
            Self::Foreign(ForeignFile::CommunicationGroups | ForeignFile::TaskGraph) => Some("traces"),
            Self::MscclAlgorithm => Some("msccl"),
            Self::MscclppPlan => Some("mscclpp"),
            Self::SwitchState(state) => Some(match state {
                SwitchState::PolatisTl1 => "polatis_tl1",
                SwitchState::CalientTl1 => "calient_tl1",
                SwitchState::GlimmerglassTl1 => "glimmerglass_tl1",
                SwitchState::PolatisRestconf => "polatis_restconf",
                SwitchState::PolatisNetconf => "polatis_netconf",
                SwitchState::OcpOcs => "ocp_ocs",
                SwitchState::SonicOcs => "sonic_ocs",
                SwitchState::Csv => "csv",
            }),
            Self::PortMap => Some("port_map"),
            Self::PodMap => Some("pod_map"),
            Self::Hall => Some("hall"),
            _ => None,
        }
    }

    /// Returns the advice for a file that no importer reads; empty for formats that are read or unknown.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::AicbSpecification => "run AICB's workload generator and import the workload that it writes",
            Self::NcclGraphs => {
                "lightbay does not read channels of NCCL; import the topology that NCCL dumps (NCCL_TOPO_DUMP_FILE)"
            }
            Self::JointLoads => {
                "import the counts of single layers instead: a table with the columns layer, expert and count"
            }
            Self::SolutionReport => "write the raw form instead: `glpsol -w FILE`, or style 0 of HiGHS",
            Self::Html => "download the raw file instead of the page that shows it",
            Self::Scenario | Self::Plan => "open or solve the file directly, without an import",
            Self::Model => {
                "solve the model: `lightbay solve MODEL -o MODEL.sol`; if lightbay wrote it, `lightbay import sol` reads the solution"
            }
            Self::Empty => "use a file with content",
            Self::Foreign(file) => file.advice(),
            _ => "",
        }
    }
}

/// An input ready to be read: unpacked, recognised, and positioned at its first byte.
pub struct Opened<'a> {
    /// Format of the content.
    pub format: Format,
    /// `true` if the file was gzip-compressed.
    pub compressed: bool,
    /// Reader of the whole content.
    pub reader: Box<dyn BufRead + 'a>,
}

/// Unpacks and recognises an input.
///
/// # Errors
/// The first part cannot be read.
pub fn open<'a>(reader: impl BufRead + 'a, limits: &Limits) -> Result<Opened<'a>, Problem> {
    let mut content = gz::unpack(reader, limits)?;
    let head = head(&mut content.reader)?;
    let format = detect(&head);
    let reader = Box::new(Cursor::new(head).chain(content.reader));
    Ok(Opened { format, compressed: content.compressed, reader })
}

/// Returns the first bytes of an input, unpacked.
///
/// # Errors
/// No byte of the input can be read.
pub fn unpacked_head(content: &[u8]) -> Result<Vec<u8>, Problem> {
    head(&mut gz::unpack(content, &Limits::default())?.reader)
}

fn head(content: &mut impl Read) -> Result<Vec<u8>, Problem> {
    let mut head = Vec::new();
    if let Err(error) = content.take(HEAD_BYTES as u64).read_to_end(&mut head) {
        // The bytes before a damaged part still show the format; the reader then reports the damage.
        if head.is_empty() || error.kind() == io::ErrorKind::FileTooLarge {
            return Err(io_problem("", &error));
        }
    }
    Ok(head)
}

/// Returns `true` if a file that starts with `head` can be the file of groups of traces: [`detect`] recognises a file of
/// groups only if the ranks of its first group are ascending.
pub fn may_be_groups(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    foreign::groups_of_traces(String::from_utf8_lossy(head).trim_start())
}

/// Returns the format of a file that starts with `head`.
pub fn detect(head: &[u8]) -> Format {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if head.is_empty() {
        return Format::Empty;
    }
    if let Some(file) = foreign::binary(head) {
        return Format::Foreign(file);
    }
    if head.iter().take(512).any(|&byte| byte < 0x09) {
        // A length-delimited protobuf stream: message length, then field 1 (version) or 2 (attribute) of the metadata.
        let tagged = head.iter().take(3).skip(1).any(|tag| matches!(tag, 0x0a | 0x12));
        let form = if chakra::begins_with(head) == (1, true) {
            Format::ChakraCollective
        } else {
            Format::ChakraBinary
        };
        return if tagged { form } else { Format::Unknown };
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    if text.is_empty() {
        return Format::Empty;
    }
    if text.starts_with('<') {
        return detect_xml(text);
    }
    // A page of Markdown may show parts of other files.
    if text.starts_with("# ") && ["\n## ", "\n```"].iter().any(|mark| text.contains(mark)) {
        return Format::Foreign(ForeignFile::Prose);
    }
    if text.contains("comm_type,comm_group") {
        return Format::AicbCsv;
    }
    // The per-call CSV may also begin with a bracket.
    if text.starts_with('{') || text.starts_with('[') {
        return detect_json(text);
    }
    if let Some(format) = loads(text) {
        return format;
    }
    if text.starts_with("ocs_id,action,") {
        return Format::SwitchState(SwitchState::Csv);
    }
    if let Some(format) = hall(text) {
        return format;
    }
    if let Some(state) = tl1(text) {
        return Format::SwitchState(state);
    }
    if is_sonic_table(text) {
        return Format::SwitchState(SwitchState::SonicOcs);
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    if SIMAI_POLICIES.contains(&first) {
        return Format::SimaiText;
    }
    if first.starts_with("train_iter:") || text.contains("time_gpu_avg:") {
        return Format::AiobTimes;
    }
    let is_group = |line: &str| matches!(line.trim(), "TP:" | "DP:" | "EP:" | "PP:");
    if text.lines().take(64).any(is_group) {
        return Format::BusBandwidth;
    }
    if let Some(dialect) = solutions::dialect(text) {
        return Format::Solution(dialect);
    }
    if first == "Problem:" && text.lines().nth(1).is_some_and(|line| line.starts_with("Rows:")) {
        return Format::SolutionReport;
    }
    if is_model(text) {
        return Format::Model;
    }
    if megatron::is_one(text) {
        return Format::Megatron;
    }
    if text.starts_with("id\tName\tParameter_size") {
        return Format::AicbSpecification;
    }
    if let Some(form) = network::form_of(text) {
        return Format::Network(form);
    }
    foreign::text(text).map_or(Format::Unknown, Format::Foreign)
}

/// Returns the format of counts of tokens by expert in a table or a log; `None` for other text.
fn loads(text: &str) -> Option<Format> {
    let header: Vec<&str> = text.lines().next()?.split([',', ';', '\t']).map(str::trim).collect();
    let has = |name: &str| header.iter().any(|known| known.eq_ignore_ascii_case(name));
    if has("layer_from") && has("expert_from") {
        return Some(Format::JointLoads);
    }
    let is_counted = is_long_header(&header) || text.contains("num_global_tokens_per_expert");
    is_counted.then_some(Format::ExpertLoads)
}

/// Returns the format of a table of pods, switches, ports or cables; `None` for other text.
fn hall(text: &str) -> Option<Format> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let header: Vec<String> = lines.next()?.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let has = |names: &[&str]| names.iter().all(|name| header.iter().any(|known| known == name));
    if has(&["switch", "port", "pod"]) {
        return Some(Format::PortMap);
    }
    if has(&["rank_first", "rank_last", "pod"]) {
        return Some(Format::PodMap);
    }
    let cables = has(&["startdevice", "startport", "enddevice", "endport"])
        || has(&["side_a_device", "side_a_name", "side_b_device", "side_b_name"])
        || has(&["a_device", "a_interface", "b_device", "b_interface"]);
    let first = lines.next().and_then(|line| line.split(',').next()).unwrap_or_default().trim();
    // In a matrix, the second column has the name of the first row.
    let matrix = header.len() > 2 && !first.is_empty() && header[1] == first.to_ascii_lowercase();
    let sizes = ["pod", "switch"].contains(&header[0].as_str()) && header.len() > 1;
    (cables || matrix || sizes).then_some(Format::Hall)
}

/// Returns `true` for a table of cross-connects as the command line of SONiC prints it.
fn is_sonic_table(text: &str) -> bool {
    let header = |line: &str| {
        let line = line.to_ascii_lowercase().replace('_', " ");
        line.contains("a side") && line.contains("b side") && line.contains("id")
    };
    let mut lines = text.lines().take(64).skip_while(|line| !header(line));
    lines.next().is_some() && lines.next().is_some_and(|line| line.starts_with("--"))
}

/// Returns the format of a reply of a switch over TL1: a line `M TAG COMPLD` (or `PRTL` or `DENY`), followed by quoted
/// lines.
fn tl1(text: &str) -> Option<SwitchState> {
    let completed = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("M") && matches!(words.nth(1), Some("COMPLD" | "PRTL" | "DENY"))
    };
    if !text.lines().any(completed) {
        return None;
    }
    if text.contains("IPORTID=") {
        return Some(SwitchState::GlimmerglassTl1);
    }
    let calient = text.contains("SRCPORT=") || text.contains("RTRV-CRS");
    Some(if calient { SwitchState::CalientTl1 } else { SwitchState::PolatisTl1 })
}

/// Returns `true` if a text is a model in MPS or the LP format.
fn is_model(text: &str) -> bool {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['*', '\\']));
    let first = lines.next().unwrap_or_default();
    let words = |line: &str, known: &[&str]| known.iter().any(|word| line.eq_ignore_ascii_case(word));
    let named = first.split_whitespace().next().is_some_and(|word| word == "NAME");
    (named && lines.next().is_some_and(|line| words(line, &["ROWS", "OBJSENSE"])))
        || words(first, &["min", "max", "minimize", "maximize", "minimise", "maximise", "minimum", "maximum"])
}

fn detect_xml(text: &str) -> Format {
    if text.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype html>")) {
        return Format::Html;
    }
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        rest = &rest[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            let Some(end) = comment.find("-->") else { break };
            rest = &comment[end + 3..];
        } else if rest.starts_with("<?") || rest.starts_with("<!") {
            let Some(end) = rest.find('>') else { break };
            rest = &rest[end + 1..];
        } else {
            let name = rest[1..].split(|c: char| !c.is_ascii_alphanumeric()).next();
            return match name.unwrap_or_default() {
                "system" => Format::NcclTopology,
                "graphs" => Format::NcclGraphs,
                "CPLEXSolution" | "CPLEXSolutions" => Format::Solution(Dialect::Cplex),
                "algo" => Format::MscclAlgorithm,
                "html" | "HTML" => Format::Html,
                "graphml" => Format::Network(NetworkForm::GraphMl),
                "topology" if text.contains("type=\"Machine\"") => Format::Foreign(ForeignFile::Hwloc),
                "rpc" | "hello" | "rpc-reply" | "data" if text.contains("cross-connects") => {
                    Format::SwitchState(SwitchState::PolatisNetconf)
                }
                _ => Format::OtherXml,
            };
        }
    }
    Format::OtherXml
}

fn detect_json(text: &str) -> Format {
    const MARKS: [(&str, Format); 33] = [
        ("lightbay.names/", Format::Names),
        ("lightbay.scenario/", Format::Scenario),
        ("lightbay.plan/", Format::Plan),
        ("lightbay.topology/", Format::Topology),
        ("-chakra", Format::PytorchTrace),
        ("\"workload_graph\"", Format::ChakraJson),
        ("\"ctrlDeps\"", Format::ChakraJson),
        ("\"ctrl_deps\"", Format::ChakraJson),
        ("\"distributedInfo\"", Format::ProfilerTrace),
        ("\"traceEvents\"", Format::ProfilerTrace),
        ("\"msccl_type\"", Format::MscclTopology),
        ("\"intranode_sketch\"", Format::TacclSketch),
        ("\"input_chunks\"", Format::MscclppPlan),
        ("\"threadblocks\"", Format::MscclppPlan),
        ("\"TopologyParams\"", Format::TecclInput),
        ("\"gpus_per_node\"", Format::TacclTopology),
        ("\"node_betas_list\"", Format::TacclTopology),
        ("\"node_invbws_list\"", Format::TacclTopology),
        ("\"schemaVersion\"", Format::ProfilerTrace),
        ("cross-connects\"", Format::SwitchState(SwitchState::PolatisRestconf)),
        ("\"OCS_CROSS_CONNECT\"", Format::SwitchState(SwitchState::SonicOcs)),
        ("port-connection\"", Format::SwitchState(SwitchState::OcpOcs)),
        ("\"logical_count\"", Format::ExpertLoads),
        ("\"logical_expert_load\"", Format::ExpertLoads),
        ("\"global_physical_count\"", Format::ExpertLoads),
        ("\"tokens\"", Format::ExpertLoads),
        ("\"tpe\"", Format::ExpertLoads),
        ("\"weight\": [[", Format::ExpertLoads),
        ("\"num_hidden_layers\"", Format::ModelConfig),
        ("\"num_blocks\"", Format::Calculon),
        ("\"tensor_par\"", Format::Calculon),
        ("\"gflops_efficiency\"", Format::Calculon),
        ("\"mem1\"", Format::Calculon),
    ];
    let marked = MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, format)| *format);
    let is_hall = text.contains("\"pods\"") && text.contains("\"switches\"");
    marked
        .or_else(|| is_hall.then_some(Format::Hall))
        .or_else(|| network::form_of(text).map(Format::Network))
        .or_else(|| foreign::json(text).map(Format::Foreign))
        .unwrap_or(Format::OtherJson)
}
