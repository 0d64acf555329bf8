//! Contradictions between fields, which the validation of single fields cannot detect.

use super::{Circuit, CrossconnectScenario, Placed, Side, Stray, Wiring};
use lightbay_core::problem::Problems;
use std::collections::{BTreeMap, HashMap};

impl CrossconnectScenario {
    /// Checks the scenario, including that no pod has more circuits than ports.
    ///
    /// # Errors
    /// All problems.
    pub fn validate(&self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        self.validate_shapes(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        self.validate_panels(&mut problems);
        self.validate_demand(&mut problems);
        self.validate_installed(&mut problems);
        self.validate_strays(&mut problems);
        self.validate_placed(&mut problems);
        self.validate_failed(&mut problems);
        self.validate_failed_before(&mut problems);
        self.validate_pinned(&mut problems);
        if problems.is_empty() {
            self.validate_degrees(&mut problems);
        }
        problems.into_result(())
    }

    fn validate_shapes(&self, problems: &mut Problems) {
        let (pods, ocs) = (self.pods as usize, self.ocs_count as usize);
        if let Some(names) = self.pod_names.as_ref().filter(|names| names.len() != pods) {
            let message = format!("has {} names", names.len());
            problems.add("pod_names", message, "give one name for each pod, or leave it out");
        }
        if self.ports_b.is_empty() {
            problems.add("ports_b", "is missing", "add it");
        }
        for (key, table, columns) in [
            ("ports_a", &self.ports_a, ocs),
            ("ports_b", &self.ports_b, ocs),
            ("logical_circuits", &self.logical_circuits, pods),
        ] {
            if table.len() != pods && !table.is_empty() {
                let message = format!("has {} rows", table.len());
                problems.add(key, message, format!("give one row for each of the {pods} pods"));
            }
            for (pod, row) in table.iter().enumerate().filter(|(_, row)| row.len() != columns) {
                let message = format!("has {} entries", row.len());
                problems.add(format!("{key}[{pod}]"), message, format!("give {columns} entries"));
            }
        }
        if self.wiring == Wiring::SingleSided && self.ports_b.iter().flatten().any(|&ports| ports > 0) {
            problems.add(
                "ports_b",
                "is not all zero, but with single_sided wiring ports have no sides",
                "count all ports in ports_a",
            );
        }
    }

    fn validate_demand(&self, problems: &mut Problems) {
        for (i, row) in self.logical_circuits.iter().enumerate() {
            if row[i] != 0 {
                problems.add(
                    format!("logical_circuits[{i}][{i}]"),
                    format!("is {}", row[i]),
                    "give 0: a pod has no circuit to itself",
                );
            }
            for (j, &count) in row.iter().enumerate().skip(i + 1) {
                let back = self.logical_circuits[j][i];
                if count != back {
                    problems.add(
                        format!("logical_circuits[{i}][{j}]"),
                        format!("is {count}, but [{j}][{i}] is {back}"),
                        "give the same number in both: circuits are duplex",
                    );
                }
            }
        }
    }

    fn validate_installed(&self, problems: &mut Problems) {
        let entries = self.installed.ocs.len();
        if entries != 0 && entries != self.ocs_count as usize {
            problems.add(
                "installed.ocs",
                format!("has {entries} switches, but 'ocs_count' is {}", self.ocs_count),
                "give one entry for each switch, or none if nothing is installed; check that the state belongs to these switches",
            );
            return;
        }
        for (index, ocs) in self.installed.ocs.iter().enumerate() {
            let path = format!("installed.ocs[{index}]");
            if ocs.ocs_id as usize != index {
                problems.add(
                    format!("{path}.ocs_id"),
                    format!("is {}", ocs.ocs_id),
                    format!("list the switches in order: {index} is expected here"),
                );
                continue;
            }
            let mut taken: HashMap<(Side, u32, u32), usize> = HashMap::new();
            for (number, circuit) in ocs.cross_connects.iter().enumerate() {
                let path = format!("{path}.cross_connects[{number}]");
                self.validate_circuit(*circuit, index, &path, problems);
                for end in self.ends(*circuit) {
                    if let Some(first) = taken.insert(end, number) {
                        let (side, pod, port) = end;
                        problems.add(
                            path.clone(),
                            format!(
                                "uses {} of pod {pod}, which cross_connects[{first}] already uses",
                                named(side, port, self.wiring)
                            ),
                            "a port holds one circuit",
                        );
                    }
                }
            }
        }
    }

    /// Checks connections that make no circuit: their ports exist, each is listed once, and none belongs to an
    /// installed circuit.
    fn validate_strays(&self, problems: &mut Problems) {
        let installed: std::collections::HashSet<_> = self
            .installed_circuits()
            .flat_map(|(ocs, circuit)| {
                let [near, far] = self.ends(circuit);
                [(ocs, near, far), (ocs, far, near)]
            })
            .collect();
        let mut seen: HashMap<_, usize> = HashMap::new();
        for (index, &Stray { ocs_id, from, to, both_ways }) in self.strays.iter().enumerate() {
            let path = format!("strays[{index}]");
            if ocs_id >= self.ocs_count {
                let remedy = format!("switches are 0 to {}", self.ocs_count - 1);
                problems.add(path, format!("names switch {ocs_id}"), remedy);
                continue;
            }
            let ends = [from, to].map(|end| (end.side, end.pod, end.port_index));
            let known = ends.map(|(side, pod, port)| {
                self.validate_port(side, pod, port, ocs_id as usize, &path, problems)
            });
            if known.contains(&false) {
                continue;
            }
            let [near, far] = ends;
            if self.wiring == Wiring::CrossWired && near.0 == far.0 {
                let remedy = "give an A and a B port: each simplex switch has A ports on one side, B ports on the other";
                problems.add(path, "joins two ports of one side", remedy);
                continue;
            }
            if installed.contains(&(ocs_id, near, far)) {
                problems.add(
                    path,
                    "is one direction of an installed circuit",
                    "list it only under 'installed'",
                );
                continue;
            }
            let ways =
                if both_ways && near != far { vec![(near, far), (far, near)] } else { vec![(near, far)] };
            let first = ways.into_iter().find_map(|(near, far)| seen.insert((ocs_id, near, far), index));
            if let Some(first) = first {
                problems.add(path, format!("repeats strays[{first}]"), "list it once");
            }
        }
    }

    /// Checks circuits that are given port by port: their ports exist, each port is used once, and every pair has its
    /// number of target circuits.
    fn validate_placed(&self, problems: &mut Problems) {
        if !self.is_placed() {
            return;
        }
        let mut taken: HashMap<(u32, Side, u32, u32), usize> = HashMap::new();
        let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (index, placed) in self.placed.iter().enumerate() {
            let path = format!("placed[{index}]");
            let Placed { ocs_id, circuit } = *placed;
            if ocs_id >= self.ocs_count {
                let remedy = format!("switches are 0 to {}", self.ocs_count - 1);
                problems.add(path, format!("names switch {ocs_id}"), remedy);
                continue;
            }
            self.validate_circuit(circuit, ocs_id as usize, &path, problems);
            for (side, pod, port) in self.ends(circuit) {
                if let Some(first) = taken.insert((ocs_id, side, pod, port), index) {
                    let port = named(side, port, self.wiring);
                    problems.add(
                        path.clone(),
                        format!(
                            "uses {port} of pod {pod} on switch {ocs_id}, which placed[{first}] already uses"
                        ),
                        "a port holds one circuit",
                    );
                }
            }
            let (a, b) = (circuit.pod_a.min(circuit.pod_b), circuit.pod_a.max(circuit.pod_b));
            *pairs.entry((a, b)).or_default() += 1;
        }
        let wanted = self.wanted_pairs();
        for &(i, j) in pairs.keys().chain(wanted.keys().filter(|pair| !pairs.contains_key(pair))) {
            let (here, there) =
                (pairs.get(&(i, j)).copied().unwrap_or(0), wanted.get(&(i, j)).copied().unwrap_or(0));
            if here != there && i != j {
                problems.add(
                    format!("logical_circuits[{i}][{j}]"),
                    format!("is {there}, but 'placed' has {here} circuits of this pair"),
                    "give the same number in both, or leave 'placed' out",
                );
            }
        }
    }

    /// Returns the ports at both ends of a circuit: side, pod, index.
    pub(crate) fn ends(&self, circuit: Circuit) -> [(Side, u32, u32); 2] {
        let far = if self.wiring == Wiring::SingleSided { Side::A } else { Side::B };
        [(Side::A, circuit.pod_a, circuit.port_a_index), (far, circuit.pod_b, circuit.port_b_index)]
    }

    /// Returns the ports at both ends of a circuit in ascending order: if ports have no sides, either end of a circuit may
    /// be named first.
    pub(crate) fn sorted_ends(&self, circuit: Circuit) -> [(Side, u32, u32); 2] {
        let mut ends = self.ends(circuit);
        ends.sort_unstable();
        ends
    }

    fn validate_circuit(&self, circuit: Circuit, ocs: usize, path: &str, problems: &mut Problems) {
        let [near, far] = self.ends(circuit);
        if circuit.pod_a == circuit.pod_b && (!self.is_placed() || near == far) {
            let remedy = if near == far {
                "give two different ports"
            } else {
                "give two pods, or all target circuits port by port in 'placed'"
            };
            problems.add(path, format!("joins pod {} to itself", circuit.pod_a), remedy);
        }
        for (side, pod, port) in self.ends(circuit) {
            self.validate_port(side, pod, port, ocs, path, problems);
        }
    }

    pub(super) fn validate_port(
        &self,
        side: Side,
        pod: u32,
        port: u32,
        ocs: usize,
        path: &str,
        problems: &mut Problems,
    ) -> bool {
        if pod >= self.pods {
            problems.add(path, format!("names pod {pod}"), format!("pods are 0 to {}", self.pods - 1));
            return false;
        }
        let ports = self.ports(side, pod as usize, ocs);
        if port >= ports {
            let has = match ports {
                0 => format!("pod {pod} has no port on this switch"),
                ports => format!("pod {pod} has ports 0 to {} on this switch", ports - 1),
            };
            problems.add(path, format!("names {} of switch {ocs}", named(side, port, self.wiring)), has);
            return false;
        }
        true
    }

    fn validate_failed(&self, problems: &mut Problems) {
        let mut seen: HashMap<_, usize> = HashMap::new();
        for (index, port) in self.failed_ports.iter().enumerate() {
            let path = format!("failed_ports[{index}]");
            if port.ocs_id >= self.ocs_count {
                problems.add(
                    path,
                    format!("names switch {}", port.ocs_id),
                    format!("switches are 0 to {}", self.ocs_count - 1),
                );
                continue;
            }
            if self.validate_port(port.side, port.pod, port.port_index, port.ocs_id as usize, &path, problems)
                && let Some(first) = seen.insert(*port, index)
            {
                problems.add(path, format!("repeats failed_ports[{first}]"), "name it once");
            }
        }
    }

    fn validate_failed_before(&self, problems: &mut Problems) {
        let failed: std::collections::HashSet<_> = self.failed_ports.iter().collect();
        for (index, port) in self.failed_before.iter().enumerate() {
            if !failed.contains(port) {
                let path = format!("failed_before[{index}]");
                problems.add(path, "is not among 'failed_ports'", "add it there, or leave it out here");
            }
        }
    }

    fn validate_pinned(&self, problems: &mut Problems) {
        let key = |ocs: u32, circuit: Circuit| (ocs, self.sorted_ends(circuit));
        let installed: std::collections::HashSet<_> =
            self.installed_circuits().map(|(ocs, circuit)| key(ocs, circuit)).collect();
        let failed: std::collections::HashSet<(u32, Side, u32, u32)> = self
            .failed_ports
            .iter()
            .map(|port| (port.ocs_id, port.side, port.pod, port.port_index))
            .collect();
        let mut pairs: HashMap<(u32, u32), u32> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for (index, pin) in self.pinned.iter().enumerate() {
            let path = format!("pinned[{index}]");
            let pinned = key(pin.ocs_id, pin.circuit);
            if !installed.contains(&pinned) {
                problems.add(path, "is not installed", "only installed circuits can be pinned");
                continue;
            }
            if !seen.insert(pinned) {
                problems.add(path, "repeats an earlier pin", "name it once");
                continue;
            }
            if self
                .ends(pin.circuit)
                .into_iter()
                .any(|(side, pod, port)| failed.contains(&(pin.ocs_id, side, pod, port)))
            {
                problems.add(path, "ends at a failed port", "unpin it, or repair the port");
                continue;
            }
            if self.is_placed() {
                if !self.placed.iter().any(|placed| key(placed.ocs_id, placed.circuit) == pinned) {
                    problems.add(
                        path,
                        "is not among the circuits of 'placed'",
                        "unpin the circuit, or add it to 'placed'",
                    );
                }
                continue;
            }
            let (a, b) = (pin.circuit.pod_a, pin.circuit.pod_b);
            let count = pairs.entry((a.min(b), a.max(b))).or_default();
            *count += 1;
            let wanted = self.logical_circuits[a as usize][b as usize];
            if *count > wanted {
                problems.add(
                    path,
                    format!(
                        "is pinned circuit {count} between pods {a} and {b}, but the target has only {wanted}"
                    ),
                    "unpin it, or raise the number of target circuits between these pods",
                );
            }
        }
    }

    /// Checks degrees against ports: a pod with more circuits than ports has no assignment. Failed ports count as ports
    /// here, because a plan leaves out circuits that the working ports cannot carry.
    fn validate_degrees(&self, problems: &mut Problems) {
        if self.is_placed() {
            return;
        }
        for pod in 0..self.pods as usize {
            let sum = |row: &[u32]| row.iter().map(|&ports| u64::from(ports)).sum::<u64>();
            let ports = sum(&self.ports_a[pod]) + sum(&self.ports_b[pod]);
            let degree = self.degree(pod);
            if degree > ports {
                problems.add(
                    format!("logical_circuits[{pod}]"),
                    format!("{} needs {degree} circuits but has {ports} ports", self.pod_name(pod)),
                    "reduce its target circuits, or give it more ports",
                );
            }
        }
    }
}

fn named(side: Side, port: u32, wiring: Wiring) -> String {
    match (wiring, side) {
        (Wiring::SingleSided, _) => format!("port {port}"),
        (_, Side::A) => format!("A port {port}"),
        (_, Side::B) => format!("B port {port}"),
    }
}
