//! AICB kernel times: one section per kernel with `time_gpu_max|min|avg` in microseconds.

use std::io::BufRead;

use lightbay_core::problem::Problems;

use crate::gz::Limits;
use crate::lines::Lines;
use crate::number;

/// Maximum time of one kernel, microseconds: an hour.
const MAX_US: f64 = 3.6e9;
/// Maximum number of kernels in a file.
const MAX_KERNELS: usize = 10_000;

/// Times of one kernel in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// The name in the file: `atten_qkv`, `mlp_gelu`, ...
    pub name: String,
    /// Time of the slowest run.
    pub max_us: Option<f64>,
    /// Time of the fastest run.
    pub min_us: Option<f64>,
    /// Mean time, which plans use.
    pub avg_us: Option<f64>,
}

/// Content of a file of kernel times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelTimes {
    /// Number of measured runs.
    pub train_iterations: Option<u64>,
    /// The kernels in file order.
    pub kernels: Vec<Kernel>,
}

impl KernelTimes {
    /// Returns the mean time of one kernel, seconds.
    pub fn average_s(&self, name: &str) -> Option<f64> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == name)?;
        kernel.avg_us.map(|us| us * 1e-6)
    }

    /// Returns the time of the forward pass of one attention block, seconds: normalisation, projections and attention
    /// itself.
    pub fn attention_s(&self) -> f64 {
        self.sum_s(|name| name == "layernorm" || name.contains("atten"))
    }

    /// Returns the time of the forward pass of one MLP block, seconds: normalisation, both matrices and the activation.
    pub fn mlp_s(&self) -> f64 {
        self.sum_s(|name| name == "layernorm2" || name.contains("mlp"))
    }

    /// Returns the time of the embedding look-up, seconds.
    pub fn embedding_s(&self) -> f64 {
        self.average_s("Emb").unwrap_or(0.0)
    }

    /// Returns the time of the final normalisation and the logits, seconds.
    pub fn logits_s(&self) -> f64 {
        self.sum_s(|name| name == "layernorm_post" || name == "logit_time")
    }

    fn sum_s(&self, belongs: impl Fn(&str) -> bool) -> f64 {
        let us: f64 = self.kernels.iter().filter(|k| belongs(&k.name)).filter_map(|k| k.avg_us).sum();
        us * 1e-6
    }
}

/// Reads a plain (unpacked) file of kernel times.
///
/// # Errors
/// Every problem with line, field, value and remedy.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<KernelTimes, Problems> {
    let mut problems = Problems::new();
    let mut times = KernelTimes::default();
    let mut lines = Lines::new(reader, limits);
    loop {
        match lines.next_line() {
            Ok(Some((number, text))) => {
                line(number, text.trim(), &mut times, &mut problems);
                if times.kernels.len() > MAX_KERNELS {
                    problems.add(
                        format!("line {number}"),
                        format!("has more than {MAX_KERNELS} kernels"),
                        "give the kernels of one layer",
                    );
                    break;
                }
            }
            Ok(None) => {
                finish(&times, &mut problems);
                break;
            }
            Err(problem) => {
                problems.push(problem);
                break;
            }
        }
    }
    problems.into_result(times)
}

fn line(number: usize, text: &str, times: &mut KernelTimes, problems: &mut Problems) {
    if text.is_empty() {
        return;
    }
    let Some((key, value)) = text.split_once(':').map(|(key, value)| (key.trim(), value.trim())) else {
        problems.add(
            format!("line {number}"),
            format!("'{}' has no colon", text.chars().take(40).collect::<String>()),
            "write 'kernel:' or 'time_gpu_avg: microseconds'",
        );
        return;
    };
    let place = |field: &str| format!("line {number}, {field}");
    if key == "train_iter" {
        match number::whole(value, 1, 1 << 32) {
            Ok(count) => times.train_iterations = Some(count),
            Err(wrong) => {
                problems.add(place(key), format!("'{value}' {wrong}"), "write the number of runs");
            }
        }
    } else if key.starts_with("time_gpu_") {
        let Some(kernel) = times.kernels.last_mut() else {
            problems.add(place(key), "is before the first kernel", "write 'kernel:' above this line");
            return;
        };
        let slot = match key {
            "time_gpu_max" => &mut kernel.max_us,
            "time_gpu_min" => &mut kernel.min_us,
            "time_gpu_avg" => &mut kernel.avg_us,
            _ => {
                let remedy = "use time_gpu_max, time_gpu_min or time_gpu_avg";
                problems.add(place(key), "is not a known time", remedy);
                return;
            }
        };
        match number::duration(value, MAX_US) {
            Ok(us) => *slot = Some(us),
            Err(wrong) => problems.add(
                place(&format!("{} {key}", kernel.name)),
                format!("'{value}' {wrong}"),
                "write microseconds, at most one hour",
            ),
        }
    } else if value.is_empty() {
        if times.kernels.iter().any(|kernel| kernel.name == key) {
            problems.add(place(key), "is given twice", "keep only one of the entries");
        }
        times.kernels.push(Kernel { name: key.to_owned(), ..Kernel::default() });
    } else {
        problems.add(
            place(key),
            format!("'{value}' is not expected here"),
            "write only 'kernel:' on this line, and its times on the lines below",
        );
    }
}

fn finish(times: &KernelTimes, problems: &mut Problems) {
    for kernel in &times.kernels {
        if kernel.avg_us.is_none() {
            problems.add(
                kernel.name.clone(),
                "has no 'time_gpu_avg'",
                "add the line 'time_gpu_avg: microseconds'",
            );
        }
    }
    if problems.is_empty() && (times.attention_s() <= 0.0 || times.mlp_s() <= 0.0) {
        problems.add(
            "",
            "has no time for attention or for the MLP",
            "add the kernels 'atten_...' and 'mlp_...' with their layer norms",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(text: &str) -> String {
        read(text.as_bytes(), &Limits::default()).unwrap_err().to_string()
    }

    #[test]
    fn each_slip_is_named() {
        let all = bad(
            "train_iter:x\ntime_gpu_avg: 3\natten_qkv:\n  time_gpu_avg: -3\natten_qkv:\n time_gpu_best: 3\nword\n\
             mlp: 7\nmlp_gelu:\n time_gpu_avg: nan\n",
        );
        for part in [
            "line 1, train_iter: 'x' is not a number",
            "line 2, time_gpu_avg: is before the first kernel",
            "line 4, atten_qkv time_gpu_avg: '-3' is negative",
            "line 5, atten_qkv: is given twice",
            "line 6, time_gpu_best: is not a known time",
            "line 7: 'word' has no colon",
            "line 8, mlp: '7' is not expected here",
            "line 10, mlp_gelu time_gpu_avg: 'nan' is not a finite number",
            "atten_qkv: has no 'time_gpu_avg'",
        ] {
            assert!(all.contains(part), "{part} is not in\n{all}");
        }
        assert!(bad("train_iter:1\nEmb:\n time_gpu_avg: 3\n").contains("no time for attention"));
    }
}
