/**
 * Two small ends of a conversation, to be run in whatever namespace a test wants to look from.
 *
 *   node echo-program.ts serve PORT NAME                    answers each datagram and connection with who asked, on
 *                                                           every address of that moment; ends with its stdin
 *   node echo-program.ts ask PROTOCOL ADDRESS PORT BYTES MS asks until somebody answers, prints the answer; else exit 1
 *   node echo-program.ts follow ADDRESS PORT                asks by datagram every 10 ms until its stdin ends, and prints
 *                                                           each answer at once
 *   node echo-program.ts count ADDRESS PORT                 asks by datagram every 50 ms until its stdin ends, then prints
 *                                                           how often it asked, and how often it was answered
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { EchoAnswer, EchoCount } from './echo.ts'

const [verb, ...words] = process.argv.slice(2)
const plain = (address: string): string => address.replace(/^::ffff:/, '')

function openDatagrams(address: string): Socket {
  return createSocket({ type: address.includes(':') ? 'udp6' : 'udp4' })
}

async function serve(port: number, name: string): Promise<void> {
  const answer = (from: string, bytes: number): string =>
    JSON.stringify({ name, from: plain(from), bytes } satisfies EchoAnswer)
  // A socket for each address: an answer has to come from the one that was asked, or address translation drops it.
  const own = Object.values(networkInterfaces()).flatMap(
    entries => entries?.map(({ address }) => address) ?? [],
  )
  // Links of pods that are routed have one address of the host together.
  const bound = [...new Set(own)]
    .filter(here => !here.startsWith('fe80:'))
    .map(async here => {
      const datagrams = openDatagrams(here)
      datagrams.on('message', (message, { address, port: to }) => {
        datagrams.send(answer(address, message.length), to, address)
      })
      datagrams.bind(port, here)
      await once(datagrams, 'listening')
    })
  const connections = createServer({ allowHalfOpen: true }, socket => {
    let bytes = 0
    socket.on('error', () => undefined)
    socket.on('data', chunk => (bytes += chunk.length))
    socket.on('end', () => {
      socket.end(answer(socket.remoteAddress ?? '', bytes))
    })
  })
  connections.listen(port, '::')
  await Promise.all([...bound, once(connections, 'listening')])
  process.stdout.write('ready\n')
  process.stdin.resume()
  await once(process.stdin, 'close')
  process.exit(0)
}

async function askByDatagram(address: string, port: number, bytes: number): Promise<string> {
  const socket = openDatagrams(address)
  const answered = once(socket, 'message') as Promise<[Buffer]>
  const message = Buffer.alloc(bytes)
  for (;;) {
    // Nobody there yet, or no way there yet: an error of one try.
    socket.send(message, port, address, () => undefined)
    const reply = await Promise.race([answered, delay(100)])
    if (reply) return reply[0].toString()
  }
}

async function askByConnection(address: string, port: number, bytes: number): Promise<string> {
  for (;;) {
    const socket = connect({ host: address, port })
    socket.end(Buffer.alloc(bytes))
    let text = ''
    try {
      for await (const chunk of socket) text += String(chunk)
      return text
    } catch {
      await delay(50)
    }
  }
}

async function follow(address: string, port: number): Promise<void> {
  const socket = openDatagrams(address)
  socket.on('message', message => process.stdout.write(`${message.toString()}\n`))
  process.stdin.resume()
  process.stdin.on('close', () => process.exit(0))
  for (;;) {
    socket.send('?', port, address, () => undefined)
    await delay(10)
  }
}

/** How long the last answers may take. */
const lastAnswersMs = 2_000

async function count(address: string, port: number): Promise<void> {
  const socket = openDatagrams(address)
  let [asked, answered, ended] = [0, 0, false]
  socket.on('message', () => answered++)
  process.stdin.resume()
  process.stdin.on('close', () => (ended = true))
  while (!ended) {
    socket.send('?', port, address, () => undefined)
    asked++
    await delay(50)
  }
  const deadline = performance.now() + lastAnswersMs
  while (answered < asked && performance.now() < deadline) await delay(10)
  process.stdout.write(JSON.stringify({ asked, answered } satisfies EchoCount))
  process.exit(0)
}

switch (verb) {
  case 'serve':
    await serve(Number(words[0]), words[1] ?? '')
    break
  case 'ask': {
    const [protocol, address = '', port, bytes, milliseconds] = words
    setTimeout(() => process.exit(1), Number(milliseconds))
    const ask = protocol === 'udp' ? askByDatagram : askByConnection
    process.stdout.write(await ask(address, Number(port), Number(bytes)))
    process.exit(0)
  }
  case 'follow':
    await follow(words[0] ?? '', Number(words[1]))
    break
  case 'count':
    await count(words[0] ?? '', Number(words[1]))
    break
  default:
    process.exit(2)
}
