//! Toy switches: they do what the commands of every format say, refuse busy ports and unknown connections, and take
//! nothing that is not written as it should be.

use super::State;
use crate::scenario::Circuit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Answer of a toy switch to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The state was read back.
    ReadBack,
    /// Something else.
    Done,
}

type Outcome = Result<Reply, String>;

/// Switches by number.
pub(super) struct Switches {
    state: State,
    /// `true` if a port that serves one direction is busy for the other too.
    shared: bool,
}

fn expect<T>(value: Option<T>, what: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("expected {what}"))
}

impl Switches {
    pub(super) const fn holding(state: State, shared: bool) -> Self {
        Self { state, shared }
    }

    pub(super) fn state(&self) -> State {
        self.state.clone()
    }

    fn connect(&mut self, id: u32, ingress: &str, egress: &str) -> Result<(), String> {
        let state = self.state.entry(id).or_default();
        let mut busy = state.contains_key(ingress) || state.values().any(|there| there == egress);
        if self.shared {
            busy |= state.contains_key(egress) || state.values().any(|there| there == ingress);
        }
        if busy {
            return Err(format!("{ingress} or {egress} is busy"));
        }
        state.insert(ingress.to_owned(), egress.to_owned());
        Ok(())
    }

    fn disconnect(&mut self, id: u32, ingress: &str, egress: Option<&str>) -> Result<(), String> {
        let gone = self.state.entry(id).or_default().remove(ingress);
        let gone = expect(gone, &format!("a connection of {ingress}"))?;
        match egress {
            Some(egress) if egress != gone => Err(format!("{ingress} leads to {gone}, not {egress}")),
            _ => Ok(()),
        }
    }

    /// Sends a file to a switch.
    pub(super) fn send(&mut self, format: &str, id: u32, text: &str) -> Outcome {
        match format {
            "polatis_tl1" => self.polatis_tl1(id, text),
            "calient_tl1" => self.calient_tl1(id, text),
            "glimmerglass_tl1" => self.glimmerglass_tl1(id, text),
            "polatis_restconf" => self.restconf(id, text),
            "polatis_netconf" => self.netconf(id, text),
            "ocp_ocs" => self.ocp(id, text),
            "sonic_ocs" => self.sonic(id, text),
            other => Err(format!("no switch speaks {other}")),
        }
    }

    fn polatis_tl1(&mut self, id: u32, text: &str) -> Outcome {
        let mut last = Reply::Done;
        for (number, line) in text.lines().enumerate() {
            let parts: Vec<&str> = expect(line.strip_suffix(';'), "a semicolon")?.split(':').collect();
            assert_eq!(parts[3], (number + 1).to_string(), "tags count up");
            last = Reply::Done;
            match parts[..] {
                ["ACT-USER", "", "<user>", _, "", "<password>"] if number == 0 => {}
                ["DLT-PATCH", "", ingress, _, ""] => self.disconnect(id, ingress, None)?,
                ["ENT-PATCH", "", pair, _, ""] => {
                    let (ingress, egress) = expect(pair.split_once(','), "two ports")?;
                    self.connect(id, ingress, egress)?;
                }
                ["RTRV-PATCH", "", "", _, ""] => last = Reply::ReadBack,
                _ => return Err(format!("DENY {line}")),
            }
        }
        Ok(last)
    }

    fn glimmerglass_tl1(&mut self, id: u32, text: &str) -> Outcome {
        let mut last = Reply::Done;
        let port = |text: &str, base: u64| {
            let number = text.parse::<u64>().ok().and_then(|number| number.checked_sub(base));
            number.map(|number| number.to_string()).ok_or_else(|| format!("DENY {text}"))
        };
        for (number, line) in text.lines().enumerate() {
            let parts: Vec<&str> = expect(line.strip_suffix(';'), "a semicolon")?.split(':').collect();
            assert_eq!(parts[3], (number + 1).to_string(), "tags count up");
            last = Reply::Done;
            match parts[..] {
                ["dlt-crs-fiber", "", ingress, _] => self.disconnect(id, &port(ingress, 10_000)?, None)?,
                ["ent-crs-fiber", "", pair, _] => {
                    let (ingress, egress) = expect(pair.split_once(','), "two ports")?;
                    self.connect(id, &port(ingress, 10_000)?, &port(egress, 20_000)?)?;
                }
                ["rtrv-crs-fiber", "", "all", _] => last = Reply::ReadBack,
                _ => return Err(format!("DENY {line}")),
            }
        }
        Ok(last)
    }

    fn calient_tl1(&mut self, id: u32, text: &str) -> Outcome {
        let mut last = Reply::Done;
        // Entered but not active, or cancelled but not deleted.
        let mut idle: BTreeSet<(String, String)> = BTreeSet::new();
        for (number, line) in text.lines().enumerate() {
            let parts: Vec<&str> = expect(line.strip_suffix(';'), "a semicolon")?.split(':').collect();
            assert_eq!(parts[3], (number + 1).to_string(), "tags count up");
            last = Reply::Done;
            if matches!(parts[..], ["ACT-USER", "", "<user>", _, "", "<password>"]) && number == 0 {
                continue;
            }
            if matches!(parts[..], ["RTRV-CRS", "", "", _, "", "ALL"]) {
                last = Reply::ReadBack;
                continue;
            }
            let [verb, "", ports, _, "", rest] = parts[..] else { return Err(format!("DENY {line}")) };
            let (from, to) = expect(ports.split_once(','), "two ports")?;
            let (way, sign) = if self.shared { ("2WAY", '-') } else { ("1WAY", '>') };
            let name = format!("{from}{sign}{to}");
            let pair = (from.to_owned(), to.to_owned());
            let rest: Vec<&str> = rest.split(',').collect();
            match (verb, &rest[..]) {
                ("ENT-CRS", ["lightbay", kind]) if *kind == way => {
                    self.connect(id, from, to)?;
                    idle.insert(pair);
                }
                ("ACT-CRS", [named, "lightbay"]) if *named == name && idle.remove(&pair) => {}
                ("CANC-CRS", ["", "lightbay", named]) if *named == name => {
                    let there = self.state.entry(id).or_default().get(from);
                    if there.map(String::as_str) != Some(to) || !idle.insert(pair) {
                        return Err(format!("{name} is not active"));
                    }
                }
                ("DLT-CRS", ["", "lightbay", named]) if *named == name && idle.remove(&pair) => {
                    self.disconnect(id, from, Some(to))?;
                }
                _ => return Err(format!("DENY {line}")),
            }
        }
        if idle.is_empty() { Ok(last) } else { Err(format!("{idle:?} are not active")) }
    }

    fn restconf(&mut self, id: u32, text: &str) -> Outcome {
        const LIST: &str = "'optical-switch:cross-connects'";
        let mut last = Reply::Done;
        let commands = text.lines().skip_while(|line| *line != "}").skip(1);
        let mut lines = commands.filter(|line| !line.starts_with('#'));
        while let Some(line) = lines.next() {
            last = Reply::Done;
            let request = expect(line.strip_prefix("request "), "a request")?;
            let (method, rest) = expect(request.split_once(' '), "a path")?;
            let pairs = |body: &str, pointer: &str| -> Result<Vec<(String, String)>, String> {
                let body: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
                let list = expect(body.pointer(pointer).and_then(Value::as_array), "a list")?;
                let number = |pair: &Value, key| pair[key].as_u64().unwrap().to_string();
                Ok(list.iter().map(|pair| (number(pair, "ingress"), number(pair, "egress"))).collect())
            };
            match method {
                "GET" if rest == LIST => last = Reply::ReadBack,
                "DELETE" => {
                    let key = rest.strip_prefix("'optical-switch:cross-connects/pair=");
                    let ingress = expect(key.and_then(|key| key.strip_suffix('\'')), "a key")?;
                    self.disconnect(id, ingress, None)?;
                }
                "POST" => {
                    let body = expect(rest.strip_prefix(LIST), "the list")?.trim().trim_matches('\'');
                    for (ingress, egress) in pairs(body, "/optical-switch:pair")? {
                        self.connect(id, &ingress, &egress)?;
                    }
                }
                "PUT" if rest == format!("{LIST} @- <<'LIST'") => {
                    let body = expect(lines.next(), "a body")?;
                    assert_eq!(lines.next(), Some("LIST"));
                    self.state.remove(&id);
                    for (ingress, egress) in pairs(body, "/optical-switch:cross-connects/pair")? {
                        self.connect(id, &ingress, &egress)?;
                    }
                }
                _ => return Err(format!("405 {line}")),
            }
        }
        Ok(last)
    }

    fn netconf(&mut self, id: u32, text: &str) -> Outcome {
        const NC: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";
        const MODEL: &str = "http://www.polatis.com/yang/optical-switch";
        let mut last = Reply::Done;
        let messages = expect(text.strip_suffix("]]>]]>\n"), "the end of the last message")?;
        for (number, message) in messages.split("]]>]]>\n").enumerate() {
            last = Reply::Done;
            let document = roxmltree::Document::parse(message).map_err(|error| error.to_string())?;
            let root = document.root_element();
            let has = |name: &str| root.descendants().any(|node| node.has_tag_name((NC, name)));
            if number == 0 {
                assert!(root.has_tag_name((NC, "hello")) && has("capability"));
                continue;
            }
            assert_eq!(root.attribute("message-id"), Some(number.to_string().as_str()));
            let list = root.descendants().find(|node| node.has_tag_name((MODEL, "cross-connects")));
            let list = expect(list, "the list")?;
            if has("get-config") {
                last = Reply::ReadBack;
                continue;
            }
            assert!(has("edit-config") && has("target") && has("running"));
            if list.attribute((NC, "operation")) == Some("replace") {
                self.state.remove(&id);
            }
            for pair in list.children().filter(roxmltree::Node::is_element) {
                assert!(pair.has_tag_name((MODEL, "pair")));
                let port = |name: &str| {
                    let node = pair.children().find(|node| node.has_tag_name((MODEL, name)));
                    node.and_then(|node| node.text()).map(str::to_owned)
                };
                let ingress = expect(port("ingress"), "an ingress")?;
                match pair.attribute((NC, "operation")) {
                    Some("delete") => self.disconnect(id, &ingress, None)?,
                    None => self.connect(id, &ingress, &expect(port("egress"), "an egress")?)?,
                    Some(other) => return Err(format!("no operation {other}")),
                }
            }
        }
        Ok(last)
    }

    fn ocp(&mut self, id: u32, text: &str) -> Outcome {
        const LIST: &str = "/ocp-ocs-optical-switch-connections:connections";
        let (comments, body): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        let request: Value = serde_json::from_str(&body.join("\n")).map_err(|error| error.to_string())?;
        let ports = |entry: &Value| {
            let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
            let (name, input, output) =
                (text("/name"), text("/config/input-port-name"), text("/config/output-port-name"));
            assert_eq!((&name, &name), (&text("/config/name"), &format!("{input}_{output}")));
            (name, input, output)
        };
        let list = |key: &str| request.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        // A server deletes before it replaces and updates.
        for path in list("deletes") {
            let key =
                path.as_str().and_then(|path| path.strip_prefix(&format!("{LIST}/port-connection[name=")));
            let name = expect(key.and_then(|key| key.strip_suffix(']')), "a name")?;
            let (input, output) = expect(name.split_once('_'), "two ports")?;
            self.disconnect(id, input, Some(output))?;
        }
        for replaced in list("replaces") {
            assert_eq!(replaced["path"], LIST);
            self.state.remove(&id);
            for entry in replaced["value"]["port-connection"].as_array().unwrap() {
                let (_, input, output) = ports(entry);
                self.connect(id, &input, &output)?;
            }
        }
        for update in list("updates") {
            let (name, input, output) = ports(&update["value"]);
            assert_eq!(update["path"], format!("{LIST}/port-connection[name={name}]"));
            self.connect(id, &input, &output)?;
        }
        let last = comments.last().filter(|line| text.trim_end().ends_with(**line));
        let reads = last.is_some_and(|line| line.ends_with(&format!("get --path '{LIST}'")));
        Ok(if reads { Reply::ReadBack } else { Reply::Done })
    }

    fn sonic(&mut self, id: u32, text: &str) -> Outcome {
        match text.chars().next() {
            Some('[') => self.sonic_patch(id, text),
            Some('{') => self.sonic_bulk(id, text),
            _ if text.contains("\nrequest() {") => self.sonic_restconf(id, text),
            _ => self.sonic_commands(id, text),
        }
    }

    /// Adds the entries of a list of the model.
    fn add_entries(&mut self, id: u32, list: &Value) -> Result<(), String> {
        for entry in expect(list.as_array(), "a list")? {
            let text = |key: &str| entry[key].as_str().unwrap().to_owned();
            let (a, b) = (text("a_side"), text("b_side"));
            assert_eq!(entry["cross_connect_id"], format!("{a}-{b}"));
            self.connect(id, &a, &b)?;
        }
        Ok(())
    }

    /// Follows RFC 6902: a value is added to a parent that exists, and what is removed exists.
    fn sonic_patch(&mut self, id: u32, text: &str) -> Outcome {
        let operations: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let held = self.state.get(&id).cloned().unwrap_or_default();
        // Only a switch that has connections has the table.
        let mut table: Option<BTreeMap<String, Value>> = (!held.is_empty()).then(BTreeMap::new);
        for (a, b) in held {
            let entry = serde_json::json!({"a_side": a, "b_side": b});
            table.as_mut().unwrap().insert(format!("{a}-{b}"), entry);
        }
        for operation in operations {
            let path = operation["path"].as_str().unwrap().to_owned();
            let steps: Vec<&str> = path.split('/').skip(1).collect();
            match (operation["op"].as_str().unwrap(), &steps[..]) {
                ("add", ["OCS_CROSS_CONNECT"]) => table = Some(BTreeMap::new()),
                ("add", ["OCS_CROSS_CONNECT", name]) => {
                    let table = expect(table.as_mut(), "the table")?;
                    table.insert((*name).to_owned(), operation["value"].clone());
                }
                ("add", ["OCS_CROSS_CONNECT", name, leaf]) => {
                    let entry = table.as_mut().and_then(|table| table.get_mut(*name));
                    expect(entry, "the connection")?[*leaf] = operation["value"].clone();
                }
                ("remove", ["OCS_CROSS_CONNECT", name]) => {
                    expect(table.as_mut().and_then(|table| table.remove(*name)), "the connection")?;
                }
                _ => return Err(format!("no such operation: {operation}")),
            }
        }
        self.state.remove(&id);
        for (name, entry) in table.unwrap_or_default() {
            let (a, b) = (entry["a_side"].as_str().unwrap(), entry["b_side"].as_str().unwrap());
            assert_eq!(name, format!("{a}-{b}"));
            self.connect(id, a, b)?;
        }
        Ok(Reply::ReadBack)
    }

    fn sonic_bulk(&mut self, id: u32, text: &str) -> Outcome {
        let update: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let input = &update["sonic-ocs:input"];
        for name in expect(input["delete"].as_array(), "a list")? {
            let (a, b) = expect(name.as_str().and_then(|name| name.split_once('-')), "two sides")?;
            self.disconnect(id, a, Some(b))?;
        }
        self.add_entries(id, &input["add"])?;
        Ok(Reply::ReadBack)
    }

    fn sonic_restconf(&mut self, id: u32, text: &str) -> Outcome {
        const TABLE: &str = "'sonic-ocs:sonic-ocs/OCS_CROSS_CONNECT";
        let mut last = Reply::Done;
        let commands = text.lines().skip_while(|line| *line != "}").skip(1);
        let mut lines = commands.filter(|line| !line.starts_with('#'));
        while let Some(line) = lines.next() {
            last = Reply::Done;
            if line == "request PATCH 'sonic-ocs:sonic-ocs' @- <<'LIST'" {
                let body: String = lines.by_ref().take_while(|line| *line != "LIST").collect();
                let body: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
                let list = "/sonic-ocs:sonic-ocs/OCS_CROSS_CONNECT/OCS_CROSS_CONNECT_LIST";
                self.add_entries(id, expect(body.pointer(list), "the list")?)?;
            } else if line == format!("request GET {TABLE}'") {
                last = Reply::ReadBack;
            } else {
                let key = line.strip_prefix(&format!("request DELETE {TABLE}/OCS_CROSS_CONNECT_LIST="));
                let key = expect(key.and_then(|key| key.strip_suffix('\'')), "a key")?;
                let (a, b) = expect(key.split_once('-'), "two sides")?;
                self.disconnect(id, a, Some(b))?;
            }
        }
        Ok(last)
    }

    fn sonic_commands(&mut self, id: u32, text: &str) -> Outcome {
        let mut last = Reply::Done;
        for line in text.lines().filter(|line| !line.starts_with('#') && *line != "set -eu") {
            let words: Vec<&str> = line.split(' ').collect();
            last = Reply::Done;
            match words[..] {
                ["config", "ocs-cross-connect", "delete", key] => {
                    let (a, b) = expect(key.split_once('-'), "two sides")?;
                    self.disconnect(id, a, Some(b))?;
                }
                ["config", "ocs-cross-connect", "add", key, "--a-side", a, "--b-side", b]
                    if key == format!("{a}-{b}") && a.ends_with('A') && b.ends_with('B') =>
                {
                    self.connect(id, a, b)?;
                }
                ["config", "ocs", "cross-connect", "delete", key] => {
                    let (a, b) = expect(key.split_once('-'), "two sides")?;
                    self.disconnect(id, a, Some(b))?;
                }
                ["config", "ocs", "cross-connect", "add", key, "safe"] => {
                    let (a, b) = expect(key.split_once('-'), "two sides")?;
                    self.connect(id, a, b)?;
                }
                ["show", "ocs-cross-connect"] | ["show", "ocs", "cross-connect", "config"] => {
                    last = Reply::ReadBack;
                }
                _ => return Err(format!("no such command: {line}")),
            }
        }
        Ok(last)
    }
}

/// Circuits by switch.
pub(super) type Table = BTreeSet<(u32, Circuit)>;

/// Follows the rows of a table from a state on; a port that is in use is refused.
pub(super) fn table(text: &str, mut state: Table) -> Result<Table, String> {
    let mut lines = text.lines();
    assert!(
        lines.next().is_some_and(|header| header.starts_with("ocs_id,action,pod_a,port_a,pod_b,port_b,"))
    );
    let mut ports: BTreeMap<(u32, u32, u32, bool), u32> = BTreeMap::new();
    let mut used = |(ocs, circuit): &(u32, Circuit), change: i32| -> Result<(), String> {
        for (pod, port, far) in
            [(circuit.pod_a, circuit.port_a_index, false), (circuit.pod_b, circuit.port_b_index, true)]
        {
            let count = ports.entry((*ocs, pod, port, far)).or_default();
            *count = count.checked_add_signed(change).filter(|&count| count < 2).ok_or("busy")?;
        }
        Ok(())
    };
    for circuit in &state {
        used(circuit, 1)?;
    }
    for line in lines.filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(',').collect();
        let number = |index: usize| words[index].parse::<u32>().map_err(|error| error.to_string());
        let circuit = Circuit {
            pod_a: number(2)?,
            port_a_index: number(3)?,
            pod_b: number(4)?,
            port_b_index: number(5)?,
        };
        let key = (number(0)?, circuit);
        let fits = match words[1] {
            "keep" => state.contains(&key),
            "remove" => {
                used(&key, -1)?;
                state.remove(&key)
            }
            "add" => {
                used(&key, 1)?;
                state.insert(key)
            }
            other => return Err(other.to_owned()),
        };
        if !fits {
            return Err(format!("{line} does not fit"));
        }
    }
    Ok(state)
}
