//! `headsup serve`.

use std::io::{self, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use headsup::rpc::{Calls, Output, Server};
use headsup::server::{self, BindError, Bound, Events, Options, Token, told_to_stop};
use headsup::{Listener, Listeners, TracingListener};

use super::failure::{Failure, Verdict};
use super::input::Input;
use super::options::{MEMORY, Setup};

const MORE: &str = "\
With --stdio: one request, or a batch of them, a line on standard input; one
response, batch of responses or notification a line on standard output; logs on
standard error alone. A request with an id gets exactly one response, in order;
what it causes (`notice`, `wake`, `log`) comes before it. A batch is a JSON
array on one line: each element is a call and a transaction of its own, and the
responses come back as one array.

With --socket and --http: HTTP/1.1 on both. POST /rpc takes a request or a
batch; GET /events sends what happens as server-sent events, from what is
pending on, for all watchers or those of ?watcher=KEY; GET /healthz, /metrics
and /openapi.json say how it is, what was counted, and what there is. The
socket is a file that this user alone can use. Over HTTP every request needs
`Authorization: Bearer TOKEN`; --http takes addresses of this machine alone,
unless serve.allow_remote says otherwise. Where it listens is printed, a line
each: on standard output, or on standard error beside --stdio.

At the start the store is made if it is not there, pruned if that is due, and
recovered: a `notice` for everything that is pending. From then on the sources
of adopted sessions that somebody watches are checked every minute, by one
process of those that share the store; see `headsup upstreams`. Several
processes may serve one store.

With --stdio the end of the input ends it, and so does a reader of the output
that has gone. SIGTERM and SIGINT end a server on a socket or over HTTP: calls
in flight are answered, event streams ended, the store is closed. No request
ends it, however wrong.

Exit status:
  0  the input ended, or it was told to stop
  1  the store, the core or the socket could not be opened, or the output not
     be written
  2  wrong usage; HTTP without a token, or where other machines reach it

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given
  HEADSUP_TOKEN
         the token itself, where --token-file is not given

Examples:
  $ echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}' | headsup serve --stdio
  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}

  $ headsup serve --socket headsup.sock &
  $ curl --unix-socket headsup.sock http://localhost/rpc \\
      -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}'
  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}";

/// Serve a gateway: JSON-RPC 2.0 over lines, a Unix socket or HTTP
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
#[group(id = "ways", required = true, multiple = true, args = ["stdio", "socket", "http"])]
pub struct Arguments {
    /// Over standard input and output
    #[arg(long)]
    stdio: bool,
    /// Over a Unix socket at this path
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Over HTTP at this IP address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT")]
    http: Option<SocketAddr>,
    #[arg(
        long,
        value_name = "FILE",
        help = "The file that holds the token for HTTP. If it is not given: HEADSUP_TOKEN, the token \
                itself, or `serve.token_file` of the configuration"
    )]
    token_file: Option<PathBuf>,
}

pub fn run(setup: &Setup, arguments: &Arguments) -> Result<Verdict, Failure> {
    if arguments.socket.is_none() && arguments.http.is_none() {
        serve_lines(setup)
    } else {
        serve_all(setup, arguments)
    }
}

fn serve_lines(setup: &Setup) -> Result<Verdict, Failure> {
    let output = Arc::new(Output::new(io::stdout()));
    let builder = setup.builder(setup.db()?)?.listener(Arc::clone(&output)).monitor_upstreams();
    let awareness = setup.open(builder)?;
    let server = Server::new(awareness, output, setup.config.serve.batch_requests);
    server.serve(BufReader::new(io::stdin()))?;
    Ok(Verdict::Fine)
}

fn serve_all(setup: &Setup, arguments: &Arguments) -> Result<Verdict, Failure> {
    let store = setup.db()?;
    let bound = server::bind(options(setup, arguments, &store)?)?;
    let events = Arc::new(Events::new());
    let output = arguments.stdio.then(|| Arc::new(Output::new(io::stdout())));
    let first: Arc<dyn Listener> = match &output {
        Some(output) => Arc::new(Arc::clone(output)),
        None => Arc::new(TracingListener),
    };
    let listeners = Listeners(vec![first, Arc::new(Arc::clone(&events))]);
    let builder = setup.builder(&store)?.listener(listeners).monitor_upstreams();
    let calls = Calls::new(setup.open(builder)?, setup.config.serve.batch_requests);
    for place in bound.places() {
        if arguments.stdio {
            anstream::eprintln!("listening on {place}");
        } else {
            anstream::println!("listening on {place}");
        }
    }
    if let Some(output) = output {
        return serve_beside_lines(bound, calls, &events, output);
    }
    bound.serve(calls, &events, told_to_stop());
    Ok(Verdict::Fine)
}

/// Serves until the lines end, or it is told to stop; what the lines still have to say is said.
fn serve_beside_lines(
    bound: Bound,
    calls: Calls,
    events: &Arc<Events>,
    output: Arc<Output<io::Stdout>>,
) -> Result<Verdict, Failure> {
    let (input, end) = Input::of_process()?;
    let (ended, lines_ended) = tokio::sync::oneshot::channel::<()>();
    let server = Server::answering(calls.clone().observed(bound.observer()), output);
    let lines = thread::Builder::new().name("headsup-lines".into()).spawn(move || {
        let done = server.serve(input);
        drop(ended);
        done
    })?;
    bound.serve(calls, events, async move {
        tokio::select! {
            () = told_to_stop() => {}
            _ = lines_ended => {}
        }
    });
    end.end();
    match lines.join() {
        Ok(done) => done?,
        Err(_) => return Err(anyhow::anyhow!("the lines ended in a panic: see above").into()),
    }
    Ok(Verdict::Fine)
}

fn options(setup: &Setup, arguments: &Arguments, store: &Path) -> Result<Options, Failure> {
    let serve = &setup.config.serve;
    Ok(Options {
        socket: arguments.socket.clone(),
        http: arguments.http,
        token: token(setup, arguments)?,
        allow_remote: serve.allow_remote,
        hosts: serve.hosts.clone(),
        store: (store != Path::new(MEMORY)).then(|| store.to_owned()),
        limits: serve.limits(),
    })
}

/// Whatever comes first of the command line, the environment and the configuration; and only where
/// it is needed, so that a file that is missing keeps nobody from using the socket.
fn token(setup: &Setup, arguments: &Arguments) -> Result<Option<Token>, Failure> {
    if arguments.http.is_none() {
        return Ok(None);
    }
    let from_file = |file: &PathBuf| Token::from_file(file).map(Some);
    let environment = std::env::var("HEADSUP_TOKEN").ok().filter(|text| !text.is_empty());
    let token = match (&arguments.token_file, environment, &setup.config.serve.token_file) {
        (Some(file), _, _) | (None, None, Some(file)) => from_file(file),
        (None, Some(text), _) => Token::new(&text).map(Some),
        (None, None, None) => Ok(None),
    };
    token.map_err(|error| anyhow::anyhow!("{error}").into())
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        match error {
            BindError::NoToken | BindError::Remote(_) => Self::Usage(error.to_string()),
            error => Self::Failed(anyhow::anyhow!("{error}")),
        }
    }
}
