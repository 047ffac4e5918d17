-- Reads the clock that decides.
SELECT cadenza.cadenza_now()
