"""What outlives a run, in one database: SQLite or PostgreSQL."""

from orchestra.store.records import (
    ApprovalRecord,
    CallRecord,
    DocumentRef,
    NodeRecord,
    RunRecord,
    RunSummary,
    SessionRecord,
)
from orchestra.store.store import Store, shared_store

__all__ = [
    "ApprovalRecord",
    "CallRecord",
    "DocumentRef",
    "NodeRecord",
    "RunRecord",
    "RunSummary",
    "SessionRecord",
    "Store",
    "shared_store",
]
