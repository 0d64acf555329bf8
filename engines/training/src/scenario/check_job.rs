//! Check of a job, and the sizes of a valid job.

use super::check_pods;
use super::check_schedule::{check_dp_buckets, check_virtual_stages};
use super::idle::{is_replaced, replaced_remedy};
use super::job::{Job, Measured, Model, ModelChoice, PodShare, PortsPerPod, RunConfig};
use super::knobs::{job_knobs, run_knobs};
use super::limits::{MAX_BYTES, MAX_GPUS_PER_STAGE, MAX_NODES, MAX_PORTS, MAX_SECONDS, MAX_TASKS, MIN_BYTES};
use crate::scenario::presets;
use crate::scenario::workload::{Shape, StageLoad, Workload, node_count};
use lightbay_core::param::ParamValue;
use lightbay_core::problem::{Problems, counted};
use lightbay_core::record::{Record as _, check_ranges};
use lightbay_core::units::Gbps;

impl Job {
    /// The sizes of the model; a model that is given by name is looked up. `None` if the job has no model, or if the
    /// name is unknown.
    pub fn resolved_model(&self) -> Option<Model> {
        match self.model.as_ref()? {
            ModelChoice::Preset(name) => presets::model(name),
            ModelChoice::Inline(model) => Some(model.clone()),
        }
    }

    /// Sizes that follow from parallelism and placement.
    ///
    /// # Errors All problems of the job, except a literal order that cannot be executed, which is found when the graph
    /// is built.
    pub fn shape(&self) -> Result<Shape, Problems> {
        let mut problems = Problems::new();
        check_ranges(&self.run, "job.run", &mut problems);
        if self.measured.is_some() {
            check_replaced(&self.run, &mut problems);
        }
        check_model(self, &mut problems);
        // Relations between invalid values would only repeat the same problem.
        if !problems.is_empty() {
            return Err(problems);
        }
        let shape = check_grouping(self, &mut problems);
        let Some(mut shape) = shape else { return Err(problems) };
        if let Some(map) = &self.pods {
            check_pods::place(self, map, &mut shape, &mut problems);
            if !problems.is_empty() {
                return Err(problems);
            }
        }
        if let Some(measured) = &self.measured {
            check_measured(measured, self.run.micro_batches, &shape, &mut problems);
        }
        if self.pods.is_none() && set_ports(self, &mut shape, &mut problems) {
            check_pods::fail(self, &mut shape, &mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        exchanging(self.measured.as_ref(), &mut shape);
        check_ports(self, &shape, &mut problems);
        check_size(self, &shape, &mut problems);
        if problems.is_empty() {
            check_load(self, &shape, &mut problems);
        }
        problems.into_result(shape)
    }

    /// Number of inter-pod transfers of one replica.
    pub fn transfer_count(&self, shape: &Shape) -> u64 {
        if let Some(places) = &shape.places {
            let n = 2 * u64::from(self.run.micro_batches) * u64::from(shape.virtual_stages);
            let crossing = places.groups.iter().map(|group| {
                let apart = |[a, b]: &[u32; 2]| group.pods[*a as usize] != group.pods[*b as usize];
                shape.neighbours().filter(apart).count() as u64
            });
            let rings = (0..shape.stages).filter(|stage| places.exchanging[*stage as usize]);
            let hops = rings.map(|stage| 2 * places.ring(stage, shape.gpus_per_stage).pods.len() as u64);
            return n * crossing.sum::<u64>() + u64::from(shape.dp_buckets) * hops.sum::<u64>();
        }
        // Every chunk sends from pod to pod up to the last pod; between two chunks, the last pod sends to the first.
        let neighbours = u64::from(shape.virtual_stages) * u64::from(shape.pods_per_replica - 1);
        let around = if shape.pods_per_replica > 1 { u64::from(shape.virtual_stages - 1) } else { 0 };
        let pipeline = 2 * (neighbours + around) * u64::from(self.run.micro_batches);
        let buckets = u64::from(shape.stages) * u64::from(shape.dp_buckets);
        let exchanges = if shape.replicas > 1 { buckets } else { 0 };
        pipeline + exchanges
    }
}

/// Refuses values that measured figures replace, because these values would have no effect. Default values are
/// accepted, because earlier versions wrote them to files.
fn check_replaced(run: &RunConfig, problems: &mut Problems) {
    for info in run_knobs().iter().filter(|info| is_replaced(&info.name)) {
        if let Some(value) = run.field(&info.name).filter(|value| info.default.as_ref() != Some(value)) {
            problems.add(
                format!("job.run.{}", info.name),
                format!("is '{value}', but `measured` replaces it"),
                format!("leave it out, or {}", replaced_remedy(&info.name)),
            );
        }
    }
}

fn check_model(job: &Job, problems: &mut Problems) {
    match &job.model {
        None if job.measured.is_none() => {
            problems.add(
                "job.model",
                "is missing",
                "name a model, give the sizes of a model, or give `measured`",
            );
        }
        Some(ModelChoice::Preset(name)) if presets::model(name).is_none() => {
            let knob = job_knobs().iter().find(|info| info.name == "model");
            let refused = knob.and_then(|info| info.accept(&ParamValue::Text(name.clone())).err());
            let remedy = refused.map_or_else(String::new, |problem| problem.remedy);
            problems.add("job.model", format!("there is no built-in model '{name}'"), remedy);
        }
        _ => {}
    }
    let Some(model) = job.resolved_model() else { return };
    check_ranges(&model, "job.model", problems);
    if let Some(mla) = &model.mla {
        check_ranges(mla, "job.model.mla", problems);
    }
    if model.mla.is_none() && !model.heads.is_multiple_of(model.kv_heads.max(1)) {
        problems.add(
            "job.model.heads",
            format!("is {}, which is not a multiple of kv_heads {}", model.heads, model.kv_heads),
            "also give `kv_heads`: the same number, or one that divides `heads`",
        );
    }
    let of_experts = [
        ("experts", model.experts),
        ("top_k", model.top_k),
        ("expert_ffn", model.expert_ffn),
        ("shared_experts", model.shared_experts),
        ("dense_layers", model.dense_layers),
    ];
    let listed = model.moe_layers.as_ref().map(|_| &("moe_layers", None));
    if let Some((given, _)) = of_experts.iter().find(|(_, value)| value.is_some()).or(listed) {
        // A model with experts needs the first three figures; the other figures are 0 if they are not given.
        for (key, _) in of_experts[..3].iter().filter(|(_, value)| value.is_none()) {
            let remedy = format!("add it, or leave out `{given}`");
            problems.add(format!("job.model.{key}"), "is missing in a model with experts", remedy);
        }
    }
    if let Some(layers) = &model.moe_layers {
        let ascending = layers.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || layers.last().is_none_or(|last| *last >= model.layers) {
            let remedy = format!("give layers from 0 to {}, each once, in ascending order", model.layers - 1);
            problems.add("job.model.moe_layers", "is not an ascending list of layers of the model", remedy);
        }
        if model.dense_layers.is_some_and(|dense| dense > 0) {
            problems.add(
                "job.model.moe_layers",
                "cannot be combined with 'dense_layers'",
                "give one of the two",
            );
        }
    }
    let at_most =
        [("top_k", model.top_k, model.experts), ("dense_layers", model.dense_layers, Some(model.layers))];
    for (key, value, most) in at_most {
        if let (Some(value), Some(most)) = (value, most)
            && value > most
        {
            problems.add(format!("job.model.{key}"), format!("is '{value}'"), format!("give at most {most}"));
        }
    }
}

/// Checks how GPUs form stages, replicas and pods, and returns the sizes of these groups; a later step fills in the
/// ports.
fn check_grouping(job: &Job, problems: &mut Problems) -> Option<Shape> {
    let run = &job.run;
    let (tp, pp) = (u64::from(run.tp) * u64::from(run.cp), u64::from(run.pp));
    let width = if run.cp > 1 { format!("tp x cp {tp}") } else { format!("tp {tp}") };
    let expert_group = u64::from(run.ep) * u64::from(run.etp);
    let alone = run.stage_gpus();
    let share = match &job.pods {
        // `pods` places the stages later.
        Some(_) => PodShare { replicas: 1, per_replica: alone * pp },
        None => run.pod().map_err(|problem| problems.push(problem.under("job.run"))).ok()?,
    };
    if job.pods.is_some() {
        check_pods::check_alone(job, problems);
    } else if run.gpus_per_pod.is_some() && run.gpus_per_pod_per_replica > 0 {
        problems.add(
            "job.run.gpus_per_pod",
            "cannot be combined with 'gpus_per_pod_per_replica'",
            "give one of the two",
        );
    } else if run.gpus_per_pod.is_none() && run.gpus_per_pod_per_replica == 0 {
        problems.add(
            "job.run.gpus_per_pod_per_replica",
            "is missing",
            "give `gpus_per_pod_per_replica`, `gpus_per_pod` or `pods`",
        );
        return None;
    }
    // Ranks of several replicas that share a pod are one stage: they reduce their gradients among themselves first.
    let g = alone * share.replicas;
    if g > MAX_GPUS_PER_STAGE {
        let (key, other) = if alone == tp { ("cp", "tp") } else { ("ep", "etp") };
        let (shared, or) = match share.replicas {
            0 | 1 => (String::new(), ""),
            several => {
                (format!(" and by the {several} replicas that share a pod"), ", or lower `gpus_per_pod`")
            }
        };
        problems.add(
            format!("job.run.{key}"),
            format!(
                "multiplied by {other}{shared} gives {g} GPUs per stage, but the maximum is {MAX_GPUS_PER_STAGE}"
            ),
            format!("lower `{key}` or `{other}`{or}"),
        );
        return None;
    }
    // Each rank of a sequence gets two of its 2 cp parts, one from each end, so that all ranks have the same attention
    // work.
    let parts = 2 * u64::from(run.cp);
    if run.cp > 1 && job.measured.is_none() && !u64::from(run.seq).is_multiple_of(parts) {
        problems.add(
            "job.run.cp",
            format!("is '{}', which needs {parts} equal parts of a sequence of {} tokens", run.cp, run.seq),
            "give a number whose double divides `seq`",
        );
    }
    if !g.is_multiple_of(tp) {
        problems.add(
            "job.run.ep",
            format!("multiplied by etp gives {alone} GPUs per stage of a replica, which is not a multiple of {width}"),
            format!("make ep x etp a multiple of {tp}"),
        );
    }
    let (gpus, per_replica) = (u64::from(run.gpus), g * pp);
    if !gpus.is_multiple_of(per_replica) {
        let (below, above) = (gpus / per_replica * per_replica, (gpus / per_replica + 1) * per_replica);
        let choices = if below == 0 { format!("{above}") } else { format!("{below} or {above}") };
        problems.add(
            "job.run.gpus",
            format!("is '{gpus}', which is not a multiple of the {per_replica} GPUs of a replica ({g} per stage x {pp} stages)"),
            format!("give {choices}, or change `tp`, `ep` or `pp`"),
        );
    }
    let per_pod = share.per_replica * share.replicas;
    if !per_pod.is_multiple_of(g) {
        problems.add(
            "job.run.gpus_per_pod_per_replica",
            format!("is '{per_pod}', which is not a multiple of the {g} GPUs of a stage"),
            format!("give a multiple of {g}: stages do not span pods"),
        );
    } else if per_pod > per_replica {
        problems.add(
            "job.run.gpus_per_pod_per_replica",
            format!("is '{per_pod}', but a replica has {per_replica} GPUs ({g} per stage x {pp} stages)"),
            format!("give at most {per_replica}, which puts all stages into one pod"),
        );
    }
    if g.is_multiple_of(tp) && !g.is_multiple_of(expert_group) {
        problems.add(
            "job.run.ep",
            format!(
                "multiplied by etp gives groups of {expert_group} GPUs, which do not divide the {g} GPUs of a stage"
            ),
            format!("make ep x etp a divisor of {g} or a multiple of {tp}"),
        );
    }
    if let Some(model) = job.resolved_model() {
        if run.pp > model.layers {
            problems.add(
                "job.run.pp",
                format!("is '{pp}', but the model has {} layers", model.layers),
                "lower `pp`: every stage needs a layer",
            );
        }
        match model.moe() {
            None => {
                for (key, value) in [("ep", run.ep), ("etp", run.etp)] {
                    if value > 1 {
                        let message = format!("is '{value}', but the model has no experts");
                        problems.add(format!("job.run.{key}"), message, "give 1");
                    }
                }
            }
            Some(moe) if !moe.experts.is_multiple_of(run.ep) => problems.add(
                "job.run.ep",
                format!("is '{}', which does not divide the {} experts", run.ep, moe.experts),
                "give a divisor of the number of experts",
            ),
            _ => {}
        }
    }
    check_virtual_stages(job, problems);
    check_dp_buckets(job, problems);
    if !problems.is_empty() {
        return None;
    }
    // All of these numbers are at most MAX_GPUS, so they fit into u32.
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let stages_per_pod = per_pod / g;
    Some(Shape {
        gpus_per_stage: small(g),
        replicas: small(gpus / per_replica),
        replicas_per_pod: small(share.replicas),
        stages: run.pp,
        virtual_stages: run.virtual_stages,
        dp_buckets: run.dp_buckets,
        stages_per_pod: small(stages_per_pod),
        pods_per_replica: small(pp.div_ceil(stages_per_pod)),
        dp_in: small(g / tp),
        reverse: job.reverse,
        exchanging: Vec::new(),
        ports: Vec::new(),
        names: None,
        places: None,
    })
}

fn check_measured(measured: &Measured, micro_batches: u32, shape: &Shape, problems: &mut Problems) {
    if measured.stages.len() != shape.stages as usize {
        problems.add(
            "job.measured.stages",
            format!("has {} entries for {} stages", measured.stages.len(), shape.stages),
            "give one entry per stage, or change `pp`",
        );
    }
    if measured.replicas == Some(1) && shape.replicas > 1 {
        problems.add(
            "job.run.gpus",
            format!(
                "gives {} replicas, but a single replica was measured, so the bytes of the gradient exchange are unknown",
                shape.replicas
            ),
            "import the workload with that number of GPUs, or give `dp_bytes_per_gpu` and the `replicas` for which \
             it holds",
        );
    }
    let mut within = |path: String, value: f64, min: f64, max: f64| {
        if !(value >= min && value <= max) {
            problems.add(path, format!("is '{value}'"), format!("give a number from {min} to {max}"));
        }
    };
    for (index, stage) in measured.stages.iter().enumerate() {
        let path = |key: &str| format!("job.measured.stages[{index}].{key}");
        within(path("fwd_s"), stage.fwd_s, 0.0, MAX_SECONDS);
        within(path("bwd_s"), stage.bwd_s, 0.0, MAX_SECONDS);
        within(path("dp_bytes_per_gpu"), stage.dp_bytes_per_gpu, 0.0, MAX_BYTES);
        // All micro-batches together send at most the bytes of the stage, up to rounding.
        let most = stage.dp_bytes_per_gpu / f64::from(micro_batches.max(1));
        if stage.dp_bytes_per_micro_batch > most * (1.0 + 1e-9) {
            within(path("dp_bytes_per_micro_batch"), stage.dp_bytes_per_micro_batch, 0.0, most);
        }
    }
    let least = if shape.pods_per_replica > 1 { 1.0 } else { 0.0 };
    within("job.measured.pp_bytes_per_rank".to_owned(), measured.pp_bytes_per_rank, least, MAX_BYTES);
}

/// Sets which pods exchange gradients with other pods. Without measured figures, every stage whose replicas are in
/// several pods exchanges gradients; measured figures can contain stages that exchange none.
fn exchanging(measured: Option<&Measured>, shape: &mut Shape) {
    let silent = |stage: usize| {
        measured
            .and_then(|measured| measured.stages.get(stage))
            .is_some_and(|figures| figures.dp_bytes_per_gpu <= 0.0)
    };
    if let Some(places) = &mut shape.places {
        shape.exchanging = vec![false; places.names.len()];
        for stage in 0..shape.stages {
            let ring = places.ring(stage, shape.gpus_per_stage);
            let exchanges = ring.pods.len() > 1 && !silent(stage as usize);
            places.exchanging[stage as usize] = exchanges;
            for pod in ring.pods.iter().filter(|_| exchanges) {
                shape.exchanging[pod.pod as usize] = true;
            }
        }
        return;
    }
    let mut exchanging = vec![shape.replicas > 1 && measured.is_none(); shape.pods_per_replica as usize];
    for (stage, figures) in (0..shape.stages).zip(measured.iter().flat_map(|measured| &measured.stages)) {
        if shape.replicas > 1 && figures.dp_bytes_per_gpu > 0.0 {
            exchanging[shape.position(stage) as usize] = true;
        }
    }
    shape.exchanging = exchanging;
}

/// Sets the ports of the pods before any port fails; returns whether they are valid.
fn set_ports(job: &Job, shape: &mut Shape, problems: &mut Problems) -> bool {
    let before = problems.total();
    let pods = shape.pods_per_replica as usize;
    shape.ports = match &job.ports_per_pod {
        None => (0..shape.pods_per_replica)
            .map(|p| shape.stages_at(p).saturating_mul(shape.gpus_per_stage))
            .collect(),
        Some(PortsPerPod::Same(ports)) => vec![*ports; pods],
        Some(PortsPerPod::ByPosition(ports)) => {
            if ports.len() != pods {
                problems.add(
                    "job.ports_per_pod",
                    format!("has {} entries, but a replica has {pods} pods", ports.len()),
                    format!("give one number or {pods} numbers"),
                );
            }
            ports.clone()
        }
    };
    let out_of_range = shape.ports.iter().find(|ports| !(1..=MAX_PORTS).contains(*ports));
    if let Some(ports) = out_of_range.filter(|_| job.ports_per_pod.is_some()) {
        let remedy = format!("give whole numbers from 1 to {MAX_PORTS}");
        problems.add("job.ports_per_pod", format!("has '{ports}'"), remedy);
    }
    problems.total() == before
}

fn check_ports(job: &Job, shape: &Shape, problems: &mut Problems) {
    let pods = shape.pods_per_replica as usize;
    let mut listed = vec![0_u32; pods];
    for (ends, _) in shape.listed_links() {
        for pod in &ends {
            listed[*pod as usize] += 1;
        }
    }
    for (position, &ports) in (0..shape.pods_per_replica).zip(&shape.ports) {
        let needed =
            if shape.places.is_some() { listed[position as usize] } else { shape.fewest_ports(position) };
        let name = shape.pod_name(position);
        let failed = job.failed_ports.iter().filter(|failed| failed.pod == name).count() as u64;
        if ports < needed && failed > 0 {
            problems.add(
                "job.failed_ports",
                format!(
                    "leave pod '{name}' {}, but one circuit on each of its links needs {needed}",
                    counted(ports.into(), "port", "ports")
                ),
                format!("repair {} of the failed ports, or move the stages to other pods", needed - ports),
            );
        } else if ports < needed {
            problems.add(
                format!("job.ports_per_pod[{position}]"),
                format!(
                    "pod '{}' has {}, but one circuit on each of its links needs {needed}",
                    name,
                    counted(ports.into(), "port", "ports")
                ),
                match job.ports_per_pod {
                    Some(_) => format!("give the pod at least {needed} ports"),
                    None => format!(
                        "without `ports_per_pod`, a pod has one port for each of its GPUs: give the pod at least {needed} in `ports_per_pod`, or put more GPUs into it"
                    ),
                },
            );
        }
    }
}

fn check_size(job: &Job, shape: &Shape, problems: &mut Problems) {
    let n = job.run.micro_batches;
    // Each bucket except one also splits a backward pass in two, which adds a node.
    let exchanges = shape.stages.saturating_mul(2 * shape.dp_buckets - 1);
    let groups = shape.places.as_ref().map_or(1, |places| places.groups.len() as u64);
    let nodes = groups * node_count(shape.stages, shape.virtual_stages, n, exchanges);
    let tasks = job.transfer_count(shape);
    for (what, count, most) in
        [("compute and transfer nodes", nodes, MAX_NODES), ("transfers between pods", tasks, MAX_TASKS)]
    {
        if count > most {
            problems.add(
                "job.run.micro_batches",
                format!("is '{n}', which gives {count} {what} per replica, but the maximum is {most}"),
                format!(
                    "lower `micro_batches` to about {}, or lower `pp`",
                    (u64::from(n) * most / count).max(1)
                ),
            );
        }
    }
}

/// Checks products of values: their factors can be valid although the product exceeds its range.
fn check_load(job: &Job, shape: &Shape, problems: &mut Problems) {
    let Some(workload) = Workload::of(job, shape) else { return };
    let g = f64::from(shape.gpus_per_stage);
    let nic = Gbps(job.run.bandwidth_gbps).bytes_per_second();
    let slowest = nic.min(Gbps(job.run.intra_pod_rate_gbps()).bytes_per_second());
    let longest = |value: fn(&StageLoad) -> f64| workload.stages.iter().map(value).fold(0.0, f64::max);
    let dp_bytes = longest(|stage| stage.dp_bytes_per_gpu);
    let slot_s = longest(|stage| stage.fwd_s)
        + longest(|stage| stage.bwd_s)
        + 2.0 * f64::from(shape.virtual_stages) * workload.pp_volume_bytes / (g * slowest);
    let iteration_s = (f64::from(job.run.micro_batches) + f64::from(shape.stages)) * slot_s + dp_bytes / nic;
    let least = |bytes: f64| bytes > 0.0 && bytes < MIN_BYTES;
    if shape.stages > 1 && least(workload.pp_volume_bytes) {
        problems.add(
            "job",
            format!(
                "gives pipeline transfers of {:e} bytes, but the minimum is {MIN_BYTES}",
                workload.pp_volume_bytes
            ),
            "raise `act_bytes`, `seq` or `pp_bytes_per_rank`",
        );
    }
    let shares = f64::from(shape.dp_buckets);
    let exchanged = workload.stages.iter().map(|stage| stage.dp_bytes_per_gpu / shares);
    if let Some(bytes) = exchanged.into_iter().find(|bytes| shape.replicas > 1 && least(*bytes)) {
        problems.add(
            "job",
            format!("gives exchanges of {bytes:e} bytes per GPU, but the minimum is {MIN_BYTES}"),
            "raise `grad_bytes`, raise `dp_bytes_per_gpu` or set it to 0, or lower `dp_buckets`",
        );
    }
    let volume = workload.pp_volume_bytes.max(g * dp_bytes);
    if volume > MAX_BYTES {
        problems.add(
            "job",
            format!("gives transfers of {volume:.3e} bytes, but the maximum is {MAX_BYTES:e}"),
            "lower `seq`, `micro_batch_size` or the size of the model",
        );
    }
    if iteration_s > MAX_SECONDS {
        problems.add(
            "job",
            format!("gives an iteration of about {iteration_s:.3e} s, but the maximum is {MAX_SECONDS:e}"),
            "check the units; raise `bandwidth_gbps` or `peak_tflops`, or lower the sizes",
        );
    }
}
