"""The tables as statements see them. The migrations make them; a test holds the two together."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Integer, LargeBinary, MetaData, Table

from orchestra.store.texts import JsonText, Words

metadata = MetaData()

schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True),
    Column("applied_at", Double, nullable=False),
)
sessions = Table(
    "sessions",
    metadata,
    Column("id", Words, primary_key=True),
    Column("title", Words, nullable=False),
    Column("started_at", Double, nullable=False),
)
runs = Table(
    "runs",
    metadata,
    Column("id", Words, primary_key=True),
    Column("session_id", Words, nullable=False),
    Column("task", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("request", JsonText, nullable=False),
    Column("models", JsonText, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double),
    Column("result", JsonText),
    Column("error", JsonText),
    Column("version", Words, nullable=False),
)
run_documents = Table(
    "run_documents",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Words, nullable=False),
    Column("digest", Words, nullable=False),
)
nodes = Table(
    "nodes",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("node_id", Words, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("parent_node_id", Words),
    Column("kind", Words, nullable=False),
    Column("skill_name", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("status", Words, nullable=False),
    Column("mode", Words, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("timing", JsonText),
    Column("usage", JsonText),
    Column("error", JsonText),
    Column("permission_snapshot", JsonText),
)
events = Table(
    "events",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("payload", JsonText, nullable=False),
)
calls = Table(
    "calls",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("node_id", Words, primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("fingerprint", Words, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("begun_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("payload", JsonText),
)
approvals = Table(
    "approvals",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("node_id", Words, primary_key=True),
    Column("digest", Words, primary_key=True),
    Column("kind", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("shown", JsonText, nullable=False),
    Column("asked_at", Double, nullable=False),
    Column("status", Words, nullable=False),
    Column("outcome", Words, nullable=False),
    Column("edited", JsonText),
    Column("reason", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("answered_at", Double),
    Column("answer_id", Words),
)
leases = Table(
    "leases",
    metadata,
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("owner", Words, nullable=False),
    Column("expires_at", Double, nullable=False),
)
documents = Table(
    "documents",
    metadata,
    Column("digest", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("text", LargeBinary, nullable=False),
    Column("kept_at", Double, nullable=False),
)
derived = Table(
    "derived",
    metadata,
    Column("digest", Words, ForeignKey("documents.digest", ondelete="CASCADE"), primary_key=True),
    Column("kind", Words, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
)
cache = Table(
    "cache",
    metadata,
    Column("key", Words, primary_key=True),
    Column("run_id", Words, ForeignKey("runs.id", ondelete="CASCADE")),
    Column("payload", JsonText, nullable=False),
    Column("kept_at", Double, nullable=False),
)
