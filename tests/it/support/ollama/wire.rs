//! The scripted server's side of the socket. HTTP is written by hand, since the tests are about what lies in which
//! packet.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinSet, yield_now};
use tokio::time::sleep;

use super::play::Step;
use super::{Play, Stage};

/// Between two packets, so that the network does not join them: where the client runs on the same thread it reads a packet
/// whenever this task yields, elsewhere it gets a moment.
const YIELDS: usize = 4;
const APART: Duration = Duration::from_millis(1);

/// As many dimensions as `bge-m3` has.
const DIMENSIONS: usize = 1024;

/// Serves until it is dropped, and with it every connection.
pub(super) async fn serve(listener: TcpListener, stage: Arc<Stage>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted && !stage.down.load(Ordering::SeqCst) {
                    let stage = Arc::clone(&stage);
                    connections.spawn(async move {
                        // A client may leave at any time.
                        let _ = connection(stream, &stage).await;
                    });
                }
            }
            Some(ended) = connections.join_next() => ended.expect("the scripted model does not panic"),
        }
    }
}

/// One connection, one request.
async fn connection(stream: TcpStream, stage: &Arc<Stage>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = stream.into_split();
    let (path, body) = request(&mut reader).await?;
    if path == "/api/chat" {
        let play = {
            let mut script = stage.script();
            script.asked.push((path, body.clone()));
            script.next(&body)
        };
        let said_all = AtomicBool::new(false);
        let played = tokio::select! {
            played = perform(play, &mut writer, &said_all) => played,
            () = left(&mut reader) => Err(io::ErrorKind::BrokenPipe.into()),
        };
        if played.is_err() && !said_all.load(Ordering::SeqCst) {
            stage.closed_early.fetch_add(1, Ordering::SeqCst);
        }
        return played;
    }
    let models = {
        let mut script = stage.script();
        script.asked.push((path.clone(), body.clone()));
        script.models.clone()
    };
    if path == "/api/embed" && stage.embeds_never.load(Ordering::SeqCst) {
        left(&mut reader).await;
        return Ok(());
    }
    let (status, answer) = answer(&path, &body, &models);
    let answer = answer.to_string();
    let head = format!("{}content-length: {}\r\n\r\n", head(status, "application/json"), answer.len());
    writer.write_all((head + &answer).as_bytes()).await
}

/// The path and the JSON body (null if there is none) of a request.
async fn request(reader: &mut OwnedReadHalf) -> io::Result<(String, Value)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        more(reader, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        more(reader, &mut bytes).await?;
    }
    Ok((path, serde_json::from_slice(&bytes[end..end + length]).unwrap_or_default()))
}

async fn more(reader: &mut OwnedReadHalf, bytes: &mut Vec<u8>) -> io::Result<()> {
    match reader.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// Comes back when the client has left.
async fn left(reader: &mut OwnedReadHalf) {
    let mut ignored = [0; 64];
    while matches!(reader.read(&mut ignored).await, Ok(1..)) {}
}

async fn perform(play: Play, writer: &mut OwnedWriteHalf, said_all: &AtomicBool) -> io::Result<()> {
    let head = format!("{}transfer-encoding: chunked\r\n\r\n", head(play.status, "application/x-ndjson"));
    writer.write_all(head.as_bytes()).await?;
    let last = play.steps.len().saturating_sub(1);
    for (at, step) in play.steps.into_iter().enumerate() {
        match step {
            Step::Packet(packet) => {
                if at == last {
                    said_all.store(true, Ordering::SeqCst);
                }
                writer.write_all(format!("{:x}\r\n", packet.len()).as_bytes()).await?;
                writer.write_all(&packet).await?;
                writer.write_all(b"\r\n").await?;
                writer.flush().await?;
                if play.pace.is_zero() && Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
                    for _ in 0..YIELDS {
                        yield_now().await;
                    }
                } else {
                    sleep(play.pace.max(APART)).await;
                }
            }
            Step::Stall => std::future::pending().await,
            Step::HangUp => return Ok(()),
        }
    }
    writer.write_all(b"0\r\n\r\n").await
}

fn head(status: u16, content_type: &str) -> String {
    format!("HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\nconnection: close\r\n")
}

/// The answers of everything but the chat.
fn answer(path: &str, body: &Value, models: &[String]) -> (u16, Value) {
    match path {
        "/api/version" => (200, json!({"version": "0.12.6"})),
        "/api/tags" => {
            let listed = models.iter().map(|name| {
                json!({"name": name, "model": name, "modified_at": "2026-11-01T00:00:00Z", "size": 1, "digest": "0"})
            });
            (200, json!({"models": listed.collect::<Vec<_>>()}))
        }
        "/api/show" => (
            200,
            json!({"parameters": "", "template": "", "details": {}, "capabilities": ["completion"],
                "model_info": {"general.architecture": "scripted", "scripted.context_length": 131_072}}),
        ),
        "/api/embed" => {
            let texts = match &body["input"] {
                Value::String(text) => vec![text.as_str()],
                texts => texts.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
            };
            let vectors: Vec<_> = texts.into_iter().map(embedding).collect();
            (200, json!({"model": body["model"], "embeddings": vectors, "total_duration": 1, "load_duration": 1}))
        }
        _ => (404, json!({"error": "404 page not found"})),
    }
}

/// A vector of length 1 that is nearer to another one the more words their texts share.
fn embedding(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    // So that a text without words has a direction too.
    vector[0] = 0.01;
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        vector[(hash % DIMENSIONS as u64) as usize] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}
