//! Mails over SMTP, with well-behaved and misbehaving servers.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use frontdesk::config::MailConfig;
use frontdesk::providers::email::{Email, EmailError, Mailer, Smtp};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn email() -> Email {
    Email {
        from: None,
        id: "MSG-1700000000-1A2B3C4D".to_owned(),
        to: "john.doe@example.com".to_owned(),
        subject: "Yêu cầu trả hàng".to_owned(),
        text: "Chào quý khách,\n.\nmột dòng chỉ có dấu chấm\n".to_owned(),
    }
}

fn smtp(port: u16, deadline: Duration) -> Smtp {
    let config = MailConfig {
        smtp_url: None,
        from: "The shop <shop@sstc.example>".to_owned(),
        folder: "unused".into(),
        deadline,
    };
    Smtp::new(&format!("smtp://127.0.0.1:{port}"), &config).unwrap()
}

/// How the server misbehaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whim {
    /// Answers commands with this prefix with this line.
    Answers(&'static str, &'static str),
    /// Stops answering at this command.
    FallsSilentAt(&'static str),
    HangsUpAt(&'static str),
    /// Sends no greeting.
    Mute,
}

/// Starts a server for one connection and returns its port.
async fn serve(whim: Whim) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // Some clients disconnect early.
        drop(talk(stream, whim).await);
    });
    port
}

async fn talk(stream: TcpStream, whim: Whim) -> std::io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = tokio::io::BufReader::new(reading).lines();
    if whim == Whim::Mute {
        return std::future::pending().await;
    }
    writing.write_all(b"220 test ready\r\n").await?;
    let mut in_data = false;
    while let Some(line) = lines.next_line().await? {
        if in_data && line != "." {
            continue;
        }
        let command = if in_data { "END" } else { line.as_str() };
        in_data = false;
        match whim {
            Whim::FallsSilentAt(at) if command.starts_with(at) => return std::future::pending().await,
            Whim::HangsUpAt(at) if command.starts_with(at) => return Ok(()),
            Whim::Answers(at, answer) if command.starts_with(at) => {
                writing.write_all(format!("{answer}\r\n").as_bytes()).await?;
                continue;
            }
            _ => {}
        }
        let answer: &[u8] = match command.split(' ').next().unwrap_or_default() {
            "EHLO" => b"250 test\r\n",
            "DATA" => {
                in_data = true;
                b"354 go on\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        writing.write_all(answer).await?;
    }
    Ok(())
}

#[tokio::test]
async fn smtp_errors_are_permanent_or_temporary() {
    let long = Duration::from_secs(60);
    for (whim, deadline, temporary) in [
        (Whim::Answers("RCPT", "550 no such user john.doe@example.com"), long, false),
        (Whim::Answers("END", "554 rejected"), long, false),
        (Whim::Answers("RCPT", "450 mailbox busy"), long, true),
        (Whim::Answers("MAIL", "451 try later"), long, true),
        (Whim::Answers("MAIL", "530 authentication required"), long, true),
        (Whim::HangsUpAt("DATA"), long, true),
        (Whim::HangsUpAt("END"), long, true),
        (Whim::Mute, Duration::from_millis(200), true),
        (Whim::FallsSilentAt("RCPT"), Duration::from_millis(200), true),
        (Whim::FallsSilentAt("END"), Duration::from_millis(200), true),
    ] {
        let port = serve(whim).await;
        let error: EmailError = smtp(port, deadline).send(&email()).await.expect_err("it is refused");
        assert_eq!(error.is_temporary(), temporary, "{whim:?}: {error}");
        assert!(!error.to_string().contains("john"), "{error}");
    }
}

#[tokio::test]
async fn unreachable_mail_server_is_a_temporary_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    assert!(smtp(port, Duration::from_secs(60)).send(&email()).await.expect_err("no server").is_temporary());
}

/// Uses the server of PyPI's `aiosmtpd`, which prints received mails. `TEST_SMTP_PYTHON` is a Python that has it.
#[tokio::test]
async fn real_smtp_server_receives_the_exact_mail() {
    let Ok(python) = std::env::var("TEST_SMTP_PYTHON") else { return };
    const SERVER: &str = r#"
import asyncio, email, email.policy, json
from aiosmtpd.smtp import SMTP
class Handler:
    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        print(json.dumps([envelope.rcpt_tos, mail["Message-ID"], mail["Subject"], mail.get_content()]), flush=True)
        return "250 OK"
async def main():
    server = await asyncio.get_running_loop().create_server(lambda: SMTP(Handler()), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"#;
    let mut server = Command::new(python).args(["-c", SERVER]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = lines.next().unwrap().unwrap().parse().unwrap();
    smtp(port, Duration::from_secs(60)).send(&email()).await.unwrap();
    let received: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let id = format!("<{}@sstc.example>", email().id);
    let text = received[3].as_str().unwrap().replace("\r\n", "\n");
    assert_eq!((received[0][0].as_str(), received[1].as_str()), (Some("john.doe@example.com"), Some(id.as_str())));
    assert_eq!((received[2].as_str(), text.trim_end()), (Some("Yêu cầu trả hàng"), email().text.trim_end()));
}
