//! `headsup serve --stdio`.

use std::io::{self, BufReader};
use std::sync::Arc;

use headsup::rpc::{Output, Server};

use super::failure::{Failure, Verdict};
use super::options::Setup;

const MORE: &str = "\
One request, or a batch of them, a line on standard input; one response, batch
of responses or notification a line on standard output; logs on standard error
alone. A request with an id gets exactly one response, in order; what it
causes (`notice`, `wake`, `log`) comes before it. A batch is a JSON array on
one line: each element is a call and a transaction of its own, and the
responses come back as one array.

At the start the store is made if it is not there, pruned if that is due, and
recovered: a `notice` for everything that is pending. From then on the sources
of adopted sessions that somebody watches are checked every minute, by one
process of those that share the store; see `headsup upstreams`. Several
processes may serve one store. The end of the input ends it, and so does a reader of the
output that has gone; no request does, however wrong.

Exit status:
  0  the input ended
  1  the store or the core could not be opened, or the output not be written
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Example:
  $ echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}' | headsup serve --stdio
  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"watchers\":[]}}";

/// Serve a gateway: JSON-RPC 2.0 over lines
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// Over standard input and output
    #[arg(long, required = true)]
    stdio: bool,
}

pub fn run(setup: &Setup, _: &Arguments) -> Result<Verdict, Failure> {
    let output = Arc::new(Output::new(io::stdout()));
    let builder = setup.builder(setup.db()?)?.listener(Arc::clone(&output)).monitor_upstreams();
    let awareness = setup.open(builder)?;
    let server = Server::new(awareness, output, setup.config.serve.batch_requests);
    server.serve(BufReader::new(io::stdin()))?;
    Ok(Verdict::Fine)
}
