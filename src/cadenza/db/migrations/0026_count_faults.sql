-- Calls in a row that did not get through to the network: from the third on the account rests.
ALTER TABLE account ADD COLUMN faults integer NOT NULL DEFAULT 0;
