//! The conformance vectors, all files and unchanged, through the C ABI.

use host::conformance::{Report, play_file, vectors};

use super::{Heard, call, close, open};

#[test]
fn all_vectors_are_answered_as_they_must_be() {
    let mut report = Report::default();
    for (file, text) in vectors() {
        let heard = Heard::default();
        let handle =
            open(r#"{"store":{"path":":memory:"},"manual_clock_ms":0}"#, &heard.listener());
        play_file(file, text, &mut report, |line| {
            let response = call(handle, line);
            if let Some(response) = response {
                heard.add(&response);
            }
            Ok(heard.take())
        })
        .unwrap();
        close(handle);
    }
    assert!(report.conforms(), "{:#?}", report.differences);
    assert_eq!(report.files, vectors().len());
}
