import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { KeepAliveClient } from '../../bench/keep-alive-client.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

/** A client of a server that answers so. */
async function connectTo(t: Test, answer: RequestListener): Promise<KeepAliveClient> {
  const folder = tempFolder(t)
  const path = folder.file('s')
  const server = createServer(answer)
  server.listen(path)
  await once(server, 'listening')
  const client = await KeepAliveClient.connect(path)
  t.teardown(() => {
    client.close()
    server.close()
  })
  return client
}

t.test('a connection that the daemon has ended, because it was idle, is made anew', async t => {
  const connections = new Set<Socket>()
  const client = await connectTo(t, (request, response) => {
    connections.add(request.socket)
    response.writeHead(200, { 'content-length': 2 })
    response.end('{}')
  })
  await client.post('/', '{}')
  await client.post('/', '{}')
  t.equal(connections.size, 1, 'one connection for both')
  for (const connection of connections) connection.destroy()
  await pause(50)
  await client.post('/', '{}')
  t.equal(connections.size, 2)
})

t.test('an answer that does not come is told, not waited for', async t => {
  const client = await connectTo(t, request => {
    request.socket.destroy()
  })
  await t.rejects(client.post('/', '{}'), /closed the connection/)
})
