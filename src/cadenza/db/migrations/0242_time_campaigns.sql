-- How many left in each of the last 60 seconds: a ring. A second of the minute before is written over.
CREATE TABLE campaign_second (
    workspace_id text NOT NULL,
    campaign_id text NOT NULL,
    shard integer NOT NULL,
    slot integer NOT NULL,  -- the second of the minute
    second bigint NOT NULL,  -- since 1970
    sent bigint NOT NULL,
    PRIMARY KEY (workspace_id, campaign_id, shard, slot),
    FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id)
);
