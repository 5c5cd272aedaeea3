CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL
);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    request TEXT NOT NULL,
    models TEXT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    result TEXT,
    error TEXT,
    version TEXT NOT NULL
);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_session ON runs (session_id);

CREATE TABLE run_documents (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
);
CREATE INDEX run_documents_by_digest ON run_documents (digest);

CREATE TABLE nodes (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    parent_node_id TEXT,
    kind TEXT NOT NULL,
    skill_name TEXT NOT NULL,
    title TEXT NOT NULL,
    depth INTEGER NOT NULL,
    status TEXT NOT NULL,
    mode TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    timing TEXT,
    usage TEXT,
    error TEXT,
    permission_snapshot TEXT,
    PRIMARY KEY (run_id, node_id)
);

CREATE TABLE events (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (run_id, sequence)
);

CREATE TABLE calls (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    begun_at DOUBLE PRECISION NOT NULL,
    finished_at DOUBLE PRECISION,
    payload TEXT,
    PRIMARY KEY (run_id, node_id, kind, fingerprint, ordinal)
);

CREATE TABLE approvals (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    shown TEXT NOT NULL,
    asked_at DOUBLE PRECISION NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT NOT NULL,
    edited TEXT,
    reason TEXT NOT NULL,
    text TEXT NOT NULL,
    answered_at DOUBLE PRECISION,
    answer_id TEXT,
    PRIMARY KEY (run_id, node_id, digest)
);

CREATE TABLE leases (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);

CREATE TABLE documents (
    digest TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    text {bytes} NOT NULL,
    kept_at DOUBLE PRECISION NOT NULL
);

CREATE TABLE derived (
    digest TEXT NOT NULL REFERENCES documents (digest) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    payload {bytes} NOT NULL,
    PRIMARY KEY (digest, kind)
);
CREATE INDEX derived_by_kind ON derived (kind);

CREATE TABLE cache (
    key TEXT NOT NULL PRIMARY KEY,
    run_id TEXT REFERENCES runs (id) ON DELETE CASCADE,
    payload TEXT NOT NULL,
    kept_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX cache_by_run ON cache (run_id);
CREATE INDEX cache_by_age ON cache (kept_at);
