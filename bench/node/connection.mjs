// node-postgres reads `?host=/folder` of a URL differently from libpq, so take the URL apart.
export function connectionOf (dsn) {
  const [, user, database, host] = /^postgresql:\/\/(\w+)@\/(\w+)\?host=(.+)$/.exec(dsn)
  return { user, database, host }
}
