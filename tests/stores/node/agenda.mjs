// Fill an Agenda collection with jobs of every kind by the real package.
import Agenda from 'agenda'

const [url, collection] = process.argv.slice(2)
const agenda = new Agenda({ db: { address: url, collection } })
await new Promise((resolve) => agenda.once('ready', resolve))
agenda.define('greet', async () => {})
await agenda.schedule(new Date(Date.now() + 3_600_000), 'greet', { name: 'Ada' })
await agenda.every('*/5 * * * *', 'report', { kind: 'cron' }, { timezone: 'Europe/Berlin' })
await agenda.every('3 minutes', 'poll', { kind: 'interval' })
await agenda.create('urgent', { n: 1 }).priority('high').schedule(new Date(Date.now() + 60_000)).save()
await agenda.create('odd', { n: 2 }).repeatAt('3:30pm').save()
await agenda.create('off', { n: 3 }).schedule(new Date()).disable().save()
await agenda.create('once', { n: 4 }).unique({ 'data.n': 4 }).schedule(new Date()).save()
await agenda.close()
