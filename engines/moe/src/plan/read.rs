//! Reading the result of a plan from JSON, all problems at once.
//!
//! Only form is checked here: whether the plan is right is the checker's business.

use super::{
    AllToAll, CircuitAction, CostPlan, ExpertPlacement, FabricKind, IterationPlan, LayerEvent, LayerPhase,
    LayerPlan, LayerTimeline, MoeResult, OtherExchange, Reconfiguration, RegionCircuit, RegionRoute,
    RoutePath,
};
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};

const ACTIONS: [(&str, CircuitAction); 3] =
    [("keep", CircuitAction::Keep), ("add", CircuitAction::Add), ("remove", CircuitAction::Remove)];
const PATHS: [(&str, RoutePath); 2] = [("ocs", RoutePath::Ocs), ("eps", RoutePath::Eps)];

impl MoeResult {
    /// Reads the keys of a `result`; values of a wrong type and missing keys are problems. The caller finishes
    /// `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let layers = fields.each("layers", problems, layer);
        let iteration = part(fields, "iteration", problems, iteration);
        let cost = part(fields, "cost", problems, cost);
        Some(Self { layers: layers?, iteration: iteration?, cost: cost? })
    }
}

fn part<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: impl FnOnce(&mut Fields<'_>, &mut Problems) -> Option<T>,
) -> Option<T> {
    let mut inner = fields.object(key, problems)?;
    let value = read(&mut inner, problems);
    inner.finish(problems);
    value
}

fn number(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<f64> {
    fields.float(key, f64::MIN..=f64::MAX, problems)
}

fn index(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<u32> {
    let value = fields.required(key, problems)?;
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_none() {
        let remedy = "give a whole number, without a point";
        problems.add(fields.path_of(key), format!("is {}", brief(value)), remedy);
    }
    number
}

fn layer(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<LayerPlan> {
    let layer = index(fields, "layer", problems);
    let demand = matrix(fields, "demand_bytes", problems);
    let placement = match fields.optional("placement") {
        None => Some(None),
        Some(_) => part(fields, "placement", problems, placement).map(Some),
    };
    let circuits = fields.each("circuits", problems, circuit);
    let routes = fields.each("routes", problems, route);
    let times = part(fields, "all_to_all", problems, all_to_all);
    let other = match fields.optional("other_exchanges") {
        None => Some(Vec::new()),
        Some(_) => fields.each("other_exchanges", problems, |fields, problems| {
            let phase = fields.choice("phase", &LayerPhase::ALL, problems);
            let circuits = fields.each("circuits", problems, circuit);
            let routes = fields.each("routes", problems, route);
            let times = part(fields, "all_to_all", problems, all_to_all);
            Some(OtherExchange { phase: phase?, circuits: circuits?, routes: routes?, all_to_all: times? })
        }),
    };
    let timeline = part(fields, "timeline", problems, |fields, problems| {
        let events = fields.each("events", problems, |fields, problems| {
            let phase = fields.text("phase", problems).map(str::to_owned);
            let (start, end) = (number(fields, "start_ms", problems), number(fields, "end_ms", problems));
            Some(LayerEvent { phase: phase?, start_ms: start?, end_ms: end? })
        });
        let changes = fields.each("reconfigurations", problems, |fields, problems| {
            let before = fields.choice("before", &LayerPhase::ALL, problems);
            let window = fields.text("window", problems).map(str::to_owned);
            let (delay, length) =
                (number(fields, "delay_ms", problems), number(fields, "window_ms", problems));
            let stall = number(fields, "stall_ms", problems);
            Some(Reconfiguration {
                before: before?,
                window: window?,
                delay_ms: delay?,
                window_ms: length?,
                stall_ms: stall?,
            })
        });
        Some(LayerTimeline { events: events?, reconfigurations: changes? })
    });
    Some(LayerPlan {
        layer: layer?,
        demand_bytes: demand?,
        placement: placement?,
        circuits: circuits?,
        routes: routes?,
        all_to_all: times?,
        other_exchanges: other?,
        timeline: timeline?,
    })
}

fn placement(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ExpertPlacement> {
    let mut list = |key| {
        let value = fields.required(key, problems)?;
        let path = fields.path_of(key);
        whole_numbers::<u32>(value, &path, problems)
    };
    let (slots, replicas) = (list("physical_to_logical"), list("replicas"));
    let busiest = number(fields, "busiest_rank", problems);
    Some(ExpertPlacement { physical_to_logical: slots?, replicas: replicas?, busiest_rank: busiest? })
}

fn matrix(fields: &mut Fields<'_>, key: &'static str, problems: &mut Problems) -> Option<Vec<Vec<f64>>> {
    let path = fields.path_of(key);
    let list = fields.list(key, problems)?;
    let mut rows = Vec::with_capacity(list.len());
    for (number, row) in list.iter().enumerate() {
        let path = format!("{path}[{number}]");
        let entries = list_at(row, &path, problems)?;
        let numbers: Vec<f64> = entries.iter().filter_map(serde_json::Value::as_f64).collect();
        if numbers.len() == entries.len() {
            rows.push(numbers);
        } else {
            problems.add(path, "has an entry that is no number", "give numbers of bytes");
        }
    }
    (rows.len() == list.len()).then_some(rows)
}

fn circuit(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<RegionCircuit> {
    let (server_a, nic_a) = (index(fields, "server_a", problems), index(fields, "nic_a", problems));
    let (server_b, nic_b) = (index(fields, "server_b", problems), index(fields, "nic_b", problems));
    let action = fields.choice("action", &ACTIONS, problems);
    Some(RegionCircuit {
        server_a: server_a?,
        nic_a: nic_a?,
        server_b: server_b?,
        nic_b: nic_b?,
        action: action?,
    })
}

fn route(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<RegionRoute> {
    let (src, dst) = (index(fields, "src_server", problems), index(fields, "dst_server", problems));
    let path = fields.choice("path", &PATHS, problems);
    let from = index(fields, "delegate_nic_src", problems);
    let to = index(fields, "delegate_nic_dst", problems);
    let bytes = number(fields, "bytes", problems);
    Some(RegionRoute {
        src_server: src?,
        dst_server: dst?,
        path: path?,
        delegate_nic_src: from?,
        delegate_nic_dst: to?,
        bytes: bytes?,
    })
}

fn all_to_all(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<AllToAll> {
    let mut time = |key| number(fields, key, problems);
    let (ocs, eps) = (time("step3_ocs_ms"), time("step3_eps_ms"));
    let (gather, scatter, local) = (time("gather_ms"), time("scatter_ms"), time("local_ms"));
    let total = time("all_to_all_ms");
    Some(AllToAll {
        step3_ocs_ms: ocs?,
        step3_eps_ms: eps?,
        gather_ms: gather?,
        scatter_ms: scatter?,
        local_ms: local?,
        all_to_all_ms: total?,
    })
}

fn iteration(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<IterationPlan> {
    let fabric = fields.choice("fabric", &FabricKind::ALL, problems);
    let free = index(fields, "free_changes", problems);
    let mut time = |key| number(fields, key, problems);
    let (compute, tensor) = (time("compute_ms"), time("tensor_parallel_ms"));
    let (exchange, stall) = (time("all_to_all_ms"), time("stall_ms"));
    let (data, total, eps) = (time("data_parallel_ms"), time("iteration_ms"), time("eps_bytes"));
    Some(IterationPlan {
        fabric: fabric?,
        free_changes: free?,
        compute_ms: compute?,
        tensor_parallel_ms: tensor?,
        all_to_all_ms: exchange?,
        stall_ms: stall?,
        data_parallel_ms: data?,
        iteration_ms: total?,
        eps_bytes: eps?,
    })
}

fn cost(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CostPlan> {
    let mut amount = |key| number(fields, key, problems);
    let (server, cluster) = (amount("server_usd"), amount("cluster_usd"));
    let (fat_tree, time) = (amount("fat_tree_usd"), amount("fat_tree_ms"));
    let performance = amount("performance_per_dollar");
    Some(CostPlan {
        server_usd: server?,
        cluster_usd: cluster?,
        fat_tree_usd: fat_tree?,
        fat_tree_ms: time?,
        performance_per_dollar: performance?,
    })
}
