-- How many jobs of the queue stand in each state: waiting, running, done, failed, canceled.
local running = call('HLEN', P .. 'run')
return {call('ZCARD', P .. 'live') - running, running, call('ZCARD', P .. 'is:done'),
  call('ZCARD', P .. 'is:failed'), call('ZCARD', P .. 'is:canceled')}
