// mongodb-cron: eight in one process, because each handles one document at a time; polled every 50 ms
// each, so that it idles at about our cost (its README's example says 10 s, its default 0 is a hot loop).
import { MongoClient } from 'mongodb'
import { MongoCron } from 'mongodb-cron'
import { body } from './payload.mjs'

const BATCH = 1000
const CRONS = 8
const IDLE = 50

export function connect () {
  const client = new MongoClient(process.env.BENCH_MONGO)
  const collection = client.db().collection('jobs')
  const document = (number, due) => ({ ...body(number), sleepUntil: new Date(due), autoRemove: true })

  return {
    setup: () => collection.createIndex({ sleepUntil: 1 }, { sparse: true }),
    enqueueOne: (number) => collection.insertOne(document(number, Date.now())),
    async enqueueBulk (numbers, due) {
      for (let start = 0; start < numbers.length; start += BATCH) {
        const at = due ? due * 1000 : Date.now()
        await collection.insertMany(numbers.slice(start, start + BATCH).map((number) => document(number, at)))
      }
    },
    enqueueAt: (number, due) => collection.insertOne(document(number, Math.ceil(due * 1000))),
    left: () => collection.countDocuments({}),
    close: () => client.close(),
    async work (handle, ready) {
      const crons = Array.from({ length: CRONS }, () => new MongoCron({
        collection, onDocument: (found) => handle(found.n), onError: console.error, idleDelay: IDLE
      }))
      await ready()
      for (const cron of crons) await cron.start()
      process.on('SIGTERM', () => process.exit(0))
    }
  }
}
