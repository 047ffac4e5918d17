-- Pictures changed to what a network takes, made once and sent as often as needed: the same bytes each time.
CREATE TABLE media_fit (
    workspace_id text NOT NULL REFERENCES workspace (id),
    source text NOT NULL,  -- the file that it was made from, as the storage names it
    change text NOT NULL,  -- what was done, e.g. `jpeg-2000000-0-0`: bytes, pixels, sides
    file text NOT NULL,  -- its own name in the storage
    mime text NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    width integer NOT NULL,
    height integer NOT NULL,
    stopped boolean NOT NULL,  -- the source moved, and its first frame was taken
    made_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, source, change)
);
