//! The least that a server between a model and a reader can do: pass the bytes on.

use anyhow::Result;
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::http;

#[derive(clap::Args)]
pub struct Args {
    /// The model's HOST:PORT.
    #[arg(long)]
    to: String,
}

pub async fn run(args: Args) -> Result<()> {
    let listener = http::listen().await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let to = args.to.clone();
        let pass = service_fn(move |request| pass(request, to.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), pass));
    }
}

async fn pass(request: Request<Incoming>, to: String) -> Result<Response<Incoming>> {
    let socket = TcpStream::connect(to).await?;
    socket.set_nodelay(true)?;
    let (mut send, connection) = handshake(TokioIo::new(socket)).await?;
    tokio::spawn(connection);
    Ok(send.send_request(request).await?)
}
