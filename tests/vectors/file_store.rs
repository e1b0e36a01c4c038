//! That a store in a file, where readers answer beside the writer, says what one in memory says,
//! where the writer answers everything.

use std::path::Path;
use std::sync::Arc;

use headsup::Awareness;
use headsup::conformance::VECTORS;
use headsup::rpc::{BATCH_LIMIT, Output, Server};

use crate::built_in;
use crate::vectors::lines;

/// A server, and what it has written.
struct Witness {
    server: Server<Vec<u8>>,
    output: Arc<Output<Vec<u8>>>,
}

impl Witness {
    fn new(plugin: &headsup::Plugin, store: &Path) -> Self {
        let output = Arc::new(Output::new(Vec::new()));
        let awareness = Awareness::builder(store)
            .plugin(plugin.clone())
            .manual_clock(0)
            .listener(Arc::clone(&output))
            .open()
            .unwrap();
        Self { server: Server::new(awareness, Arc::clone(&output), BATCH_LIMIT), output }
    }

    fn answer(&self, line: &str) -> String {
        self.server.answer(line.as_bytes());
        String::from_utf8(self.output.with_writer(std::mem::take)).unwrap()
    }
}

#[test]
fn a_store_in_a_file_answers_every_vector_as_one_in_memory() {
    let plugin = built_in();
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in VECTORS {
        let memory = Witness::new(&plugin, Path::new(":memory:"));
        let stored = Witness::new(&plugin, &folder.path().join(file).with_extension("db"));
        for line in lines(text) {
            assert_eq!(stored.answer(&line), memory.answer(&line), "{file}: {line}");
        }
    }
}
