//! A network between a client and a server, which fails once, at a place that the test chooses.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::support::eventually;

const REFUSAL: &str = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-type: application/problem+json\r\n\
    content-length: 40\r\nconnection: close\r\n\r\n{\"code\":\"rate_limited\",\"detail\":\"Wait.\"}";

/// The address that clients use instead of the server's. Dropping it ends it.
pub struct Network {
    address: SocketAddr,
    mishap: Arc<Mutex<Option<Mishap>>>,
    task: JoinHandle<()>,
}

/// What goes wrong, once.
#[derive(Clone)]
enum Mishap {
    /// The connection ends when the server has said this.
    Cut(String),
    /// The request that holds this gets a 429 and never arrives.
    Refuse(String),
    /// The request that holds this never arrives, and gets no response.
    Hang(String),
}

impl Network {
    pub async fn to(server: &str) -> Self {
        let server = server.strip_prefix("http://").unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mishap = Arc::new(Mutex::new(None));
        let shared = mishap.clone();
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(carry(client, server, shared.clone()));
            }
        });
        Self { address, mishap, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn cuts_behind(&self, words: &str) {
        *self.mishap.lock().unwrap() = Some(Mishap::Cut(words.to_owned()));
    }

    pub fn refuses_first(&self, words: &str) {
        *self.mishap.lock().unwrap() = Some(Mishap::Refuse(words.to_owned()));
    }

    pub fn hangs_at(&self, words: &str) {
        *self.mishap.lock().unwrap() = Some(Mishap::Hang(words.to_owned()));
    }

    /// Waits until the mishap has happened.
    pub async fn has_failed(&self) {
        eventually("something goes wrong", || self.mishap.lock().unwrap().is_none()).await;
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Carries bytes both ways until one end leaves or the mishap happens.
async fn carry(mut client: TcpStream, mut server: TcpStream, mishap: Arc<Mutex<Option<Mishap>>>) {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let (mut from_client, mut from_server) = (vec![0; 4096], vec![0; 4096]);
    loop {
        tokio::select! {
            read = client.read(&mut from_client) => {
                let Ok(read @ 1..) = read else { return };
                asked.extend_from_slice(&from_client[..read]);
                let refuse = |mishap: &Mishap| matches!(mishap, Mishap::Refuse(words) if find(&asked, words).is_some());
                if take_if(&mishap, refuse) {
                    let _ = client.write_all(REFUSAL.as_bytes()).await;
                    let _ = client.shutdown().await;
                    return;
                }
                let hang = |mishap: &Mishap| matches!(mishap, Mishap::Hang(words) if find(&asked, words).is_some());
                if take_if(&mishap, hang) {
                    while matches!(client.read(&mut from_client).await, Ok(1..)) {}
                    return;
                }
                if server.write_all(&from_client[..read]).await.is_err() {
                    return;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(read @ 1..) = read else { return };
                let before = answered.len();
                answered.extend_from_slice(&from_server[..read]);
                let end = match &*mishap.lock().unwrap() {
                    Some(Mishap::Cut(words)) => find(&answered, words),
                    _ => None,
                };
                let end_of_event = end.map(|end| answered[end..].windows(2).position(|two| two == b"\n\n").map(|at| end + at + 2));
                match end_of_event {
                    // The rest of that event is still on its way.
                    Some(None) | None => {
                        if client.write_all(&answered[before..]).await.is_err() {
                            return;
                        }
                    }
                    Some(Some(end)) => {
                        let _ = client.write_all(&answered[before..end.max(before)]).await;
                        mishap.lock().unwrap().take();
                        return;
                    }
                }
            }
        }
    }
}

fn take_if(mishap: &Mutex<Option<Mishap>>, is_it: impl Fn(&Mishap) -> bool) -> bool {
    let mut mishap = mishap.lock().unwrap();
    let it_is = mishap.as_ref().is_some_and(is_it);
    if it_is {
        mishap.take();
    }
    it_is
}

/// Where the words end.
fn find(bytes: &[u8], words: &str) -> Option<usize> {
    bytes.windows(words.len()).position(|window| window == words.as_bytes()).map(|at| at + words.len())
}
