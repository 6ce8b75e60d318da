import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Test } from 'tap'
import { runTool, type RunTool } from '../../ipkeeper-server/network/run-tool.ts'
import { startInNewNamespace } from './namespace-process.ts'
import { mustRun } from './run-program.ts'

/** A network namespace to stand in: a node, a pod or a machine outside. It goes with its test. */
export interface Spot {
  /** Of a process that lives in it; valid as `netns` of `ip link`. */
  readonly pid: string
  readonly path: string
  readonly fd: number
  /** Runs a program in it that must succeed; resolves to what it printed. */
  must(program: string, args: readonly string[], input?: string): Promise<string>
  /** Runs `ip -batch` in it: one command in each line. */
  ip(...lines: readonly string[]): Promise<string>
  /** As the daemon runs tools, for a daemon that were in it. */
  readonly run: RunTool
  /** Ends the process that keeps it. */
  end(): Promise<void>
}

export async function makeSpot(t: Test): Promise<Spot> {
  const { path, end } = await startInNewNamespace(t)
  const pid = path.split('/')[2] ?? ''
  const fd = openSync(path, 'r')
  t.teardown(() => {
    closeSync(fd)
  })
  const must: Spot['must'] = (program, args, input = '') =>
    mustRun('nsenter', [`--net=${path}`, '--', program, ...args], { input })
  const spot: Spot = {
    pid,
    path,
    fd,
    must,
    ip: (...lines) => must('ip', ['-batch', '-'], `${lines.join('\n')}\n`),
    run: tool => runTool(tool.inside === undefined ? { ...tool, inside: fd } : tool),
    end,
  }
  await spot.ip('link set lo up')
  return spot
}

/** A bridge in a spot, which answers for no address unless it is given one. */
export async function makeBridge(spot: Spot, name: string): Promise<void> {
  await spot.ip(`link add ${name} type bridge`, `link set ${name} up`)
}

/** A cable from a bridge to a spot, where it is called eth0 and down; its end at the bridge is up. */
export async function plugInto(spot: Spot, bridge: string, to: Spot, port: string): Promise<void> {
  await spot.ip(
    `link add ${port} type veth peer name eth0 netns ${to.pid}`,
    `link set ${port} master ${bridge} up`,
  )
}

const port = 7007

const server = `require('node:net').createServer(socket => socket.on('error', () => 0).end(socket.remoteAddress))
  .listen(${port}, '::', () => console.log('ready'))`

/** Starts a server that tells each client the address that it comes from. */
export async function startTeller(t: Test, spot: Spot): Promise<void> {
  const child = spawn('nsenter', [`--net=${spot.path}`, '--', process.execPath, '-e', server], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await once(child.stdout, 'data')
}

/** What the teller at an address sees a client in a spot come from. */
export async function seenFrom(spot: Spot, teller: string): Promise<string> {
  const client = `const s = require('node:net').connect(${port}, '${teller}'); s.setTimeout(3000, () => process.exit(3)); s.pipe(process.stdout)`
  const seen = await spot.must(process.execPath, ['-e', client])
  return seen.replace('::ffff:', '')
}
