-- Admission: approvals, counters, rollout state and the audit trail.

CREATE TABLE memgate_approval (
    approval_no $serial,
    tenant TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    proposal_id TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    expires_at BIGINT,
    body TEXT NOT NULL,
    CONSTRAINT memgate_approval_once UNIQUE (approval_id)
);
CREATE INDEX memgate_approval_by_proposal ON memgate_approval (proposal_id);
CREATE INDEX memgate_approval_by_status ON memgate_approval (status, approval_no);
CREATE INDEX memgate_approval_by_subject ON memgate_approval (tenant, subject_id, approval_no);

CREATE TABLE memgate_counter (
    name TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    shard SMALLINT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name, policy_version, shard)
);

CREATE TABLE memgate_state (
    name TEXT NOT NULL,
    revision BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE memgate_audit (
    audit_no $serial,
    at BIGINT NOT NULL,
    tenant TEXT,
    subject_id TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    done_by TEXT NOT NULL,
    detail TEXT
);
CREATE INDEX memgate_audit_by_subject ON memgate_audit (tenant, subject_id, audit_no);
CREATE INDEX memgate_audit_by_target ON memgate_audit (target, audit_no);
