//! Progressive filling: the speeds of all flows rise together until a resource is full.

use super::IterationRun;

/// Resources and tasks of one component, with buffers that are reused between events.
#[derive(Clone, Debug, Default)]
pub(super) struct Filler {
    /// Running tasks of the component, ascending.
    pub tasks: Vec<u32>,
    /// Speed of each of these tasks, as a fraction of one NIC per flow.
    pub speeds: Vec<f64>,
    /// Tasks in the order in which they are served, with their level (level-first rule).
    pub ranked: Vec<(f64, u32)>,
    /// Resources of the component.
    pub resources: Vec<u32>,
    free: Vec<f64>,
    weight: Vec<f64>,
    task_round: Vec<u32>,
    resource_round: Vec<u32>,
    place: Vec<u32>,
    round: u32,
    rising: Vec<u32>,
}

impl Filler {
    pub fn reset(&mut self, tasks: usize, resources: usize) {
        for (list, length) in [(&mut self.task_round, tasks), (&mut self.resource_round, resources)] {
            list.clear();
            list.resize(length, 0);
        }
        self.place.resize(tasks, 0);
        self.free.resize(resources, 0.0);
        self.weight.resize(resources, 0.0);
        self.round = 0;
    }

    /// Starts a new event: every component may be collected once.
    pub fn next_round(&mut self) {
        self.round += 1;
    }

    /// Collects the component of a resource; returns `false` if it was already collected for this event.
    pub fn collect(&mut self, resource: u32, running: &[Vec<u32>], run: &IterationRun<'_>) -> bool {
        if self.resource_round[resource as usize] == self.round {
            return false;
        }
        self.tasks.clear();
        self.resources.clear();
        self.resource_round[resource as usize] = self.round;
        self.resources.push(resource);
        let mut next = 0;
        // Flood fill: from a resource to its tasks, and from each task to its other resources.
        while next < self.resources.len() {
            let at = self.resources[next] as usize;
            next += 1;
            self.free[at] = run.capacity(at);
            for &task in &running[at] {
                if self.task_round[task as usize] == self.round {
                    continue;
                }
                self.task_round[task as usize] = self.round;
                self.tasks.push(task);
                run.each_resource(task, |other, _| {
                    if self.resource_round[other] != self.round {
                        self.resource_round[other] = self.round;
                        self.resources.push(other as u32);
                    }
                });
            }
        }
        self.tasks.sort_unstable();
        for (place, &task) in self.tasks.iter().enumerate() {
            self.place[task as usize] = place as u32;
        }
        self.speeds.clear();
        self.speeds.resize(self.tasks.len(), 0.0);
        true
    }

    /// Serves the whole component with max-min fairness.
    pub fn fair(&mut self, run: &IterationRun<'_>) {
        // All flows rise from 0.
        self.rising.clear();
        self.rising.extend_from_slice(&self.tasks);
        self.rise(run);
    }

    /// Serves `ranked[from..to]` on the remaining capacity with max-min fairness.
    pub fn serve(&mut self, from: usize, to: usize, run: &IterationRun<'_>) {
        self.rising.clear();
        self.rising.extend(self.ranked[from..to].iter().map(|(_, task)| *task));
        self.rising.sort_unstable();
        self.rise(run);
    }

    /// Returns the speed just given to a task of the component.
    pub fn speed_of(&self, task: u32) -> f64 {
        self.speeds[self.place[task as usize] as usize]
    }

    fn rise(&mut self, run: &IterationRun<'_>) {
        for &resource in &self.resources {
            self.weight[resource as usize] = 0.0;
        }
        for &task in &self.rising {
            run.each_resource(task, |resource, weight| self.weight[resource] += weight);
        }
        // Water-filling: each round fills at least one resource and freezes its tasks, so it ends after at most one
        // round per resource.
        let mut level = 0.0;
        while !self.rising.is_empty() {
            // Speed 1 is the full rate of the flow's NIC.
            let mut step: f64 = 1.0 - level;
            let mut tightest = None;
            for &resource in &self.resources {
                let resource = resource as usize;
                if self.weight[resource] > 0.0 {
                    let room = (self.free[resource] / self.weight[resource]).max(0.0);
                    if room < step {
                        step = room;
                        tightest = Some(resource);
                    }
                }
            }
            level += step;
            for &resource in &self.resources {
                let resource = resource as usize;
                self.free[resource] -= step * self.weight[resource];
            }
            let Some(tightest) = tightest else {
                // No resource limits the tasks: all run at full speed.
                for &task in &self.rising {
                    self.speeds[self.place[task as usize] as usize] = 1.0;
                }
                return;
            };
            self.free[tightest] = 0.0;
            let mut kept = 0;
            for position in 0..self.rising.len() {
                let task = self.rising[position];
                let mut full = false;
                run.each_resource(task, |resource, _| {
                    // Several resources can fill at the same level; rounding must not keep one of them open.
                    full |= self.free[resource] <= 1e-12 * run.capacity(resource);
                });
                if full {
                    self.speeds[self.place[task as usize] as usize] = level;
                    run.each_resource(task, |resource, weight| self.weight[resource] -= weight);
                } else {
                    self.rising[kept] = task;
                    kept += 1;
                }
            }
            self.rising.truncate(kept);
        }
    }
}
