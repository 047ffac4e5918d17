-- Holds off every claim and every settlement until the end of the transaction, so that a count of running jobs is exact.
LOCK TABLE cadenza.lease IN SHARE ROW EXCLUSIVE MODE
