// A personal data server and the directory of identities that it needs, in one process.
// The directory is in memory, the server's files lie in the folder named by the first argument;
// nothing outside the machine is asked. One line of JSON says where it listens; it ends with stdin.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { PDS, envToCfg, envToSecrets } from '@atproto/pds'
import directory from '@did-plc/server'

const folder = process.argv[2]
const random = (bytes) => randomBytes(bytes).toString('hex')

function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => done(port))
    })
  })
}

const [port, directoryPort] = [await freePort(), await freePort()]
const { MockDatabase, PlcServer } = directory
await PlcServer.create({ db: new MockDatabase(), port: directoryPort }).start()

const settings = {
  port,
  hostname: 'localhost',
  dataDirectory: folder,
  blobstoreDiskLocation: join(folder, 'blobs'),
  blobstoreDiskTmpLocation: join(folder, 'temp'),
  didPlcUrl: `http://localhost:${directoryPort}`,
  serviceHandleDomains: ['.test'],
  handleBackupNameservers: [],
  enableDidDocWithSession: true,
  inviteRequired: false,
  devMode: true,
  disableSsrfProtection: true,
  rateLimitsEnabled: false,
  crawlers: [],
  adminPassword: random(16),
  jwtSecret: random(16),
  dpopSecret: random(32),
  plcRotationKeyK256PrivateKeyHex: random(32),
}
const server = await PDS.create(envToCfg(settings), envToSecrets(settings))
await server.start()
process.stdout.write(JSON.stringify({ port }) + '\n')
process.stdin.on('end', () => process.exit(0)).resume()
