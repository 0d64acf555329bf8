//! Formats that lightbay does not read; each has a description and advice on what to do instead.

/// A file format that lightbay knows but does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForeignFile {
    /// ASTRA-sim: scheduling and collectives of the system layer, JSON.
    AstraSystem,
    /// BookSim: configuration of a simulation.
    BooksimConfig,
    /// Process groups that accompany a Chakra trace.
    CommunicationGroups,
    /// Failures of a cluster over time.
    FaultTrace,
    /// FlexFlow and TopoOpt: a task graph in FlatBuffers.
    TaskGraph,
    /// OCDAI: the classes of servers and switches of a connectivity map.
    ClusterClasses,
    /// A list of jobs of LumosCore.
    JobList,
    /// hwloc: the parts of one machine.
    Hwloc,
    /// SONiC: a change of the configuration, not the configuration itself.
    SwitchChange,
    /// A YANG module.
    Yang,
    /// A collective demand or a schedule in this program's format, without the network.
    CollectivePart,
    /// PDF.
    Pdf,
    /// zip, tar, zstd, xz, bzip2; PyTorch files with weights and tensors are zip files, too.
    Archive,
    /// Git LFS: the address of a file, not the file.
    LfsPointer,
    /// An executable or library.
    Program,
    /// A picture.
    Picture,
    /// Prose, such as a licence or a page of Markdown.
    Prose,
    /// YAML of an unknown kind.
    OtherYaml,
    /// A table whose columns are unknown.
    OtherTable,
}

use ForeignFile::{
    Archive, AstraSystem, BooksimConfig, ClusterClasses, CollectivePart, CommunicationGroups, FaultTrace,
    Hwloc, JobList, LfsPointer, OtherTable, OtherYaml, Pdf, Picture, Program, Prose, SwitchChange, TaskGraph,
    Yang,
};

/// Each format with its description, to follow "this is", and the advice to the user.
const TOLD: [(ForeignFile, &str, &str); 19] = [
    (
        AstraSystem,
        "a system file of ASTRA-sim, which sets its scheduling and collective algorithms",
        "lightbay finds schedules itself; import the network file that belongs to this system file: `lightbay import \
         network FILE.yml -o scenario.json`",
    ),
    (
        BooksimConfig,
        "a configuration of BookSim",
        "import the network that the configuration names (network_file): `lightbay import network anynet_file -o scenario.json`",
    ),
    (
        CommunicationGroups,
        "the list of process groups of a Chakra trace",
        "import it together with the traces: `lightbay import traces GROUPS.json TRACE.*.et -o scenario.json`",
    ),
    (
        FaultTrace,
        "a trace of failures of a cluster",
        "lightbay plans for a given set of failures: set the failures with failed_ocs=, failed_ports= or \
         failed_links=, and compare cases with `lightbay sweep`",
    ),
    (
        TaskGraph,
        "a task graph of FlexFlow and TopoOpt",
        "import it: `lightbay import traces FILE.fbuf -o scenario.json`",
    ),
    (
        ClusterClasses,
        "the topology map of an OCDAI cluster, which describes its classes of servers and switches",
        "import the connectivity map (CSV) of the same cluster, which lists the cables",
    ),
    (
        JobList,
        "a list of jobs of LumosCore",
        "lightbay plans a fixed set of jobs without arrival times; describe one job with \
         `lightbay new training --set gpus=…`",
    ),
    (
        Hwloc,
        "an hwloc dump of a machine, which lists no links between GPUs",
        "import the topology that NCCL dumps: set NCCL_TOPO_DUMP_FILE=topo.xml and run any NCCL program on that machine",
    ),
    (
        SwitchChange,
        "a change for an optical switch, not its state",
        "read the state of the switch and import it; `lightbay methods --formats crossconnect` lists the formats",
    ),
    (
        Yang,
        "a YANG module, the model of a device's data",
        "query the cross-connections of the device, and import the reply",
    ),
    (
        CollectivePart,
        "a demand or schedule of a collective without its network",
        "combine topology and demand in one scenario: `lightbay new collective -o scenario.json` writes an \
         example",
    ),
    (Pdf, "a PDF", "use a data file instead of the document"),
    (
        Archive,
        "an archive",
        "unpack the archive and use the file inside; for a PyTorch file (.pt), which is also an archive, write its \
         tensors as JSON or CSV",
    ),
    (LfsPointer, "a pointer of Git LFS, not the file itself", "fetch the file: `git lfs pull`"),
    (Program, "a program or library", "use a data file"),
    (Picture, "a picture", "use a file with the data that the picture shows"),
    (Prose, "a page of text", "use a data file"),
    (
        OtherYaml,
        "YAML of a kind that lightbay does not know",
        "`lightbay methods --formats` lists what can be imported; scenarios are JSON",
    ),
    (
        OtherTable,
        "a table with columns that lightbay does not know",
        "`lightbay methods --formats` lists the tables that can be imported",
    ),
];

impl ForeignFile {
    /// Returns all formats that lightbay knows but does not read.
    pub fn all() -> impl Iterator<Item = Self> {
        TOLD.iter().map(|(file, ..)| *file)
    }

    const fn told(self) -> (&'static str, &'static str) {
        let mut at = 0;
        while at < TOLD.len() {
            if TOLD[at].0 as u8 == self as u8 {
                return (TOLD[at].1, TOLD[at].2);
            }
            at += 1;
        }
        ("", "")
    }

    /// Returns the description, to follow "this is".
    pub const fn describe(self) -> &'static str {
        self.told().0
    }

    /// Returns the advice on what the user can do instead.
    pub const fn advice(self) -> &'static str {
        self.told().1
    }
}

/// Recognises files by their first bytes.
pub(super) fn binary(head: &[u8]) -> Option<ForeignFile> {
    const MAGIC: [(&[u8], ForeignFile); 13] = [
        (b"%PDF-", Pdf),
        (b"PK\x03\x04", Archive),
        (b"\x28\xb5\x2f\xfd", Archive),
        (b"\xfd7zXZ", Archive),
        (b"BZh", Archive),
        (b"7z\xbc\xaf", Archive),
        (b"\x7fELF", Program),
        (b"MZ\x90", Program),
        (b"\x89PNG", Picture),
        (b"\xff\xd8\xff", Picture),
        (b"GIF8", Picture),
        (b"version https://git-lfs", LfsPointer),
        // A Python pickle of protocol 2, such as a file of PyTorch weights.
        (b"\x80\x02", Archive),
    ];
    if let Some((_, file)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(*file);
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some(Archive);
    }
    // A FlatBuffer begins with the offset of its root table, which begins with the distance to its list of fields. The
    // list begins with two sizes and has two bytes for each field; the root of a task graph has eleven fields, and
    // lists of 8 to 16 fields are accepted.
    let word = |at: usize| {
        head.get(at..at + 4).and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize))
    };
    let root = word(0).filter(|root| (4..4096).contains(root))?;
    let fields = root.checked_sub(word(root)?)?;
    let size =
        head.get(fields..fields + 2).map(|bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
    size.filter(|size| (4 + 2 * 8..=4 + 2 * 16).contains(size)).map(|_| TaskGraph)
}

/// Recognises files by a key of their JSON.
pub(super) fn json(text: &str) -> Option<ForeignFile> {
    const MARKS: [(&str, ForeignFile); 8] = [
        ("lightbay.demand/", CollectivePart),
        ("lightbay.ccl_schedule/", CollectivePart),
        ("\"scheduling-policy\"", AstraSystem),
        ("\"all-reduce-implementation\"", AstraSystem),
        ("\"fault_start\"", FaultTrace),
        ("\"fault_end\"", FaultTrace),
        ("\"sonic-ocs:input\"", SwitchChange),
        ("\"path\": \"/OCS_CROSS_CONNECT", SwitchChange),
    ];
    if let Some((_, file)) = MARKS.iter().find(|(mark, _)| text.contains(mark)) {
        return Some(*file);
    }
    // `[(0, 520, 8), …` is not JSON, but begins like JSON.
    if text.starts_with("[(") && text[2..].starts_with(|sign: char| sign.is_ascii_digit()) {
        return Some(JobList);
    }
    groups(text, true).then_some(CommunicationGroups)
}

/// Returns `true` for a file that can be the file of groups of the traces that stand with it: names of groups with
/// lists of ranks in any order, or no group at all.
pub(super) fn groups_of_traces(text: &str) -> bool {
    let is_empty = || text.chars().filter(|sign| !sign.is_whitespace()).eq("{}".chars());
    groups(text, false) || is_empty()
}

/// Returns `true` for `{"0": [0, 1], …}`: names of groups with lists of ranks, without anything else. With `ascending`,
/// the ranks of the first list must be ascending; other files have lists of numbers too.
fn groups(text: &str, ascending: bool) -> bool {
    let Some(first) = text.find('[').zip(text.find(']')).and_then(|(start, end)| text.get(start + 1..end))
    else {
        return false;
    };
    let ranks: Option<Vec<u32>> = first.split(',').map(|rank| rank.trim().parse().ok()).collect();
    let is_rising = |ranks: Vec<u32>| !ascending || ranks.windows(2).all(|pair| pair[0] < pair[1]);
    if !text.starts_with('{') || !ranks.is_some_and(is_rising) {
        return false;
    }
    let mut depth = 0;
    // Parts of even number are outside the quoted names.
    text.split('"').step_by(2).flat_map(str::chars).all(|sign| {
        depth += i32::from(sign == '[') - i32::from(sign == ']');
        (0..2).contains(&depth) && (sign.is_ascii_digit() || sign.is_whitespace() || "{}[],:".contains(sign))
    }) && text.trim_end().chars().filter(|sign| *sign == '{').count() == 1
}

/// Recognises files by their text.
pub(super) fn text(text: &str) -> Option<ForeignFile> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().next().unwrap_or_default();
    let mut words = first.split_whitespace();
    if matches!(words.next(), Some("module" | "submodule")) && first.ends_with('{') {
        return Some(Yang);
    }
    let setting = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let is_name =
            !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
        (is_name && value.trim().ends_with(';')).then_some(())
    };
    let code = || lines().filter(|line| !line.starts_with("//"));
    if code().count() > 2
        && code().all(|line| setting(line.split("//").next().unwrap_or_default().trim()).is_some())
    {
        return Some(BooksimConfig);
    }
    if text.contains("server_classes:") || text.contains("switch_port_zones:") {
        return Some(ClusterClasses);
    }
    // The first two lines of a table have the same separators.
    for separator in [',', ';', '\t'] {
        let counts: Vec<usize> = lines().take(3).map(|line| line.matches(separator).count()).collect();
        if counts.len() > 1 && counts[0] > 0 && counts.iter().all(|count| *count == counts[0]) {
            return Some(OtherTable);
        }
    }
    // Markdown: a heading with `#`, or a first line that is underlined with `=`.
    let underlined =
        lines().nth(1).is_some_and(|line| line.len() > 3 && line.chars().all(|sign| sign == '='));
    if first.starts_with("# ") || underlined || is_prose(text) {
        return Some(Prose);
    }
    let keys = lines().filter(|line| !line.starts_with('#')).take(3);
    let is_key = |line: &str| {
        let line = line.strip_prefix("- ").unwrap_or(line);
        line.split_once(':').is_some_and(|(key, rest)| {
            !key.is_empty()
                && key.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.'))
                && (rest.is_empty() || rest.starts_with(' '))
        })
    };
    if first == "---" || (lines().count() > 1 && keys.into_iter().all(is_key)) {
        return Some(OtherYaml);
    }
    None
}

/// Returns `true` for a text of many words, most of which consist of letters.
fn is_prose(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(200).collect();
    let letters = |word: &&&str| {
        word.chars().all(|sign| {
            sign.is_alphabetic() || matches!(sign, '.' | ',' | ';' | ':' | '\'' | '"' | '(' | ')' | '-')
        })
    };
    words.len() >= 8 && 10 * words.iter().filter(letters).count() >= 8 * words.len()
}
