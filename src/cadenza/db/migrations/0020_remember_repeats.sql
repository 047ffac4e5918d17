-- A call that was made again to find out, under the same key: it has ended by then.
ALTER TABLE attempt ADD COLUMN repeated_until timestamptz;
