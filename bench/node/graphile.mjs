// graphile-worker: local queue of 2,000, 24 concurrent jobs, completions batched without delay.
import pg from 'pg'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { connectionOf } from './connection.mjs'
import { body } from './payload.mjs'

const BATCH = 1000
const logger = new Logger(() => () => {})

export function connect (dsn) {
  const pool = new pg.Pool({ ...connectionOf(dsn), max: 10 })
  pool.on('error', () => {})
  let utils

  return {
    async setup () {
      utils = await makeWorkerUtils({ pgPool: pool, logger })
      await utils.migrate()
    },
    enqueueOne: (number) => utils.addJob('noop', body(number)),
    async enqueueBulk (numbers, due) {
      const runAt = due ? { runAt: new Date(due * 1000) } : {}
      for (let start = 0; start < numbers.length; start += BATCH) {
        const batch = numbers.slice(start, start + BATCH)
        await utils.addJobs(batch.map((number) => ({ identifier: 'noop', payload: body(number), ...runAt })))
      }
    },
    enqueueAt: (number, due) => utils.addJob('noop', body(number), { runAt: new Date(due * 1000) }),
    async left () {
      const { rows } = await pool.query('SELECT count(*)::int AS left FROM graphile_worker._private_jobs')
      return rows[0].left
    },
    async close () {
      await utils.release()
      await pool.end()
    },
    async work (handle, ready) {
      await ready()
      const runner = await run({
        pgPool: pool,
        logger,
        noHandleSignals: true,
        taskList: { noop: async (payload) => handle(payload.n) },
        preset: {
          worker: {
            concurrentJobs: 24,
            pollInterval: 2000,
            localQueue: { size: 2000 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0
          }
        }
      })
      process.on('SIGTERM', async () => {
        await runner.stop()
        process.exit(0)
      })
      await runner.promise
    }
  }
}
