//! Tests that need a process of their own.

/// Set in the process that runs only one test.
const RUNS_ALONE: &str = "FRONTDESK_TEST_RUNS_ALONE";

/// Runs the test with this path in a separate process, because what it captures would include other tests.
pub fn run_alone(path: &str, test: impl Future<Output = ()>) {
    if std::env::var_os(RUNS_ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(test);
    }
    let ended = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", path, "--nocapture"])
        .env(RUNS_ALONE, "1")
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let report = String::from_utf8_lossy(&ended.stdout);
    assert!(report.contains("1 passed"), "no test has the path {path}: {report}");
}
