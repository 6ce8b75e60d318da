import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { keepEdge } from '../../../ipkeeper-server/http/http-edge.ts'
import { closed, oddRequests, sendRaw } from '../../rigs/raw-requests.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const answer: RequestListener = (request, response) => {
  request.resume().once('end', () => {
    response.end(`${request.method ?? ''} ${request.url ?? ''}`)
  })
}

async function listen(t: Test, arrival: number, listener = answer): Promise<string> {
  const folder = tempFolder(t)
  const path = folder.file('s')
  const server = createServer({ requireHostHeader: false }, listener)
  keepEdge(server, {
    arrival,
    refusal: (status, reason) => ({ status, type: 'text/plain', body: reason }),
  })
  await once(server.listen(path), 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  return path
}

t.test('whatever is sent, what comes back has a body', async t => {
  const path = await listen(t, 60_000)
  for (const [name, text] of oddRequests) {
    const replies = await sendRaw({ path }, text)
    const last = replies.at(-1)
    t.ok(last && last.status >= 200, `${name}: answered`)
    t.ok(
      replies.every(({ body }) => body !== ''),
      `${name}: with a body`,
    )
  }
  const [refused] = await sendRaw({ path }, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`)
  t.equal(refused?.status, 431)
  t.match(await sendRaw({ path }, 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n'), [
    { status: 405, body: 'no CONNECT a:1: this is no proxy' },
  ])
})

t.test('a request that is not there in time is cut off, with a reply', async t => {
  const arrival = 400
  const path = await listen(t, arrival)
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n'
  const rows: readonly [name: string, begin: string, piece: string][] = [
    ['nothing is sent', '', ''],
    ['half a request line', 'GE', ''],
    ['headers without end', 'GET / HTTP/1.1\r\nHost: x\r\n', 'A: b\r\n'],
    ['half a body', `${head}\r\n`, ''],
    ['a body, byte by byte', `${head}\r\n`, 'x'],
  ]
  await Promise.all(
    rows.map(async ([name, begin, piece]) => {
      const started = performance.now()
      const socket = connect(path)
      let got = ''
      socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
      if (begin !== '') socket.write(begin)
      const drip = setInterval(() => {
        if (piece !== '' && socket.writable) socket.write(piece)
      }, 20)
      await closed(socket)
      clearInterval(drip)
      const took = performance.now() - started
      t.ok(took >= arrival - 5, `${name}: not before it was due, after ${took} ms`)
      // Generous: the machine may be busy.
      t.ok(took < arrival + 5_000, `${name}: cut off after ${took} ms`)
      t.match(got, /^HTTP\/1\.1 408 /, `${name}: a reply`)
      t.match(got, /not there as a whole within 0\.4 s$/, `${name}: why`)
    }),
  )
})

t.test('the second request of a connection, too', async t => {
  const path = await listen(t, 400)
  const socket = connect(path)
  let got = ''
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
  socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\n')
  while (!got.includes('GET /first')) await once(socket, 'data')
  socket.write('GET /sec')
  await closed(socket)
  t.match(got, /HTTP\/1\.1 408 /)
})

t.test('who takes his time to answer, or keeps a connection, is not cut off', async t => {
  const arrival = 100
  const path = await listen(t, arrival, (request, response) => {
    setTimeout(() => {
      answer(request, response)
    }, 4 * arrival)
  })
  const socket = connect(path)
  let got = ''
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()))
  for (const name of ['one', 'two']) {
    socket.write(`GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`)
    while (!got.includes(`GET /${name}`)) await once(socket, 'data')
    // Idle for longer than a request may take.
    await new Promise(resolve => setTimeout(resolve, 3 * arrival))
  }
  t.notOk(socket.destroyed)
  t.notMatch(got, /408/)
  socket.destroy()
})
