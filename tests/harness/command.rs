//! Finds the command, built as the tests are, and runs it apart from whatever this machine has.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;

use serde_json::Value;

/// The command, in the profile and target folder of this very test. Run by cargo, a test has it built
/// once; started by hand it takes what is there, because cargo waits for whatever else builds in the
/// same folder, for minutes, and the test seems to hang.
static HEADSUP: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = profile_folder();
    if let Some(cargo) = std::env::var_os("CARGO") {
        build(&cargo, &folder);
    }
    let command = folder.join(format!("headsup{}", std::env::consts::EXE_SUFFIX));
    assert!(command.exists(), "{} is not built: run this by cargo", command.display());
    command
});

fn build(cargo: &OsStr, folder: &Path) {
    let target = folder.parent().unwrap();
    let mut command = Command::new(cargo);
    // The whole workspace with an example, for which the tests' own dependencies count: else features would
    // resolve otherwise than they do for tests, and the engine be compiled again.
    command.args(["build", "--workspace", "--bin", "headsup", "--example", "soak"]);
    command.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    match folder.file_name().and_then(OsStr::to_str) {
        Some("debug") | None => {}
        Some(profile) => drop(command.args(["--profile", profile])),
    }
    let built = command.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// A folder of the tests beside what cargo builds, which outlives a run.
pub static SCRATCH: LazyLock<PathBuf> =
    LazyLock::new(|| profile_folder().parent().unwrap().join("tmp"));

/// Where this test's profile is built.
fn profile_folder() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    // target/<profile>/deps/cli-…
    this.parent().and_then(Path::parent).unwrap().to_owned()
}

/// The command with these arguments, without the environment's settings. Compiled code is kept
/// beside the tests, so that only the first run compiles it.
pub fn headsup<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Command {
    let mut command = Command::new(&*HEADSUP);
    command.args(arguments).stdin(Stdio::null());
    for name in ["HEADSUP_DB", "HEADSUP_PLUGIN", "HEADSUP_CONFIG", "HEADSUP_LOG", "HEADSUP_TOKEN"] {
        command.env_remove(name);
    }
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.env("XDG_CACHE_HOME", SCRATCH.join("cache"));
    command.env("XDG_DATA_HOME", SCRATCH.join("no-data"));
    command
}

/// Whether this is the superuser, to whom no permission means anything: then the command becomes
/// another user's, with its own place for compiled code below a folder that anybody may write.
#[cfg(unix)]
pub fn as_another_than_the_superuser(command: &mut Command, folder: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    if std::fs::metadata(folder).unwrap().uid() != 0 {
        return false;
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    command.uid(65_534).gid(65_534).env("XDG_CACHE_HOME", folder.join("cache"));
    true
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status; -1 if a signal ended it.
    pub status: i32,
    /// All of it.
    pub stdout: String,
    /// All of it.
    pub stderr: String,
}

impl Ended {
    /// Each line of standard output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ended {
    ended(&command.output().unwrap())
}

/// Runs the command with these arguments.
pub fn run_with<I: AsRef<OsStr>>(arguments: impl IntoIterator<Item = I>) -> Ended {
    run(&mut headsup(arguments))
}

/// Runs a command with an input.
pub fn run_on(command: &mut Command, input: impl AsRef<[u8]> + Send) -> Ended {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        // A command that ends early does not read it all.
        scope.spawn(move || drop(stdin.write_all(input.as_ref())));
        ended(&child.wait_with_output().unwrap())
    })
}

fn ended(output: &Output) -> Ended {
    Ended {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Serves these requests, one a line, and returns what came back.
pub fn serve(db: &Path, requests: &[Value]) -> Vec<Value> {
    let input = as_lines(requests);
    let ended = run_on(&mut headsup(["serve", "--stdio", "--db", text(db)]), input);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    ended.lines()
}

/// Requests as an input.
pub fn as_lines(requests: &[Value]) -> String {
    requests.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A request with an id.
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A running server, for tests that talk to it line by line.
#[derive(Debug)]
pub struct Running {
    /// Killed when this is dropped, if it still runs.
    pub child: Child,
    /// Its input.
    pub stdin: ChildStdin,
    /// Absent once it was closed.
    pub stdout: Option<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts it with its input and outputs as pipes.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, stdin, stdout }
    }

    /// Sends one line.
    pub fn send(&mut self, line: &Value) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// The next line, as soon as there is one.
    // No iterator: there is always a next line, or the test fails.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect(&line)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Most have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
