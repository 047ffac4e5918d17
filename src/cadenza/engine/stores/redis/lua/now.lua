-- The clock that decides, and whether leases of the queue have expired.
return {pad(now), call('ZCOUNT', P .. 'leases', '-inf', now)}
