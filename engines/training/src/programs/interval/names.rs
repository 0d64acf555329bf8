//! Names of links, pods and tasks in models, files and explanations.

use crate::scenario::instance::Instance;

/// Words for everything a row or column can be about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Pods.
    pub pods: Vec<String>,
    /// Links, as the pods they join.
    pub links: Vec<String>,
    /// Tasks: their number and name.
    pub tasks: Vec<String>,
}

impl Names {
    /// The names of an instance.
    pub fn new(instance: &Instance) -> Self {
        let pods: Vec<String> = instance.pods.iter().map(|pod| pod.name.clone()).collect();
        let links = instance.links.iter();
        let tasks = instance.tasks.iter().enumerate();
        Self {
            links: links
                .map(|link| format!("{}-{}", pods[link.pod_a.index()], pods[link.pod_b.index()]))
                .collect(),
            tasks: tasks.map(|(index, task)| format!("task {index} {}", task.name)).collect(),
            pods,
        }
    }

    /// A directed link, 2 * link forwards and 2 * link + 1 backwards.
    pub fn via(&self, via: usize) -> String {
        let direction = if via.is_multiple_of(2) { "forwards" } else { "backwards" };
        format!("{} {direction}", self.links[via / 2])
    }
}
