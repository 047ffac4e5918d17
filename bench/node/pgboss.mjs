// pg-boss: batches of 1,000, four local workers, listen/notify on, no pause while batches are full.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { connectionOf } from './connection.mjs'
import { body } from './payload.mjs'

const BATCH = 1000
const QUEUE = 'noop'

export function connect (dsn) {
  const options = connectionOf(dsn)
  const boss = new PgBoss({ ...options, max: 10, useListenNotify: true, schedule: false })
  boss.on('error', (error) => console.error(error))
  boss.on('warning', () => {})
  let client

  return {
    async setup () {
      await boss.start()
      await boss.createQueue(QUEUE, { notify: true })
      client = new pg.Client(options)
      await client.connect()
    },
    enqueueOne: (number) => boss.send(QUEUE, body(number)),
    async enqueueBulk (numbers, due) {
      const startAfter = due ? { startAfter: new Date(due * 1000) } : {}
      for (let start = 0; start < numbers.length; start += BATCH) {
        const batch = numbers.slice(start, start + BATCH)
        await boss.insert(QUEUE, batch.map((number) => ({ data: body(number), ...startAfter })))
      }
    },
    enqueueAt: (number, due) => boss.send(QUEUE, body(number), { startAfter: new Date(due * 1000) }),
    async left () {
      const { rows } = await client.query(
        "SELECT count(*)::int AS left FROM pgboss.job WHERE state < 'completed' AND name = $1", [QUEUE])
      return rows[0].left
    },
    async close () {
      await client.end()
      await boss.stop({ graceful: false })
    },
    async work (handle, ready) {
      await boss.start()
      process.on('SIGTERM', async () => {
        await boss.stop({ graceful: true, timeout: 5000 })
        process.exit(0)
      })
      await ready()
      const settings = {
        batchSize: BATCH,
        localConcurrency: 4,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true
      }
      await boss.work(QUEUE, settings, async (jobs) => {
        for (const job of jobs) handle(job.data.n)
      })
    }
  }
}
