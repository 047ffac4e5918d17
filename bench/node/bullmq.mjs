// BullMQ on Valkey: addBulk by thousands, a hundred jobs at once, finished ones removed at once.
import { Queue, Worker } from 'bullmq'
import { body } from './payload.mjs'

const BATCH = 1000
const CONCURRENCY = 100
const QUEUE = 'noop'

export function connect () {
  const connection = { path: process.env.BENCH_VALKEY, maxRetriesPerRequest: null }
  const options = { removeOnComplete: true }
  let queue

  return {
    async setup () {
      queue = new Queue(QUEUE, { connection })
      await queue.waitUntilReady()
    },
    enqueueOne: (number) => queue.add('noop', body(number), options),
    async enqueueBulk (numbers, due) {
      for (let start = 0; start < numbers.length; start += BATCH) {
        const delay = due ? { delay: Math.max(Math.ceil(due * 1000 - Date.now()), 0) } : {}
        const batch = numbers.slice(start, start + BATCH)
        await queue.addBulk(batch.map((number) => ({
          name: 'noop', data: body(number), opts: { ...options, ...delay }
        })))
      }
    },
    enqueueAt: (number, due) => queue.add(
      'noop', body(number), { ...options, delay: Math.max(Math.ceil(due * 1000 - Date.now()), 0) }),
    async left () {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'failed')
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    },
    async close () {
      await queue.close()
    },
    async work (handle, ready) {
      await ready()
      const worker = new Worker(QUEUE, async (job) => { handle(job.data.n) }, {
        connection, concurrency: CONCURRENCY
      })
      worker.on('error', (error) => console.error(error))
      process.on('SIGTERM', async () => {
        await worker.close()
        process.exit(0)
      })
    }
  }
}
