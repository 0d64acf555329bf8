//! JSON objects that commands print for scripts with `--json`. Every object has a schema name; `lightbay schema NAME`
//! prints its JSON Schema.

use lightbay_core::checked::{BoundTrust, VerifiedBound, Violation};
use lightbay_core::kind::Sense;
use lightbay_core::method::MethodInfo;
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::plan::{Header, Objective, Status};
use lightbay_core::scenario::Origin;
use lightbay_core::standing::KnownBound;
use lightbay_engines::FormatInfo;
use lightbay_sessions::compare::CompareTable;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A JSON object that a command prints.
pub trait Document: Serialize + JsonSchema {
    /// Name of the schema with its version, such as `lightbay.check/1`.
    const SCHEMA: &'static str;
}

/// A document with its schema name as the first key.
#[derive(Serialize)]
pub struct Named<'a, D: Document> {
    schema: &'static str,
    #[serde(flatten)]
    document: &'a D,
}

impl<'a, D: Document> Named<'a, D> {
    /// Adds the schema name.
    pub const fn new(document: &'a D) -> Self {
        Self { schema: D::SCHEMA, document }
    }
}

/// Name of the schema of a flat row.
const ROW: &str = "row";

/// Declares documents with their schema names, and the table of all documents.
macro_rules! documents {
    ($($name:literal $document:ident = $schema:literal;)*) => {
        $(impl Document for $document {
            const SCHEMA: &'static str = $schema;
        })*

        /// Names of the schemas, as `lightbay schema` lists them.
        pub const NAMES: &[&str] = &[$($name,)* ROW];

        /// Returns the JSON Schema of the document with one of the [`NAMES`].
        pub fn schema(name: &str) -> Option<Value> {
            match name {
                $($name => Some(schema_of::<$document>()),)*
                ROW => Some(row_schema()),
                _ => None,
            }
        }
    };
}

documents! {
    "check" CheckDocument = "lightbay.check/1";
    "compare" CompareTable = "lightbay.compare/1";
    "config" ConfigDocument = "lightbay.config/1";
    "export" ExportDocument = "lightbay.export/1";
    "glossary" GlossaryDocument = "lightbay.glossary/1";
    "import" ImportDocument = "lightbay.import/1";
    "info" InfoDocument = "lightbay.info/1";
    "keys" KeysDocument = "lightbay.keys/1";
    "methods" MethodsDocument = "lightbay.methods/1";
    "new" NewDocument = "lightbay.new/1";
    "presets" PresetsDocument = "lightbay.presets/1";
    "sessions" SessionsDocument = "lightbay.sessions/1";
    "session" SessionDocument = "lightbay.session/1";
    "session-change" SessionChangeDocument = "lightbay.session-change/1";
    "show" ShowDocument = "lightbay.show/2";
    "solve" SolveDocument = "lightbay.solve/1";
    "sweep" SweepDocument = "lightbay.sweep/1";
    "sweep-status" SweepStatusDocument = "lightbay.sweep-status/1";
}

/// Returns the schema of a document together with its key `schema`.
fn schema_of<D: Document>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.root_schema_for::<D>();
    schema.insert("title".to_owned(), D::SCHEMA.into());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_insert(0, "schema".to_owned(), json!({ "const": D::SCHEMA }));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.insert(0, "schema".into());
    }
    schema.to_value()
}

/// Result of `lightbay check`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckDocument {
    /// The plan as named on the command line.
    pub file: String,
    /// Envelope of the plan; null if it cannot be read.
    pub plan: Option<Header>,
    /// Rules that the plan breaks.
    pub violations: Vec<Violation>,
    /// Texts on values that the checker does not understand or did not verify.
    pub warnings: Vec<String>,
    /// Texts on how the checks were made.
    pub remarks: Vec<String>,
    /// Source of the bound: `verified` by the checker, `claimed` by the method, or `none`.
    pub bound_trust: BoundTrust,
    /// Bound that the checker derived.
    pub verified_bound: Option<VerifiedBound>,
    /// Known bounds, the strongest first.
    pub bounds: Vec<KnownBound>,
    /// Metrics that the method claims and the checker did not recompute.
    pub claimed: Vec<String>,
}

/// Result of `lightbay config check` and `lightbay config path`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigDocument {
    /// Path of the configuration file.
    pub path: String,
    /// `true` if the file exists; otherwise all defaults apply.
    pub exists: bool,
}

/// Result of `lightbay export`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExportDocument {
    /// Format of the files.
    pub format: String,
    /// Paths of the written files.
    pub files: Vec<String>,
    /// Texts on what the format leaves out or assumes.
    pub remarks: Vec<String>,
}

/// Result of `lightbay explain`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GlossaryDocument {
    /// The terms.
    pub words: Vec<GlossaryWord>,
}

/// A term of the glossary.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GlossaryWord {
    /// The term, as displayed.
    pub word: String,
    /// Name in files, if the term is a figure.
    pub name: Option<&'static str>,
    /// Synonyms.
    pub also: &'static [&'static str],
    /// Kind that uses the term; null for a term of all kinds.
    pub kind: Option<&'static str>,
    /// Definition, in one sentence.
    pub sentence: &'static str,
    /// Formula; empty for most terms.
    pub formula: &'static str,
    /// Source: paper and section; empty for common terms of the field.
    pub source: &'static str,
}

/// Result of `lightbay import`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportDocument {
    /// Findings, omissions and assumptions; the keys depend on the format.
    pub summary: Value,
    /// The scenario; null if it is written to a file or if the files are a plan.
    pub scenario: Option<Value>,
    /// The plan; null if it is written to a file or if the files are a scenario.
    pub plan: Option<Value>,
}

/// Result of `lightbay info`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InfoDocument {
    /// Version and commit of the program.
    pub version: String,
    /// Schemas of the files that the program reads and writes.
    pub formats: Vec<String>,
    /// Methods by kind.
    pub methods: BTreeMap<String, Vec<String>>,
    /// Name and version of the solver of linear and integer programs.
    pub solver: String,
    /// Number of cores that the program may use; null if unknown.
    pub cores: Option<usize>,
    /// Path of the configuration file; null if neither flags nor environment determine it.
    pub configuration: Option<String>,
    /// Folder of the sessions.
    pub sessions: Option<String>,
    /// Folder of the logs.
    pub logs: Option<String>,
    /// Type and size of the terminal, in words.
    pub terminal: String,
    /// Number of colours of the terminal and theme, in words.
    pub colours: String,
    /// Set of glyphs that the workbench draws with.
    pub glyphs: String,
    /// Terminal multiplexer, such as `tmux`; null if none is known.
    pub multiplexer: Option<&'static str>,
    /// Way in which copied text reaches the clipboard, in words.
    pub clipboard: &'static str,
    /// Protocols of keys, mouse, paste, frames and progress that the workbench uses, in words.
    pub protocols: Vec<String>,
}

/// Result of `lightbay keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeysDocument {
    /// All actions of the workbench.
    pub actions: Vec<KeysEntry>,
}

/// An action of the workbench with its keys.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeysEntry {
    /// Name in the section `[keys]` of the configuration file.
    pub name: &'static str,
    /// Keys that trigger the action now.
    pub keys: Vec<String>,
    /// Keys without a configuration file.
    pub default: &'static [&'static str],
    /// Heading of the action in the help.
    pub group: &'static str,
    /// Part of the workbench in which the keys apply.
    pub place: String,
    /// Description in a few words.
    pub help: String,
}

/// Result of `lightbay methods`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MethodsDocument {
    /// The kinds with their methods and formats.
    pub kinds: Vec<MethodsKind>,
    /// Parameters that every method has.
    pub common_params: Vec<ParamInfo>,
    /// Formats that `lightbay import` reads.
    pub importers: Vec<FormatInfo>,
}

/// A kind with its methods and formats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MethodsKind {
    /// Name of the kind.
    pub name: &'static str,
    /// Description in a few words.
    pub help: &'static str,
    /// The objective.
    pub objective: ObjectiveEntry,
    /// Method that `lightbay solve` runs without `--method`.
    pub default_method: &'static str,
    /// Parameters of the scenario, which `--set` changes.
    pub scenario_knobs: Vec<ParamInfo>,
    /// Parameters with which `lightbay new` makes a scenario of this kind from plans; null if it cannot.
    pub new_from_plans: Option<NewFromPlans>,
    /// The methods.
    pub methods: Vec<MethodInfo>,
    /// Formats that `lightbay export` writes.
    pub exporters: Vec<FormatInfo>,
}

/// Name and direction of an objective.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ObjectiveEntry {
    /// Name with unit, such as `makespan_s`.
    pub name: &'static str,
    /// Direction in which the objective gets better.
    pub sense: Sense,
}

/// Parameters of a scenario that is made from plans.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewFromPlans {
    /// Parameters whose values name plans; the first of these parameters is required.
    pub plans: Vec<ParamInfo>,
    /// Other parameters.
    pub own: Vec<ParamInfo>,
}

/// Result of `lightbay new` with `-o`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewDocument {
    /// Path of the written scenario.
    pub file: String,
    /// Kind of the scenario.
    pub kind: String,
    /// Name of the scenario.
    pub name: String,
    /// Hash of the scenario's content.
    pub scenario_sha256: String,
}

/// Result of `lightbay presets`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetsDocument {
    /// The built-in scenarios.
    pub presets: Vec<PresetEntry>,
}

/// A built-in scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PresetEntry {
    /// Kind of the scenario.
    pub kind: String,
    /// Name after `preset:`.
    pub name: String,
    /// Description in a few words.
    pub help: String,
}

/// Result of `lightbay sessions list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionsDocument {
    /// Folder of the sessions.
    pub folder: String,
    /// The sessions.
    pub sessions: Vec<SessionEntry>,
}

/// A session in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionEntry {
    /// Name of the session.
    pub name: String,
    /// Kind of its scenario.
    pub kind: String,
    /// Name of its scenario.
    pub scenario: String,
    /// Note of the user.
    pub note: Option<String>,
    /// Number of its plans.
    pub plans: usize,
    /// Its best or newest plan; null if the session was not used recently.
    pub best: Option<SessionBest>,
    /// Size of all files of the session, bytes.
    pub size_bytes: u64,
    /// Date of the last change, RFC 3339.
    pub updated_at: String,
    /// Process in which the session is open, in words; null if it is not open.
    pub open_in: Option<String>,
    /// Problem with the session, in words.
    pub problem: Option<String>,
}

/// The best or newest plan of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionBest {
    /// Number of the plan.
    pub number: u64,
    /// Method that found the plan.
    pub method: String,
    /// Status of the plan.
    pub status: Status,
    /// Value, bound and gap.
    pub objective: Objective,
}

/// Result of `lightbay sessions show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionDocument {
    /// Name of the session.
    pub name: String,
    /// Folder of the session.
    pub folder: String,
    /// Note of the user.
    pub note: Option<String>,
    /// Texts on parts of the session that could not be read.
    pub remarks: Vec<String>,
    /// The plans of the session.
    pub plans: Vec<SessionPlan>,
}

/// Result of `lightbay sessions rename`, `note`, `unpack` and `rm`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionChangeDocument {
    /// `renamed`, `noted`, `made` or `removed`.
    pub done: &'static str,
    /// Names of the sessions; after a change of the name, the new name.
    pub sessions: Vec<String>,
}

/// A plan of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionPlan {
    /// Number of the plan; commands accept `session:NAME/NUMBER`.
    pub number: u64,
    /// Path of the plan's file.
    pub file: String,
    /// Size of the file, bytes.
    pub size_bytes: u64,
    /// Envelope of the plan; null if it cannot be read.
    pub plan: Option<Header>,
    /// Reason that the plan cannot be read.
    pub problem: Option<String>,
}

/// Result of `lightbay show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowDocument {
    /// `plan` or `scenario`.
    pub what: &'static str,
    /// Kind of the scenario.
    pub kind: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// Hash of the scenario's content.
    pub scenario_sha256: String,
    /// Origin of an imported scenario.
    pub provenance: Option<Origin>,
    /// Envelope of the plan.
    pub plan: Option<Header>,
    /// Number of rules that the plan breaks.
    pub violations: usize,
    /// Metrics that the method claims and the checker did not recompute.
    pub claimed: Vec<String>,
    /// Source of the bound: `verified` by the checker, `claimed` by the method, or `none`; null for a scenario.
    pub bound_trust: Option<BoundTrust>,
    /// Bound that the checker derived.
    pub verified_bound: Option<VerifiedBound>,
    /// Known bounds, the strongest first; null for a scenario.
    pub bounds: Option<Vec<KnownBound>>,
    /// The sections, in an object with the name of the kind.
    #[serde(flatten)]
    pub sections: Map<String, Value>,
}

/// Result of `lightbay solve` with `-o`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SolveDocument {
    /// Path of the plan; null if no plan was found.
    pub file: Option<String>,
    /// Status with which the run ended, such as `optimal` or `stopped`; null if the program left before the run ended.
    pub status: Option<String>,
    /// Exit code of the command.
    pub exit_code: u8,
    /// Envelope of the plan.
    pub plan: Option<Header>,
    /// Known bounds on the plan, the strongest first.
    pub bounds: Vec<KnownBound>,
}

/// Result of `lightbay sweep`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepDocument {
    /// Kind of the scenarios.
    pub kind: &'static str,
    /// Identifier of the sweep.
    pub sweep: String,
    /// The objective.
    pub objective: ObjectiveEntry,
    /// Names of the scenarios.
    pub scenarios: Vec<String>,
    /// The varied parameters.
    pub axes: Vec<SweepAxis>,
    /// Names of the methods.
    pub methods: Vec<String>,
    /// Number of cells of the whole sweep.
    pub cells: usize,
    /// Part of the sweep that this command runs, such as `1/1`.
    pub shard: String,
    /// Number of cells whose rows the table already had.
    pub found: usize,
    /// `through` if all cells were run, otherwise `stopped`.
    pub ended: &'static str,
    /// The new rows: objects with the columns of the table as keys.
    pub rows: Vec<Value>,
}

/// A varied parameter of a sweep.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepAxis {
    /// Name of the parameter.
    pub name: String,
    /// Unit of the values; empty if they have none.
    pub unit: String,
    /// The values.
    pub values: Vec<ParamValue>,
}

/// Result of `lightbay sweep status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepStatusDocument {
    /// Identifier of the sweep.
    pub sweep: String,
    /// Number of cells of the whole sweep.
    pub cells: usize,
    /// Number of cells that have a row.
    pub done: usize,
    /// Number of rows by status.
    pub by_status: BTreeMap<String, usize>,
    /// Cells whose row has no plan.
    pub without_plan: Vec<usize>,
    /// Cells without a row.
    pub missing: Vec<usize>,
    /// Time of all runs together, seconds.
    pub elapsed_s: f64,
}

/// Returns the schema of the flat row that `lightbay show --row` prints: its keys depend on the kind.
fn row_schema() -> Value {
    json!({
        "title": super::show::ROW_SCHEMA,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": { "schema": { "const": super::show::ROW_SCHEMA } },
        "required": ["schema", "file", "kind", "name", "scenario_sha256"],
        "additionalProperties": { "type": ["null", "boolean", "number", "string"] },
    })
}
