"""Chroma's own client beside ours: chroma_client.py URL read|write|write-plain COLLECTION; prints JSON."""

import json
import sys
from urllib.parse import urlsplit

import chromadb
from chromadb.config import Settings


def main(url, action, name):
    address = urlsplit(url)
    settings = Settings(anonymized_telemetry=False)
    client = chromadb.HttpClient(host=address.hostname, port=address.port, settings=settings)
    print(json.dumps({"read": read, "write": write, "write-plain": write_plain}[action](client, name)))


def read(client, name):
    collection = client.get_collection(name, embedding_function=None)
    records = collection.get(include=["documents", "metadatas"])
    nearest = collection.query(query_embeddings=[[0.0, 2.0, 0.0]], n_results=1)
    return {
        "metadata": collection.metadata,
        "space": collection.configuration_json["hnsw"]["space"],
        "ids": records["ids"],
        "documents": records["documents"],
        "metadatas": records["metadatas"],
        "nearest": nearest["ids"][0],
        "similarity": round(1.0 - nearest["distances"][0][0], 5),
    }


def write(client, name):
    collection = client.create_collection(
        name,
        metadata={"embedding_model": "bge-m3", "embedding_dimension": 3},
        configuration={"hnsw": {"space": "cosine"}},
        embedding_function=None,
    )
    collection.add(
        ids=["with all"], embeddings=[[1.0, 0.0, 0.0]], documents=["đủ"], metadatas=[{"kind": "tiếng Việt", "page": 3}]
    )
    collection.add(ids=["without document"], embeddings=[[1.0, 1.0, 0.0]], metadatas=[{"kind": "other"}])
    collection.add(ids=["without metadata"], embeddings=[[0.0, 1.0, 0.0]], documents=["x"])
    return "written"


def write_plain(client, name):
    collection = client.create_collection(name, embedding_function=None)
    collection.add(ids=["a"], embeddings=[[1.0, 0.0, 0.0]], documents=["a"])
    return "written"


main(*sys.argv[1:])
