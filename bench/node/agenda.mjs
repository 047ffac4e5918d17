// Agenda on MongoDB: a hundred at once, looks every 10 ms (its default is 5 s), finished jobs removed.
import { MongoBackend } from '@agendajs/mongo-backend'
import { Agenda } from 'agenda'
import { MongoClient } from 'mongodb'
import { body } from './payload.mjs'

const CONCURRENCY = 100
const LOOK = 10

export function connect () {
  const client = new MongoClient(process.env.BENCH_MONGO)
  const collection = client.db().collection('agendaJobs')
  const make = () => new Agenda({
    backend: new MongoBackend({ mongo: client.db() }),
    processEvery: LOOK,
    maxConcurrency: CONCURRENCY,
    defaultConcurrency: CONCURRENCY,
    defaultLockLimit: CONCURRENCY,
    removeOnComplete: true
  })
  let agenda

  return {
    async setup () {
      await client.connect()
      agenda = make()
      await agenda.ready
    },
    enqueueOne: (number) => agenda.now('noop', body(number)),
    enqueueAt: (number, due) => agenda.schedule(new Date(Math.ceil(due * 1000)), 'noop', body(number)),
    left: () => collection.countDocuments({}),
    close: () => client.close(),
    async work (handle, ready) {
      await client.connect()
      agenda = make()
      await agenda.ready
      agenda.define('noop', async (job) => { handle(job.attrs.data.n) }, {
        concurrency: CONCURRENCY, lockLimit: CONCURRENCY
      })
      await ready()
      await agenda.start()
      process.on('SIGTERM', () => process.exit(0))
    }
  }
}
