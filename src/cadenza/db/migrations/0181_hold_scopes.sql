-- A lane belongs to its account and, where it has one, to the scope of a campaign or a sequence: it is named
-- `<scope>@<account>` then. The account's own lane counts the calls of all its lanes, so that they never have more
-- at once than the account may; null: as many as each lane allows.
ALTER TABLE lane ADD COLUMN scope_id text;
ALTER TABLE lane ADD COLUMN account_paused boolean NOT NULL DEFAULT false;
ALTER TABLE lane ADD COLUMN calls integer NOT NULL DEFAULT 0;
ALTER TABLE lane ADD COLUMN width integer;

UPDATE lane SET calls = in_flight, width = CASE WHEN EXISTS (
    SELECT 1 FROM account WHERE account.workspace_id = lane.workspace_id AND account.id = lane.account_id AND (
        provider IN ('telegram', 'slack', 'discord', 'webhook') OR settings LIKE '%"bulk":true%'
    )
) THEN 32 ELSE 1 END WHERE id = 'account:' || account_id;

INSERT INTO lane (
    workspace_id, id, account_id, scope_id, paused, paused_until, pause_reason, account_paused, unresumed_until,
    in_flight_limit, runnable_at
)
SELECT sends.workspace_id, sends.scope_id || '@' || sends.account_id, sends.account_id, sends.scope_id,
    was.paused, was.paused_until, was.pause_reason, own.paused, own.unresumed_until, was.in_flight_limit, sends.due_at
FROM (
    SELECT workspace_id, lane_id, account_id,
        CASE WHEN campaign_id IS NULL THEN 'sequence:' || sequence_id ELSE 'campaign:' || campaign_id END AS scope_id,
        min(CASE WHEN state = 'scheduled' AND leased_until IS NULL THEN due_at END) AS due_at
    FROM delivery WHERE campaign_id IS NOT NULL OR sequence_id IS NOT NULL
    GROUP BY workspace_id, lane_id, account_id, campaign_id, sequence_id
) AS sends
JOIN lane AS was ON was.workspace_id = sends.workspace_id AND was.id = sends.lane_id
JOIN lane AS own ON own.workspace_id = sends.workspace_id AND own.id = 'account:' || sends.account_id;

INSERT INTO lane (workspace_id, id, account_id, scope_id, paused, account_paused)
SELECT joined.workspace_id, 'sequence:' || sequence_id || '@' || joined.account_id, joined.account_id,
    'sequence:' || sequence_id, was.paused, own.paused
FROM sequence_account AS joined
JOIN lane AS was ON was.workspace_id = joined.workspace_id
    AND was.id = 'sequence:' || sequence_id || ':' || joined.account_id
JOIN lane AS own ON own.workspace_id = joined.workspace_id AND own.id = 'account:' || joined.account_id
WHERE true
ON CONFLICT (workspace_id, id) DO NOTHING;

UPDATE delivery
SET lane_id = CASE WHEN campaign_id IS NULL THEN 'sequence:' || sequence_id ELSE 'campaign:' || campaign_id END
    || '@' || account_id
WHERE campaign_id IS NOT NULL OR sequence_id IS NOT NULL;
UPDATE activity SET lane_id = 'sequence:' || (
    SELECT sequence_id FROM delivery
    WHERE delivery.workspace_id = activity.workspace_id AND delivery.id = activity.delivery_id
) WHERE lane_id LIKE 'sequence:%';
DELETE FROM lane WHERE scope_id IS NULL AND (id LIKE 'campaign:%' OR id LIKE 'sequence:%');

CREATE INDEX lane_of_account ON lane (workspace_id, account_id) WHERE scope_id IS NOT NULL;
CREATE INDEX lane_of_scope ON lane (workspace_id, scope_id) WHERE scope_id IS NOT NULL;
DROP INDEX delivery_lane_turn;
CREATE INDEX delivery_lane_turn ON lane ((CASE WHEN served_at > runnable_at THEN served_at ELSE runnable_at END))
    WHERE NOT paused AND NOT account_paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit;
