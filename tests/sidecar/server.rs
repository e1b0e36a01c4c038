//! The command, serving; started and ended by a test.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use harness::command::{headsup, request, text};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Address, Client, Events};

pub const TOKEN: &str = "a-token-of-the-tests-0123456789";

/// A server on a socket and over HTTP, in a folder of its own. Killed when it is dropped, if it
/// still runs.
pub struct Server {
    pub child: Child,
    pub folder: TempDir,
    pub socket: Address,
    pub http: Address,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub stderr: String,
    /// What it left.
    pub folder: TempDir,
}

impl Server {
    /// Over a store in memory.
    pub fn start() -> Self {
        Self::with("", &["--db", ":memory:"])
    }

    /// With this configuration below `[serve]`, and these arguments.
    pub fn with(config: &str, arguments: &[&str]) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), config, arguments)
    }

    /// With what lies in this folder already.
    pub fn in_folder(folder: TempDir, config: &str, arguments: &[&str]) -> Self {
        let mut command = command(folder.path(), config, arguments);
        started(&mut command, folder)
    }

    /// A connection to the socket.
    pub fn client(&self) -> Client {
        Client::connect(&self.socket, None)
    }

    /// A connection over HTTP, with the token.
    pub fn web_client(&self) -> Client {
        Client::connect(&self.http, Some(TOKEN))
    }

    /// A stream on the socket, from what is pending on.
    pub fn events(&self, query: &str) -> Events {
        Events::open(&self.socket, None, query, "")
    }

    /// Sends a signal, by its name.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits for its end.
    pub fn ended(mut self) -> Ended {
        let status = self.child.wait().unwrap().code();
        let stderr = said(&mut self.child);
        Ended { status, stderr, folder: self.take_folder() }
    }

    /// Kills it, and keeps its folder.
    pub fn killed(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.take_folder()
    }

    /// Another folder is left in its place, for it to be dropped with.
    fn take_folder(&mut self) -> TempDir {
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }
}

/// Starts such a command, and reads where it listens.
pub fn started(command: &mut Command, folder: TempDir) -> Server {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut place = |prefix: &str| {
        let Some(line) = lines.next() else { panic!("it did not start: {}", said(&mut child)) };
        line.strip_prefix(prefix).unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    // In either order.
    let (mut socket, mut http) = (None, None);
    for _ in 0..2 {
        let place = place("listening on ");
        match place.strip_prefix("unix:") {
            Some(path) => socket = Some(Address::Socket(PathBuf::from(path))),
            None => {
                http = place.strip_prefix("http://").map(|it| Address::Http(it.parse().unwrap()));
            }
        }
    }
    Server { child, folder, socket: socket.unwrap(), http: http.unwrap() }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(child: &mut Child) -> String {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

/// `headsup serve` on a socket and a free port.
pub fn command(folder: &Path, config: &str, arguments: &[&str]) -> Command {
    let (file, token) = (folder.join("headsup.toml"), folder.join("token"));
    std::fs::write(&file, format!("[serve]\n{config}\n")).unwrap();
    write_secret(&token, TOKEN);
    let socket = folder.join("headsup.sock");
    let mut command = headsup(["serve", "--socket", text(&socket), "--http", "127.0.0.1:0"]);
    command.args(["--token-file", text(&token), "--config", text(&file)]).args(arguments);
    command
}

fn write_secret(file: &Path, secret: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(file, format!("{secret}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A call that makes a session watch another one.
pub fn watch(watcher: &str, target: &str) -> String {
    request(1, "watch", &json!({"watcher": watcher, "target": target})).to_string()
}

/// A call that notifies the watchers of a session.
pub fn goal(session: &str) -> String {
    let params = json!({
        "session": session, "kind": "goal_changed", "change": "updated", "actor": {"type": "human"},
    });
    request(2, "record", &params).to_string()
}

/// A call without params.
pub fn call(method: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 3, "method": method}).to_string()
}

/// The reason of an error.
pub fn reason(response: &Value) -> &str {
    response["error"]["data"]["reason"].as_str().unwrap_or("no error")
}
