//! A client of the tests' own: it sees every byte, and can do what no good client does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// No test waits longer for a byte.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Address {
    Socket(PathBuf),
    Http(SocketAddr),
}

/// Both directions of a connection.
pub trait Duplex: Read + Write + Send {}

impl<T: Read + Write + Send> Duplex for T {}

/// One connection.
pub struct Client {
    stream: BufReader<Box<dyn Duplex>>,
    token: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }
}

impl Address {
    fn connect(&self) -> std::io::Result<Box<dyn Duplex>> {
        Ok(match self {
            Self::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
            Self::Http(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
        })
    }
}

impl Client {
    /// Connects; every request brings this token.
    pub fn connect(address: &Address, token: Option<&str>) -> Self {
        let stream = BufReader::new(address.connect().unwrap());
        Self { stream, token: token.map(ToOwned::to_owned) }
    }

    /// Writes bytes as they are. Whether they were taken.
    pub fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.get_mut().write_all(bytes).is_ok()
    }

    /// A request with a body; what `more` holds stands among the headers.
    pub fn send(&mut self, line: &str, more: &str, body: &str) -> bool {
        let token = self.token.as_ref();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let head = format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\n{}{more}Content-Length: {}\r\n\r\n",
            token.unwrap_or_default(),
            body.len()
        );
        // In one piece: TCP would hold the second back until the first was acknowledged.
        self.write(&[head.as_bytes(), body.as_bytes()].concat())
    }

    /// A request and its response.
    pub fn ask(&mut self, line: &str, more: &str, body: &str) -> Response {
        self.send(line, more, body);
        self.response()
    }

    /// A call.
    pub fn rpc(&mut self, body: impl AsRef<str>) -> Response {
        self.ask("POST /rpc", "", body.as_ref())
    }

    /// Anything without a body.
    pub fn get(&mut self, path: &str) -> Response {
        self.ask(&format!("GET {path}"), "", "")
    }

    /// The next response, whole.
    pub fn response(&mut self) -> Response {
        let mut response = self.head().expect("a response");
        let length = response.header("content-length").map(|length| length.parse().unwrap());
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).unwrap();
        response.body = String::from_utf8(body).unwrap();
        if response.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                response.body.push_str(&chunk);
            }
        }
        response
    }

    /// The head of the next response; nothing if the connection ended.
    pub fn head(&mut self) -> Option<Response> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).expect(&first).parse().unwrap();
        let mut headers = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').expect(&line);
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        Some(Response { status, headers, body: String::new() })
    }

    /// Whether the server has closed the connection without another word. Waits for it.
    pub fn is_closed(&mut self) -> bool {
        self.stream.fill_buf().map_or(true, <[u8]>::is_empty)
    }

    /// A chunk of a chunked body; nothing at its end.
    fn chunk(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line()?, 16).unwrap();
        let mut chunk = vec![0; length];
        self.stream.read_exact(&mut chunk).ok()?;
        self.line()?;
        (length > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    pub name: String,
    pub data: Value,
}

/// An event stream.
pub struct Events {
    client: Client,
    /// Comments that were seen.
    pub comments: usize,
    buffer: String,
}

impl Events {
    /// Opens one; `query` with its question mark, `more` among the headers.
    pub fn open(address: &Address, token: Option<&str>, query: &str, more: &str) -> Self {
        let mut client = Client::connect(address, token);
        client.send(&format!("GET /events{query}"), more, "");
        let head = client.head().expect("a response");
        assert_eq!(head.status, 200, "{head:?}");
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        Self { client, comments: 0, buffer: String::new() }
    }

    /// The next event; nothing at the end of the stream.
    // No iterator: comments are counted meanwhile.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Event> {
        loop {
            let Some(end) = self.buffer.find("\n\n") else {
                self.buffer.push_str(&self.client.chunk()?);
                continue;
            };
            let block: String = self.buffer.drain(..end + 2).collect();
            if block.starts_with(':') {
                self.comments += 1;
                continue;
            }
            let field = |name: &str| {
                let line = block.lines().find_map(|line| line.strip_prefix(name));
                line.map(ToOwned::to_owned)
            };
            if let Some(name) = field("event: ") {
                let data = serde_json::from_str(&field("data: ").unwrap()).unwrap();
                return Some(Event { id: field("id: "), name, data });
            }
        }
    }

    /// Everything that is pending, up to `ready`, which has to say how much it was.
    pub fn pending(&mut self) -> Vec<Event> {
        let mut before = Vec::new();
        loop {
            let event = self.next().expect("ready");
            if event.name == "ready" {
                let notices = before.iter().filter(|it: &&Event| it.name == "notice").count();
                assert_eq!(event.data["pending"], notices);
                return before;
            }
            before.push(event);
        }
    }

    /// Waits until the server has sent another comment.
    pub fn wait_for_comment(&mut self) {
        let before = self.comments;
        while self.comments == before {
            let chunk = self.client.chunk().expect("a comment");
            self.comments += usize::from(chunk.starts_with(':'));
        }
    }
}

/// The number in the id of an event.
pub fn number(id: &str) -> u64 {
    id.rsplit('-').next().and_then(|number| number.parse().ok()).expect(id)
}
