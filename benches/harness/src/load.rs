//! A client that sends turns and reads their events: as fast as they are answered, or at a rate.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use crate::http::{Connection, Lines};

#[derive(clap::Args)]
pub struct Args {
    /// The server's HOST:PORT.
    #[arg(long)]
    to: String,
    #[arg(long, default_value_t = 1)]
    clients: usize,
    /// How many turns are measured in all.
    #[arg(long, default_value_t = 100)]
    turns: usize,
    /// How many turns each client sends before.
    #[arg(long, default_value_t = 5)]
    warm_up: usize,
    /// What the customer writes. Each client repeats it in a separate conversation.
    #[arg(long, default_value = "hello")]
    text: String,
    #[arg(long, default_value = "system_persona_en")]
    persona: String,
    /// What each reply has to contain.
    #[arg(long, default_value = "")]
    expect: String,
    /// Asks a model instead of a server of conversations.
    #[arg(long)]
    model: bool,
    /// Starts this many turns a second, whether or not earlier ones have ended, for so many seconds.
    #[arg(long, requires = "seconds")]
    rate: Option<f64>,
    #[arg(long)]
    seconds: Option<f64>,
}

/// What one turn took.
#[derive(Clone, Copy)]
struct Timing {
    first: Duration,
    total: Duration,
    events: usize,
}

/// How a turn was answered.
enum Answer {
    Events(Timing),
    /// The server refused the turn, and said when to come again.
    Refused(Duration),
}

/// A customer with a conversation, or a program that asks a model.
struct Customer {
    connection: Connection,
    path: String,
    body: Value,
    expect: String,
    is_model: bool,
}

impl Customer {
    async fn enter(args: &Args) -> Result<Self> {
        let mut connection = Connection::open(&args.to).await?;
        let (path, body) = if args.model {
            (
                "/api/chat".to_owned(),
                json!({"model": "gpt-oss:latest", "messages": [{"role": "user", "content": args.text}]}),
            )
        } else {
            let conversation = connection.post_json("/conversations", &json!({"persona": args.persona})).await?;
            let id = conversation["id"].as_str().context("the conversation has no id")?;
            (format!("/conversations/{id}/stream"), json!({"text": args.text}))
        };
        Ok(Self { connection, path, body, expect: args.expect.clone(), is_model: args.model })
    }

    async fn ask(&mut self) -> Result<Answer> {
        let began = Instant::now();
        let response = self.connection.post(&self.path, &self.body).await?;
        let status = response.status();
        if !status.is_success() {
            ensure!(response.headers().contains_key("retry-after"), "{}: {status} without Retry-After", self.path);
            let mut lines = Lines::new(response.into_body());
            while lines.next().await?.is_some() {}
            return Ok(Answer::Refused(began.elapsed()));
        }
        let mut lines = Lines::new(response.into_body());
        let (mut first, mut events, mut reply, mut has_ended) = (None, 0, String::new(), false);
        while let Some(line) = lines.next().await? {
            let Some(event) = self.read(&line) else { continue };
            events += 1;
            if let Some(text) = event.text {
                first.get_or_insert_with(|| began.elapsed());
                reply.push_str(&text);
            }
            has_ended |= event.is_last;
        }
        ensure!(has_ended, "the turn has no end");
        ensure!(reply.contains(&self.expect), "the reply has no {:?}: {reply}", self.expect);
        let first = first.context("the turn has no text")?;
        Ok(Answer::Events(Timing { first, total: began.elapsed(), events }))
    }

    fn read(&self, line: &[u8]) -> Option<Event> {
        let json = if self.is_model { line } else { line.strip_prefix(b"data: ")? };
        let value: Value = serde_json::from_slice(json).ok()?;
        if self.is_model {
            let text = value["message"]["content"].as_str().filter(|text| !text.is_empty());
            return Some(Event { text: text.map(str::to_owned), is_last: value["done"] == true });
        }
        let kind = value["type"].as_str()?;
        let text = if kind == "delta" { value["text"].as_str() } else { None };
        Some(Event { text: text.map(str::to_owned), is_last: kind == "turn.done" })
    }
}

struct Event {
    text: Option<String>,
    is_last: bool,
}

pub async fn run(args: Args) -> Result<()> {
    let local = LocalSet::new();
    let report = match (args.rate, args.seconds) {
        (Some(rate), Some(seconds)) => local.run_until(offer(args, rate, seconds)).await?,
        _ => local.run_until(repeat(args)).await?,
    };
    println!("{report}");
    Ok(())
}

/// Every client sends its next turn when the last one has ended.
async fn repeat(args: Args) -> Result<Value> {
    let args = Rc::new(args);
    let start = Rc::new(Barrier::new(args.clients + 1));
    let clients: Vec<_> = (0..args.clients)
        .map(|at| {
            let (args, start) = (args.clone(), start.clone());
            let turns = args.turns / args.clients + usize::from(at < args.turns % args.clients);
            tokio::task::spawn_local(async move {
                let mut customer = Customer::enter(&args).await?;
                for _ in 0..args.warm_up {
                    customer.ask().await?;
                }
                start.wait().await;
                let mut timings = Vec::with_capacity(turns);
                for _ in 0..turns {
                    match customer.ask().await? {
                        Answer::Events(timing) => timings.push(timing),
                        Answer::Refused(_) => bail!("a turn was refused"),
                    }
                }
                anyhow::Ok(timings)
            })
        })
        .collect();
    let begin = async {
        start.wait().await;
        Instant::now()
    };
    let ended = futures_util::future::try_join_all(clients);
    tokio::pin!(begin, ended);
    // A client that fails before the start would leave the others waiting for it.
    let began = tokio::select! {
        began = &mut begin => began,
        ended = &mut ended => { for timings in ended? { timings?; } bail!("the clients ended early") }
    };
    let mut timings = Vec::new();
    for part in ended.await? {
        timings.extend(part?);
    }
    Ok(report(&timings, began.elapsed(), &[]))
}

/// Turns start at a rate. A customer who has no answer yet is not asked again: another one writes.
async fn offer(args: Args, rate: f64, seconds: f64) -> Result<Value> {
    let idle = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..args.clients {
        let customer = Customer::enter(&args).await?;
        idle.borrow_mut().push(customer);
    }
    let results = Rc::new(RefCell::new((Vec::new(), Vec::new(), Vec::new())));
    let mut tick = tokio::time::interval(Duration::from_secs_f64(1.0 / rate));
    // What the server delays must not lower the offer.
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (began, mut without) = (Instant::now(), 0_usize);
    let mut running = Vec::new();
    while began.elapsed().as_secs_f64() < seconds {
        tick.tick().await;
        let Some(mut customer) = idle.borrow_mut().pop() else {
            without += 1;
            continue;
        };
        let (idle, results) = (idle.clone(), results.clone());
        running.push(tokio::task::spawn_local(async move {
            let answer = customer.ask().await;
            let mut results = results.borrow_mut();
            match answer {
                Ok(Answer::Events(timing)) => results.0.push(timing),
                Ok(Answer::Refused(after)) => results.1.push(after),
                Err(cause) => results.2.push(format!("{cause:#}")),
            }
            idle.borrow_mut().push(customer);
        }));
    }
    futures_util::future::try_join_all(running).await?;
    let elapsed = began.elapsed();
    let results = results.borrow();
    ensure!(results.2.is_empty(), "{} turns failed, the first one: {}", results.2.len(), results.2[0]);
    ensure!(without == 0, "{without} turns had no customer: give more --clients");
    Ok(report(&results.0, elapsed, &results.1))
}

fn report(timings: &[Timing], elapsed: Duration, refused: &[Duration]) -> Value {
    let micros = |part: fn(&Timing) -> Duration| -> Vec<u128> {
        timings.iter().map(|timing| part(timing).as_micros()).collect()
    };
    json!({
        "seconds": elapsed.as_secs_f64(),
        "turns": timings.len(),
        "events": timings.iter().map(|timing| timing.events).sum::<usize>(),
        "first_us": micros(|timing| timing.first),
        "total_us": micros(|timing| timing.total),
        "refused_us": refused.iter().map(Duration::as_micros).collect::<Vec<_>>(),
    })
}
