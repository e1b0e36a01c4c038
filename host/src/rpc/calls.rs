//! What a request, or a batch of them, is answered with, whichever way it came.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::awareness::Awareness;
use crate::contract::Failure;
use crate::wire::method_of;

/// Hears of every call, once it was answered; for those who count.
pub trait Observer: Send + Sync {
    /// A call took so long. `method` is absent if the core has none of that name; `response` is
    /// absent if the request had no id.
    fn called(&self, method: Option<&str>, response: Option<&str>, took: Duration);
}

/// Answers requests and batches.
#[derive(Clone)]
pub struct Calls {
    awareness: Awareness,
    batch_limit: usize,
    observer: Option<Arc<dyn Observer>>,
}

impl Calls {
    /// Answers from this store, with so many requests in a batch at most.
    #[must_use]
    pub fn new(awareness: Awareness, batch_limit: usize) -> Self {
        Self { awareness, batch_limit, observer: None }
    }

    /// The same, and this hears of each call.
    #[must_use]
    pub fn observed(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The store.
    #[must_use]
    pub fn awareness(&self) -> &Awareness {
        &self.awareness
    }

    /// Answers one request or batch; `None` if nothing in it has an id, or there is none. Each
    /// element of a batch is a call and a transaction of its own, and the answers come as one array.
    #[must_use]
    pub fn answer(&self, request: &[u8]) -> Option<String> {
        let batch = match request.iter().find(|byte| !is_blank(**byte))? {
            b'[' => split(request).filter(|batch| !batch.is_empty()),
            _ => None,
        };
        match batch {
            Some(batch) => self.answer_batch(&batch),
            None => self.answer_one(request),
        }
    }

    /// The answer to a request that was not even read to its end, because it is too long.
    #[must_use]
    pub fn too_long(&self) -> Option<String> {
        let started = Instant::now();
        let response = self.awareness.too_long();
        self.tell(None, response.as_deref(), started);
        response
    }

    fn answer_one(&self, request: &[u8]) -> Option<String> {
        let started = Instant::now();
        let response = self.awareness.call_bytes(request);
        if self.observer.is_some() {
            let method = str::from_utf8(request).ok().and_then(method_of);
            self.tell(method.as_deref(), response.as_deref(), started);
        }
        response
    }

    fn answer_batch(&self, batch: &[&RawValue]) -> Option<String> {
        if batch.len() > self.batch_limit {
            let started = Instant::now();
            let limit = u32::try_from(self.batch_limit).unwrap_or(u32::MAX);
            let response = self.awareness.failed("", &Failure::TooMany(limit));
            self.tell(None, response.as_deref(), started);
            return response;
        }
        let answers = batch.iter().map(|request| self.answer_one(request.get().as_bytes()));
        let mut responses = answers.flatten();
        let first = responses.next()?;
        let mut line = format!("[{first}");
        for response in responses {
            line.push(',');
            line.push_str(&response);
        }
        line.push(']');
        Some(line)
    }

    fn tell(&self, method: Option<&str>, response: Option<&str>, started: Instant) {
        if let Some(observer) = &self.observer {
            let known = method.filter(|method| self.awareness.answers(method));
            observer.called(known, response, started.elapsed());
        }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("awareness", &self.awareness)
            .field("batch_limit", &self.batch_limit)
            .finish_non_exhaustive()
    }
}

/// Whether this may stand before a request.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The elements of a batch, which may be anything; nothing if it is no list.
fn split(request: &[u8]) -> Option<Vec<&RawValue>> {
    serde_json::from_slice(request).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_without_looking_into_its_elements() {
        let line = r#" [ {"a":[1,2]} , 1.0,"x]" , [[]] ]"#;
        let elements: Vec<&str> =
            split(line.as_bytes()).unwrap().into_iter().map(RawValue::get).collect();
        assert_eq!(elements, [r#"{"a":[1,2]}"#, "1.0", r#""x]""#, "[[]]"]);
        for broken in ["[", "[1", "[1,]", "[1] 2", "[}"] {
            assert!(split(broken.as_bytes()).is_none(), "{broken}");
        }
    }

    #[test]
    fn deep_nesting_in_a_batch_does_not_end_the_process() {
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(split(deep.as_bytes()).unwrap().len(), 1);
    }
}
