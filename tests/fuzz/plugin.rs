//! Plugins: bytes that are none are refused with a reason, and what is loaded all the same costs its
//! own calls an error at most.

use headsup::Plugin;

use crate::driver::{corpus, fuzz};

#[test]
fn mutated_components_are_refused_with_a_reason_and_end_nothing() {
    let mut examples = corpus("plugin");
    let built_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/guest/headsup.wasm");
    examples.push(std::fs::read(built_in).expect("the build leaves the core there"));
    fuzz("plugin", &examples, |input| {
        match Plugin::from_bytes(harness::engine(), "mutant.wasm", input) {
            Err(error) => {
                let reason = error.to_string();
                assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
            }
            Ok(plugin) => {
                let Ok(awareness) = plugin.scratch() else { return };
                let request = r#"{"jsonrpc":"2.0","id":1,"method":"pending"}"#;
                assert!(awareness.call(request).is_some(), "a request is answered");
            }
        }
    });
}
