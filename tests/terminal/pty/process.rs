//! Data of the operating system about a process.

use rustix::process::Pid;
use std::fs;

fn read(pid: Pid, file: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap()
}

/// Returns the fields of `/proc/PID/stat` after the name of the process, because the name may contain blanks.
fn stat(pid: Pid) -> Vec<String> {
    let text = read(pid, "stat");
    let rest = text.rsplit_once(") ").unwrap().1;
    rest.split_whitespace().map(str::to_owned).collect()
}

/// Returns the letter of the process state, such as `T` for a stopped process.
pub fn state(pid: Pid) -> char {
    stat(pid)[0].chars().next().unwrap()
}

/// Returns the processor time used so far in milliseconds, in steps of 10 ms.
pub fn cpu_ms(pid: Pid) -> u64 {
    let ticks: u64 = stat(pid)[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    ticks * 10
}

/// Returns how often the threads of the process went to sleep, which equals the number of times that they were woken.
pub fn sleeps(pid: Pid) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    tasks
        .map(|task| fs::read_to_string(task.unwrap().path().join("status")).unwrap())
        .map(|status| field(&status, "voluntary_ctxt_switches:"))
        .sum()
}

/// Returns the resident memory in bytes.
pub fn resident(pid: Pid) -> u64 {
    field(&read(pid, "status"), "VmRSS:") * 1024
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
