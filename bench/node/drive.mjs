// Run one Node peer in its own process: a producer that obeys JSON lines, or a worker.
// The twin of bench/drive.py: same verbs, same marks, same gate, so that both sides cost alike.
import fs from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'


const place = { dsn: process.env.BENCH_DSN, marks: process.env.BENCH_MARKS, gate: process.env.BENCH_GATE }

// CLOCK_MONOTONIC, the clock that Python's time.monotonic_ns reads.
const now = () => process.hrtime.bigint()
const seconds = (begin) => Number(now() - begin) / 1e9

function marker () {
  const file = fs.openSync(place.marks, 'a')
  const record = Buffer.alloc(20)
  record.writeInt32LE(process.pid, 16)
  return (number) => {
    record.writeBigInt64LE(BigInt(number), 0)
    record.writeBigInt64LE(now(), 8)
    fs.writeSync(file, record)
  }
}

async function announceAndWait () {
  fs.writeFileSync(path.join(place.gate, `ready-${process.pid}`), '')
  while (!fs.existsSync(path.join(place.gate, 'go'))) await sleep(2)
}

function numbers (first, count) {
  return Array.from({ length: count }, (_, index) => first + index)
}

const verbs = {
  async setup (peer) {
    await peer.setup()
    return {}
  },
  async left (peer) {
    return { left: await peer.left() }
  },
  async one (peer, { first, count }) {
    const begin = now()
    for (let number = first; number < first + count; number++) await peer.enqueueOne(number)
    return { seconds: seconds(begin) }
  },
  async bulk (peer, { first, count, due }) {
    const begin = now()
    await peer.enqueueBulk(numbers(first, count), due)
    return { seconds: seconds(begin) }
  },
  async spaced (peer, { first, count, gap }) {
    const sent = []
    for (let number = first; number < first + count; number++) {
      sent.push(Number(now()))
      await peer.enqueueOne(number)
      await sleep(gap * 1000)
    }
    return { sent_ns: sent }
  },
  async timed (peer, { first, count, lead, span }) {
    const offset = Date.now() * 1e6 - Number(now())
    const start = Date.now() / 1000 + lead
    const due = numbers(0, count).map((index) => start + (span * index) / count)
    for (let index = 0; index < count; index++) await peer.enqueueAt(first + index, due[index])
    return { due_ns: due.map((at) => Math.round(at * 1e9 - offset)), late_setup: Date.now() / 1000 > start }
  },
  async feed (peer, { first, seconds: length, batch, gap }) {
    const begin = now()
    const sent = []
    let number = first
    while (seconds(begin) < length) {
      sent.push(Number(now()))
      await peer.enqueueBulk(numbers(number, batch), null)
      number += batch
      await sleep(gap * 1000)
    }
    return { count: number - first, sent_ns: sent }
  }
}

async function produce (peer) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { verb, ...rest } = JSON.parse(line)
    process.stdout.write(JSON.stringify(await verbs[verb](peer, rest)) + '\n')
  }
  await peer.close()
  process.exit(0)
}

const [name, role] = process.argv.slice(2)
const { connect } = await import(`./${name}.mjs`)
const peer = connect(place.dsn)
if (role === 'produce') await produce(peer)
else await peer.work(marker(), announceAndWait)
