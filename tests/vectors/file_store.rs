//! That a store in a file, where readers answer beside the writer, says what one in memory says,
//! where the writer answers everything.

use std::path::Path;

use headsup::conformance::VECTORS;

use crate::built_in;
use crate::vectors::lines;
use crate::witness::Witness;

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
