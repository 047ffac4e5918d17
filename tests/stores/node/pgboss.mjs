// Fill pg-boss tables with jobs of every kind by the real package.
import { PgBoss } from 'pg-boss'

const boss = new PgBoss({ connectionString: process.argv[2], supervise: false, schedule: false })
await boss.start()
await boss.createQueue('mail-dead')
await boss.createQueue('mail', { retryLimit: 4, retryDelay: 5, retryBackoff: true, deadLetter: 'mail-dead' })
await boss.createQueue('sync', { policy: 'singleton' })
await boss.send('mail', { to: 'Ada' })
await boss.send('mail', { to: 'Ben' }, { priority: 10, startAfter: 3600 })
await boss.send('sync', { n: 1 }, { singletonKey: 'one' })
await boss.send('mail', { to: 'Cy' })
const [active] = await boss.fetch('mail')
await boss.schedule('mail', '0 3 * * *', { to: 'all' }, { tz: 'Europe/Berlin' })
await boss.stop({ graceful: false })
