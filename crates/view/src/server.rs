//! The server: 127.0.0.1 only, a secret in every path, reads only. The page and its script are inside the program.

use crate::page::View;
use crate::store::Store;
use crate::{ViewError, at, find, flow, lead, tile};
use oxhttp::Server;
use oxhttp::model::{Body, Method, Request, Response, StatusCode};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

const PAGE: &str = include_str!("assets/view.html");
const SCRIPTS: [(&str, &str, &str); 4] = [
    ("view.css", "text/css; charset=utf-8", include_str!("assets/view.css")),
    ("draw.js", "text/javascript; charset=utf-8", include_str!("assets/draw.js")),
    ("panels.js", "text/javascript; charset=utf-8", include_str!("assets/panels.js")),
    ("view.js", "text/javascript; charset=utf-8", include_str!("assets/view.js")),
];
/// Nothing but what this server has: no other host, no inline script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:";
/// Connections at the same time.
const CONNECTIONS: usize = 64;

/// A server that runs.
pub struct Serving {
    /// What to open in a browser.
    pub url: String,
    server: oxhttp::ListeningServer,
}

impl Serving {
    /// Serves until the program ends.
    pub fn wait(self) -> Result<(), ViewError> {
        self.server.join().map_err(|e| ViewError::Serve { port: 0, why: e.to_string() })
    }
}

/// Starts to serve; `port` 0 takes a free one.
pub fn serve(view: View, port: u16) -> Result<Serving, ViewError> {
    let failed = |why: std::io::Error| ViewError::Serve { port, why: why.to_string() };
    let token = token().map_err(failed)?;
    let port = match port {
        0 => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
            listener.local_addr().map_err(failed)?.port()
        }
        port => port,
    };
    let url = format!("http://127.0.0.1:{port}/{token}/");
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let view = Arc::new(view);
    let server = Server::new(move |request| answer(&view, &token, &hosts, request))
        .bind((Ipv4Addr::LOCALHOST, port))
        .with_max_concurrent_connections(CONNECTIONS)
        .spawn()
        .map_err(failed)?;
    Ok(Serving { url, server })
}

/// 128 random bits.
fn token() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    wb_files::random(&mut bytes)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

type Page = (StatusCode, &'static str, Vec<u8>);

fn answer(view: &View, token: &str, hosts: &[String], request: &mut Request<Body>) -> Response<Body> {
    // A body is never wanted, and what is not read now would be read to its end.
    let mut first = [0; 1];
    let has_body = request.body_mut().read(&mut first).is_ok_and(|n| n > 0);
    // A name that another site made point here is not one of ours.
    let host = request.headers().get("host").and_then(|h| h.to_str().ok());
    let ours = host.is_some_and(|h| hosts.iter().any(|own| own == h));
    let path = request.uri().path().to_owned();
    let rest = path.strip_prefix('/').and_then(|p| p.strip_prefix(token)).and_then(|p| p.strip_prefix('/'));
    let (status, kind, body) = match rest {
        Some(rest) if ours => match *request.method() {
            Method::GET | Method::HEAD if !has_body => route(view, rest, request.uri().query().unwrap_or("")),
            _ => text(StatusCode::METHOD_NOT_ALLOWED, "this server only reads"),
        },
        _ => text(StatusCode::FORBIDDEN, "open the address that `wavebound view` printed, with its secret"),
    };
    let body = if *request.method() == Method::HEAD { Vec::new() } else { body };
    Response::builder()
        .status(status)
        .header("content-type", kind)
        .header("cache-control", "no-store")
        .header("content-security-policy", POLICY)
        .header("x-content-type-options", "nosniff")
        .header("referrer-policy", "no-referrer")
        .header("cross-origin-resource-policy", "same-origin")
        .body(Body::from(body))
        .unwrap_or_else(|_| Response::new(Body::empty()))
}

fn text(status: StatusCode, words: &str) -> Page {
    (status, "text/plain; charset=utf-8", words.as_bytes().to_vec())
}

fn json(value: &impl Serialize) -> Page {
    match serde_json::to_vec(value) {
        Ok(bytes) => (StatusCode::OK, "application/json", bytes),
        Err(e) => text(StatusCode::INTERNAL_SERVER_ERROR, &e.to_string()),
    }
}

fn route(view: &View, path: &str, query: &str) -> Page {
    let asked = Query::new(query);
    let answer = match path {
        "" => return (StatusCode::OK, "text/html; charset=utf-8", PAGE.into()),
        "api/info" => Ok(json(&view.info())),
        "api/tile" => tile_page(view, &asked),
        "api/at" => at_page(view, &asked),
        "api/find" => find_page(view, &asked),
        "api/lead" => lead_page(view, &asked),
        "api/flow" => asked.trace(view).map(|t| (StatusCode::OK, "image/svg+xml", flow::flow(t).into())),
        _ => match SCRIPTS.iter().find(|s| s.0 == path) {
            Some((_, kind, body)) => return (StatusCode::OK, kind, (*body).into()),
            None => return text(StatusCode::NOT_FOUND, "there is no such page"),
        },
    };
    answer.unwrap_or_else(|e| match e {
        ViewError::NotFound(why) => text(StatusCode::NOT_FOUND, &why),
        e => text(StatusCode::INTERNAL_SERVER_ERROR, &e.to_string()),
    })
}

fn tile_page(view: &View, asked: &Query) -> Result<Page, ViewError> {
    let rows = asked.number("first")?..asked.number("last")?;
    let wanted = tile::Asked {
        from: asked.number("from")?,
        to: asked.number("to")?,
        rows,
        columns: asked.number("columns")?,
    };
    Ok(json(&tile::tile(asked.trace(view)?, &wanted)?))
}

fn at_page(view: &View, asked: &Query) -> Result<Page, ViewError> {
    let wanted = at::Asked {
        core: asked.number("core")?,
        slot: asked.number("slot")?,
        cycle: asked.number("cycle")?,
        path: asked.number("path").ok(),
        lane: asked.number("lane").ok(),
    };
    Ok(json(&at::at(asked.trace(view)?, &wanted)?))
}

fn find_page(view: &View, asked: &Query) -> Result<Page, ViewError> {
    let start = find::Start {
        cycle: asked.number("cycle")?,
        event: asked.number("event").ok(),
        backwards: asked.text("way") == "back",
    };
    Ok(json(&find::find(asked.trace(view)?, &asked.text("for"), start)?))
}

fn lead_page(view: &View, asked: &Query) -> Result<Page, ViewError> {
    let rows = asked.number("first")?..asked.number("last")?;
    let there = view.traces.get(1).filter(|_| view.traces.len() == 2);
    let there = there.ok_or_else(|| ViewError::NotFound("there is one trace only".into()))?;
    let (from, to) = (asked.number("from")?, asked.number("to")?);
    match asked.number::<usize>("trace")? {
        0 => Ok(json(&lead::lead(&view.traces[0], there, from, to, rows))),
        _ => Ok(json(&lead::lead(there, &view.traces[0], from, to, rows))),
    }
}

/// What stands behind the question mark.
struct Query(BTreeMap<String, String>);

impl Query {
    fn new(text: &str) -> Query {
        let pair = |p: &str| {
            let (name, value) = p.split_once('=').unwrap_or((p, ""));
            (decoded(name), decoded(value))
        };
        Query(text.split('&').filter(|p| !p.is_empty()).map(pair).collect())
    }

    fn text(&self, name: &str) -> String {
        self.0.get(name).cloned().unwrap_or_default()
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, ViewError> {
        let value = self.0.get(name).and_then(|v| v.parse().ok());
        value.ok_or_else(|| ViewError::NotFound(format!("`{name}` must be a number")))
    }

    fn trace<'a>(&self, view: &'a View) -> Result<&'a Store, ViewError> {
        let number: usize = self.number("trace")?;
        view.traces.get(number).ok_or_else(|| ViewError::NotFound(format!("there is no trace {number}")))
    }
}

/// `%20` and `+` as what they stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = || {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            u8::from_str_radix(digits, 16).ok()
        };
        rest = after;
        match (first, hex()) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_browsers_write_them() {
        let query = Query::new("for=line%2012&cycle=7&way=back&empty&x=%zz%");
        assert_eq!(query.text("for"), "line 12");
        assert_eq!(query.number::<u64>("cycle").ok(), Some(7));
        assert!(query.number::<u64>("way").is_err());
        assert_eq!(query.text("x"), "%zz%");
    }

    #[test]
    fn tokens_differ() {
        let (a, b) = (token().unwrap_or_default(), token().unwrap_or_default());
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }
}
