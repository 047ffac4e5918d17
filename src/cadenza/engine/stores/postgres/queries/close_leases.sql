-- Forgets leases of which nothing is left in hand.
DELETE FROM cadenza.lease WHERE number = ANY($1::bigint[])
