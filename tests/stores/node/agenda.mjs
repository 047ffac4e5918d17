// Fill an Agenda collection with jobs of every kind by the real package, of version 5 or 6.
const [url, collection, version] = process.argv.slice(2)

async function open () {
  if (version === '5') {
    const { default: Agenda } = await import('agenda-5')
    const agenda = new Agenda({ db: { address: url, collection } })
    await new Promise((resolve) => agenda.once('ready', resolve))
    agenda.define('greet', async () => {})
    return agenda
  }
  const { Agenda } = await import('agenda')
  const { MongoBackend } = await import('@agendajs/mongo-backend')
  const agenda = new Agenda({ backend: new MongoBackend({ address: url, collection }) })
  await agenda.ready
  for (const name of ['greet', 'report', 'poll', 'urgent', 'odd', 'off', 'once']) agenda.define(name, async () => {})
  return agenda
}

const agenda = await open()
await agenda.schedule(new Date(Date.now() + 3_600_000), 'greet', { name: 'Ada' })
await agenda.every('*/5 * * * *', 'report', { kind: 'cron' }, { timezone: 'Europe/Berlin' })
await agenda.every('3 minutes', 'poll', { kind: 'interval' })
await agenda.create('urgent', { n: 1 }).priority('high').schedule(new Date(Date.now() + 60_000)).save()
await agenda.create('odd', { n: 2 }).repeatAt('3:30pm').save()
await agenda.create('off', { n: 3 }).schedule(new Date()).disable().save()
await agenda.create('once', { n: 4 }).unique({ 'data.n': 4 }).schedule(new Date()).save()
process.exit(0)
