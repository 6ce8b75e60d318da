import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CriClient } from '../../../ipkeeper-server/runtime/cri-client.ts'
import { SocketRuntimes } from '../../../ipkeeper-server/runtime/socket-runtimes.ts'
import { encodeReply, startCriDouble, type CriAnswer } from '../../rigs/cri-double.ts'
import { until } from '../../rigs/poll.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const list = (...ids: readonly string[]): Uint8Array =>
  encodeReply('ListPodSandbox', { items: ids.map(id => ({ id, state: 'SANDBOX_READY' })) })

/** A path for a socket: that of a test's folder may be too long for one. */
function socketFor(t: Test): string {
  const folder = tempFolder(t)
  return folder.file('s')
}

async function talk(t: Test, answer: (method: string, request: unknown) => CriAnswer, deadlineMs = 5_000) {
  const socket = socketFor(t)
  const runtime = await startCriDouble(socket, answer)
  const client = new CriClient(socket, deadlineMs)
  t.teardown(() => {
    client.close()
    runtime.close()
  })
  return { socket, runtime, client }
}

t.test('what it lists, and what it has of one', async t => {
  const { client, runtime } = await talk(t, method =>
    method === 'ListPodSandbox'
      ? list('a', 'b')
      : method === 'Status'
        ? encodeReply('Status', { status: { conditions: [{ type: 'NetworkReady', status: true }] } })
        : encodeReply('PodSandboxStatus', { status: { network: { ip: '10.22.0.5' } } }),
  )
  t.match(await client.sandboxes(), [{ id: 'a' }, { id: 'b' }])
  t.same(await client.addressesOf('a'), ['10.22.0.5'])
  t.match(await client.conditions(), [{ type: 'NetworkReady', holds: true }])
  t.match(runtime.calls[1], { method: 'PodSandboxStatus', request: { pod_sandbox_id: 'a' } })
})

t.test('what runtimes are', async t => {
  const { socket } = await talk(t, method =>
    method === 'Version'
      ? encodeReply('Version', { version: '0.1.0', runtime_name: 'containerd', runtime_version: 'v2.1.4' })
      : { code: 12, details: 'not this' },
  )
  const away = socketFor(t)
  const runtimes = new SocketRuntimes([socket, away])
  t.teardown(() => {
    runtimes.close()
  })
  t.match(await runtimes.versions(), [
    { socket, name: 'containerd', version: 'v2.1.4' },
    { socket: away, fault: /\S/ },
  ])
})

t.test('ten megabytes of sandboxes', async t => {
  const ids = Array.from({ length: 45_000 }, (_, index) => `${index}`.padEnd(250, 'f'))
  const reply = list(...ids)
  t.ok(reply.length > 10 * 1024 * 1024)
  const { client } = await talk(t, () => reply)
  t.equal((await client.sandboxes()).length, ids.length)
})

t.test('an error is its text', async t => {
  const { client } = await talk(t, method =>
    method === 'PodSandboxStatus'
      ? { code: 5, details: 'no such sandbox' }
      : { code: 2, details: 'server is not initialized yet' },
  )
  await t.rejects(client.sandboxes(), { message: 'server is not initialized yet', code: 2 })
  t.same(await client.addressesOf('a'), [], 'one that is not there has none')
})

t.test('one that never answers', async t => {
  const { client } = await talk(t, () => undefined, 200)
  const began = performance.now()
  await t.rejects(client.sandboxes(), { message: /deadline/i })
  t.ok(performance.now() - began >= 190)
})

t.test('a reply that is no message', async t => {
  const { client } = await talk(t, () => Buffer.from('ff'.repeat(20), 'hex'))
  await t.rejects(client.sandboxes(), Error)
})

t.test('one that closes every connection, or speaks no gRPC', async t => {
  for (const greeting of [undefined, 'HTTP/1.1 400 Bad Request\r\n\r\n', '\0'.repeat(100)]) {
    const socket = socketFor(t)
    const open = new Set<Socket>()
    const server = createServer(connection => {
      open.add(connection)
      connection.on('error', () => undefined)
      if (greeting === undefined) connection.destroy()
      else connection.write(greeting)
    }).listen(socket)
    await once(server, 'listening')
    const client = new CriClient(socket, 1_000)
    await t.rejects(client.sandboxes(), Error, `greeted with ${greeting?.length ?? 0} bytes`)
    client.close()
    for (const connection of open) connection.destroy()
    server.close()
  }
})

t.test('runtimes by their sockets', async t => {
  const { socket, runtime } = await talk(t, () => list('a'))
  const absent = `${socket}.absent`
  writeFileSync(`${socket}.file`, '')
  const runtimes = new SocketRuntimes([socket, absent, `${socket}.file`])
  t.match(await runtimes.list(), [
    { socket, state: 'listed', sandboxes: [{ id: 'a' }] },
    { socket: absent, state: 'failed', reason: 'there is no such socket' },
    { socket: `${socket}.file`, state: 'failed', reason: 'there is no such socket' },
  ])
  await t.rejects(runtimes.addressesOf(absent, 'a'), Error)

  runtime.close()
  await until('it is gone', async () => (await runtimes.list())[0]?.state === 'failed')
  // Many calls in vain, as while a runtime is away for hours.
  for (let call = 0; call < 20; call++) await runtimes.list()
  const again = await startCriDouble(socket, () => list('b'))
  t.teardown(() => {
    again.close()
  })
  await until('it is back', async () => (await runtimes.list())[0]?.state === 'listed', 15_000)
  runtimes.close()
})

t.test('a process that has closed its client ends', async t => {
  const { socket } = await talk(t, () => list('a'))
  const module = join(import.meta.dirname, '../../../ipkeeper-server/runtime/socket-runtimes.ts')
  const program = `
    const { SocketRuntimes } = await import(${JSON.stringify(module)})
    const runtimes = new SocketRuntimes([${JSON.stringify(socket)}])
    const [answer] = await runtimes.list()
    process.stdout.write(answer.state)
    runtimes.close()
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 20_000,
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [exit, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  t.same([exit, signal, text], [0, null, 'listed'])
})
