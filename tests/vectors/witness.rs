//! A server that answers into memory, for tests that look at the answers themselves.

use std::path::Path;
use std::sync::Arc;

use headsup::rpc::{BATCH_LIMIT, Output, Server};
use headsup::{Awareness, Plugin};

/// A server, and what it has written.
pub struct Witness {
    server: Server<Vec<u8>>,
    output: Arc<Output<Vec<u8>>>,
}

impl Witness {
    /// Over a store whose clock stands at 0.
    pub fn new(plugin: &Plugin, store: &Path) -> Self {
        let output = Arc::new(Output::new(Vec::new()));
        let awareness = Awareness::builder(store)
            .plugin(plugin.clone())
            .manual_clock(0)
            .listener(Arc::clone(&output))
            .open()
            .unwrap();
        Self { server: Server::new(awareness, Arc::clone(&output), BATCH_LIMIT), output }
    }

    /// Sends a line; everything that comes back because of it.
    pub fn answer(&self, line: &str) -> String {
        self.server.answer(line.as_bytes());
        String::from_utf8(self.output.with_writer(std::mem::take)).unwrap()
    }
}
