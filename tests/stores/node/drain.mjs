// Measure mongodb-cron or Agenda: drain a heap of jobs, then pick single ones up; print JSON.
import Agenda from 'agenda'
import { MongoClient } from 'mongodb'
import { MongoCron } from 'mongodb-cron'

const [kind, url, count, singles] = process.argv.slice(2)
const total = Number(count)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const client = await MongoClient.connect(url)
const sent = new Map()
const waits = []
let done = 0
const handle = (n) => {
  done++
  if (sent.has(n)) waits.push(performance.now() - sent.get(n))
}
let add, stop
let begin
if (kind === 'mongodb-cron') {
  const collection = client.db().collection('jobs')
  await collection.createIndex({ sleepUntil: 1 }, { sparse: true })
  await collection.insertMany(Array.from({ length: total }, (_, n) => ({ n, sleepUntil: new Date(), autoRemove: true })))
  const crons = Array.from({ length: 8 }, () => new MongoCron({ collection, onDocument: (d) => handle(d.n), idleDelay: 50 }))
  begin = performance.now()
  for (const cron of crons) await cron.start()
  add = (n) => collection.insertOne({ n, sleepUntil: new Date(), autoRemove: true })
  stop = async () => { for (const cron of crons) await cron.stop() }
} else {
  const agenda = new Agenda({ db: { address: url, collection: 'agendaJobs' }, processEvery: 50, maxConcurrency: 100, defaultConcurrency: 100 })
  await new Promise((resolve) => agenda.once('ready', resolve))
  agenda.define('noop', { concurrency: 100, lockLimit: 100 }, async (job) => {
    handle(job.attrs.data.n)
    await job.remove()
  })
  const now = new Date()
  await client.db().collection('agendaJobs').insertMany(Array.from({ length: total }, (_, n) => (
    { name: 'noop', data: { n }, type: 'normal', priority: 0, nextRunAt: now })))
  begin = performance.now()
  await agenda.start()
  add = (n) => agenda.now('noop', { n })
  stop = () => agenda.stop()
}
while (done < total) await sleep(2)
const seconds = (performance.now() - begin) / 1000
for (let n = total; n < total + Number(singles); n++) {
  sent.set(n, performance.now())
  await add(n)
  await sleep(150)
}
while (waits.length < Number(singles)) await sleep(5)
waits.sort((a, b) => a - b)
console.log(JSON.stringify({ rate: total / seconds, p50: waits[waits.length >> 1], p95: waits[Math.floor(waits.length * 0.95)] }))
setTimeout(() => process.exit(0), 2000)
await stop()
await client.close()
process.exit(0)
