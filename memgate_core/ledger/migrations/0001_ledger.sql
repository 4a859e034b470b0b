-- The ledger: turns, proposals, facts, held items, events and their delivery.

CREATE TABLE memgate_subject (
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    actor TEXT,
    first_seen_at BIGINT NOT NULL,
    pending BIGINT NOT NULL,
    erased_at BIGINT,
    PRIMARY KEY (tenant, subject_id)
);

CREATE TABLE memgate_turn (
    turn_no $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    session TEXT,
    role TEXT NOT NULL,
    speaker TEXT,
    source TEXT NOT NULL,
    taint TEXT NOT NULL,
    text TEXT NOT NULL,
    text_sha256 TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL,
    receipt TEXT NOT NULL,
    answer TEXT,
    CONSTRAINT memgate_turn_once UNIQUE (tenant, subject_id, message_id)
);
CREATE INDEX memgate_turn_by_session
    ON memgate_turn (tenant, subject_id, session, occurred_at, turn_no);

CREATE TABLE memgate_proposal (
    proposal_no $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    proposal_id TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    message_id TEXT NOT NULL,
    status TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    staged_id TEXT,
    fact_id TEXT,
    recorded_at BIGINT NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT memgate_proposal_once UNIQUE (proposal_id, tenant)
);
CREATE INDEX memgate_proposal_by_message ON memgate_proposal (tenant, subject_id, message_id);

CREATE TABLE memory_fact_key (
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    scope_kind TEXT NOT NULL,
    scope_key TEXT NOT NULL,
    kind TEXT NOT NULL,
    normalized_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject_id, scope_kind, scope_key, kind, normalized_key)
) $keyed;

CREATE TABLE memgate_fact (
    fact_no $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    key_id TEXT NOT NULL,
    attribute TEXT,
    status TEXT NOT NULL,
    native SMALLINT NOT NULL,
    valid_from BIGINT NOT NULL,
    valid_to BIGINT,
    expires_at BIGINT,
    body TEXT NOT NULL,
    CONSTRAINT memgate_fact_once UNIQUE (fact_id, version),
    CONSTRAINT memgate_fact_interval CHECK (valid_to IS NULL OR valid_to >= valid_from)
);
CREATE INDEX memgate_fact_awaiting_native ON memgate_fact (tenant, subject_id) WHERE native = 0;
CREATE INDEX memgate_fact_by_subject ON memgate_fact (tenant, subject_id, status, valid_from);
CREATE INDEX memgate_fact_expiring ON memgate_fact (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX memgate_fact_one_current ON memgate_fact (key_id) WHERE status = 'CURRENT';

CREATE TABLE memgate_lineage (
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    parent TEXT NOT NULL,
    child TEXT NOT NULL,
    PRIMARY KEY (tenant, subject_id, parent, child)
) $keyed;

CREATE TABLE memgate_staged (
    staged_no $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    staged_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    status TEXT NOT NULL,
    session TEXT,
    created_at BIGINT NOT NULL,
    last_stated_at BIGINT NOT NULL,
    review_at BIGINT,
    terms TEXT NOT NULL,
    body TEXT NOT NULL,
    CONSTRAINT memgate_staged_once UNIQUE (staged_id)
);
CREATE INDEX memgate_staged_by_time ON memgate_staged (tenant, subject_id, created_at);
CREATE INDEX memgate_staged_newest
    ON memgate_staged (tenant, subject_id, last_stated_at, staged_no)
    WHERE status = 'PENDING';
CREATE INDEX memgate_staged_newest_in_session
    ON memgate_staged (tenant, subject_id, session, last_stated_at, staged_no)
    WHERE status = 'PENDING';
CREATE INDEX memgate_staged_oldest ON memgate_staged (created_at) WHERE status = 'PENDING';
CREATE INDEX memgate_staged_on_key ON memgate_staged (key_id, created_at) WHERE status = 'PENDING';
CREATE INDEX memgate_staged_review
    ON memgate_staged (review_at)
    WHERE status = 'PENDING' AND review_at IS NOT NULL;

CREATE TABLE memgate_staged_term (
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    term TEXT NOT NULL,
    staged_no BIGINT NOT NULL,
    PRIMARY KEY (tenant, subject_id, term, staged_no)
) $keyed;

CREATE TABLE memgate_event (
    seq $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    staged_id TEXT,
    fact_id TEXT,
    occurred_at BIGINT NOT NULL,
    recorded_at BIGINT NOT NULL,
    session TEXT,
    policy_version TEXT NOT NULL,
    staged TEXT,
    fact TEXT
);
CREATE INDEX memgate_event_by_subject ON memgate_event (tenant, subject_id, seq);

CREATE TABLE memgate_projection (
    name TEXT NOT NULL,
    registered_at BIGINT NOT NULL,
    active SMALLINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE memgate_outbox (
    projection TEXT NOT NULL,
    seq BIGINT NOT NULL,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    error TEXT,
    settled_at BIGINT,
    PRIMARY KEY (seq, projection)
) $keyed;
CREATE INDEX memgate_outbox_due
    ON memgate_outbox (projection, tenant, subject_id, seq)
    WHERE status = 'DUE';
CREATE INDEX memgate_outbox_errors ON memgate_outbox (tenant, subject_id) WHERE error IS NOT NULL;
CREATE INDEX memgate_outbox_parked ON memgate_outbox (seq, projection) WHERE status = 'PARKED';
CREATE INDEX memgate_outbox_stuck
    ON memgate_outbox (tenant, subject_id, topic, projection, seq)
    WHERE status IN ('PARKED', 'BLOCKED');

CREATE TABLE memgate_outbox_lane (
    projection TEXT NOT NULL,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    head_seq BIGINT,
    next_try_at BIGINT NOT NULL,
    leased_by TEXT,
    leased_until BIGINT NOT NULL,
    leased_through BIGINT NOT NULL,
    PRIMARY KEY (projection, tenant, subject_id)
);
CREATE INDEX memgate_outbox_lane_due
    ON memgate_outbox_lane (projection, head_seq)
    WHERE head_seq IS NOT NULL;
CREATE INDEX memgate_outbox_lane_leased
    ON memgate_outbox_lane (leased_by)
    WHERE leased_by IS NOT NULL;

CREATE TABLE memgate_native_link (
    projection TEXT NOT NULL,
    native_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    message_id TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (projection, native_id)
);
CREATE INDEX memgate_native_link_by_subject
    ON memgate_native_link (tenant, subject_id, projection, message_id);

CREATE TABLE memgate_native_item (
    projection TEXT NOT NULL,
    item_id TEXT NOT NULL,
    native_id TEXT NOT NULL,
    PRIMARY KEY (projection, item_id, native_id)
) $keyed;
