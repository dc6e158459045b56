"""The same turn as a Python team would build it: FastAPI, LangGraph and SQLAlchemy, one uvicorn worker.

Only what the measurement needs: a conversation, a turn that is a warranty question or goes to the model, and its events. It keeps no
journal: its events are not stored, and it forgets them when it is killed. Its conversations, messages and warranties are in SQLite.

    DATABASE=FILE MODEL=http://HOST:PORT WARRANTY=warranty.csv uvicorn app:app
"""
import csv
import json
import os
import re
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TypedDict

import httpx
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import StreamingResponse
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from sqlalchemy import ForeignKey, event, select
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

SERIAL = re.compile(r"\b(?=[A-Z0-9-]*\d)[A-Z0-9-]{3,32}\b", re.I | re.A)
GREETING = "Hi! I'm happy to help 💖 I'll assist you right away."
FOLLOW_UP = "I can also help with shopping advice, a warranty check, or simply a friendly chat — is there anything else I can do for you?"
PROMPT = "You are a friendly assistant of a computer shop. Answer from what the shop knows."


class Base(DeclarativeBase):
    pass


class Conversation(Base):
    __tablename__ = "conversations"
    id: Mapped[str] = mapped_column(primary_key=True)
    persona: Mapped[str]
    created_at: Mapped[datetime]


class Message(Base):
    __tablename__ = "messages"
    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"), index=True)
    sender: Mapped[str]
    kind: Mapped[str]
    text: Mapped[str]
    created_at: Mapped[datetime]


class Warranty(Base):
    __tablename__ = "warranty_records"
    serial: Mapped[str] = mapped_column(primary_key=True)
    product_name: Mapped[str]
    warranty_end_date: Mapped[str]


class Turn(TypedDict):
    conversation: str
    text: str
    intent: str
    said: list[tuple[str, str]]


engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['DATABASE']}")
sessions = async_sessionmaker(engine, expire_on_commit=False)
model = httpx.AsyncClient(base_url=os.environ["MODEL"], timeout=60)


@event.listens_for(engine.sync_engine, "connect")
def pragmas(connection, _):
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def frame(**fields):
    return f"data: {json.dumps(fields, ensure_ascii=False)}\n\n"


def say(kind, text):
    write, message = get_stream_writer(), str(uuid.uuid4())
    write(frame(type="message.start", message_id=message, kind=kind))
    write(frame(type="delta", message_id=message, text=text))
    write(frame(type="message.end", message_id=message, kind=kind))
    return kind, text


async def classify(turn: Turn):
    words = turn["text"].lower()
    intent = "warranty" if "warranty" in words or "bảo hành" in words else "shopping"
    get_stream_writer()(frame(type="intent", intent=intent))
    return {"intent": intent, "said": [say("cute_greeting", GREETING)]}


async def warranty(turn: Turn):
    serial = SERIAL.search(turn["text"])
    async with sessions() as session:
        found = await session.get(Warranty, serial[0].upper()) if serial else None
    text = (
        f"Warranty information: product '{found.product_name}', serial '{found.serial}', warranty ends on {found.warranty_end_date}."
        if found
        else "I could not find this serial number. Please check it."
    )
    return {"said": [*turn["said"], say("warranty_result", text), say("follow_up", FOLLOW_UP)]}


async def reply(turn: Turn):
    async with sessions() as session:
        earlier = select(Message).where(Message.conversation_id == turn["conversation"]).order_by(Message.created_at.desc()).limit(20)
        history = (await session.scalars(earlier)).all()
    roles = [{"role": "user" if row.sender == "user" else "assistant", "content": row.text} for row in reversed(history)]
    asked = {"model": "gpt-oss:latest", "messages": [{"role": "system", "content": PROMPT}, *roles], "stream": True}
    write, message, pieces = get_stream_writer(), str(uuid.uuid4()), []
    async with model.stream("POST", "/api/chat", json=asked) as response:
        write(frame(type="message.start", message_id=message, kind="reply"))
        async for line in response.aiter_lines():
            piece = json.loads(line)["message"]["content"]
            if piece:
                pieces.append(piece)
                write(frame(type="delta", message_id=message, text=piece))
    write(frame(type="message.end", message_id=message, kind="reply"))
    return {"said": [*turn["said"], ("reply", "".join(pieces)), say("follow_up", FOLLOW_UP)]}


graph = StateGraph(Turn)
graph.add_node("classify", classify)
graph.add_node("warranty", warranty)
graph.add_node("reply", reply)
graph.add_edge(START, "classify")
graph.add_conditional_edges("classify", lambda turn: turn["intent"], {"warranty": "warranty", "shopping": "reply"})
graph.add_edge("warranty", END)
graph.add_edge("reply", END)
flow = graph.compile()


@asynccontextmanager
async def lifespan(_):
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with sessions() as session:
        with open(os.environ["WARRANTY"], newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                await session.merge(Warranty(serial=row["serial"].upper(), product_name=row["product_name"], warranty_end_date=row["warranty_end_date"]))
        await session.commit()
    yield
    await model.aclose()


app = FastAPI(lifespan=lifespan)


@app.post("/conversations", status_code=201)
async def create(request: Request):
    given = await request.json()
    conversation = Conversation(id=str(uuid.uuid4()), persona=given.get("persona", ""), created_at=datetime.now(UTC))
    async with sessions() as session:
        session.add(conversation)
        await session.commit()
    return {"id": conversation.id}


@app.post("/conversations/{conversation}/stream")
async def stream(conversation: str, request: Request):
    text = (await request.json())["text"]
    async with sessions() as session:
        if await session.get(Conversation, conversation) is None:
            raise HTTPException(404)
        session.add(stored(conversation, "user", "message", text))
        await session.commit()

    async def events():
        yield 'data: {"debug":"stream-open"}\n\n'
        yield frame(type="turn.start", text=text)
        said = []
        async for mode, part in flow.astream({"conversation": conversation, "text": text}, stream_mode=["custom", "updates"]):
            if mode == "custom":
                yield part
            else:
                said = next(iter(part.values())).get("said", said)
        async with sessions() as session:
            session.add_all(stored(conversation, "assistant", kind, words) for kind, words in said)
            await session.commit()
        yield frame(type="turn.done", status="completed")

    return StreamingResponse(events(), media_type="text/event-stream", headers={"cache-control": "no-cache"})


def stored(conversation, sender, kind, text):
    return Message(
        id=str(uuid.uuid4()), conversation_id=conversation, sender=sender, kind=kind, text=text, created_at=datetime.now(UTC)
    )
