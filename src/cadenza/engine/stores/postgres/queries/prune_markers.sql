-- Deletes what throttle and pace remember of instants long past.
DELETE FROM cadenza.marker WHERE at < (SELECT cadenza.cadenza_now()) - interval '1 day'
