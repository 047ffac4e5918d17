// Work on a collection with the real mongodb-cron until stdin closes; print each run as JSON.
import { MongoClient } from 'mongodb'
import { MongoCron } from 'mongodb-cron'

const [url, name, workers, lock] = process.argv.slice(2)
const client = await MongoClient.connect(url)
const collection = client.db().collection(name)
const crons = Array.from({ length: Number(workers) }, () => new MongoCron({
  collection,
  onDocument: async (document) => {
    console.log(JSON.stringify({ id: document._id, at: Date.now(), kind: document.kind }))
  },
  onError: (error) => console.error(error),
  idleDelay: 50,
  lockDuration: Number(lock)
}))
for (const cron of crons) await cron.start()
console.log('"ready"')
process.stdin.resume()
process.stdin.on('end', async () => {
  for (const cron of crons) await cron.stop()
  await new Promise((resolve) => setTimeout(resolve, 700))
  await client.close()
  process.exit(0)
})
