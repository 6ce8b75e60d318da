import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddReply, DoneReply, ErrorReply } from '../shared/api/cni.schema.ts'
import type { Verb } from '../shared/cni/versions.ts'
import { statePulse } from '../shared/state-pulse.ts'
import { WaitingInput } from './waiting-input.ts'

/** A bundled plugin, and the Node that is to run it. */
export interface Trainee {
  /** Path of the bundle; its text is what the executable will have. */
  readonly script: string
  /** Path of the Node binary; it has to run on this machine. */
  readonly node: string
  /** Those of the executable: a cache is of the options of V8 that it was made under. */
  readonly nodeOptions: readonly string[]
}

interface Lesson {
  readonly verb: Verb
  readonly reply?: AddReply | DoneReply
  readonly refusal?: ErrorReply
}

/**
 * What wraps a bundle, as a function of `require`: the text that the cache is of. It is compiled again, to the byte, by the
 * executable (`starter` in scripts/package-executable.ts) and by the trained runs.
 */
export const wrapScript = (text: string): string => `(function(require){${text}\n})`

/** What the plugin is asked in training, and what it is answered. What is compiled in these runs is in the cache. */
function lessons(stateDir: string): readonly Lesson[] {
  const head = { requestId: 'training', stateDir }
  const ips = [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }]
  const full = { code: 'IPK_POOL_FULL', message: 'no address is free', hint: 'widen the pool', cniCode: 100 }
  return [
    { verb: 'STATUS', reply: head },
    { verb: 'ADD', reply: { ...head, result: { cniVersion: '1.1.0', ips, routes: [{ dst: '0.0.0.0/0' }] } } },
    { verb: 'CHECK', reply: head },
    { verb: 'DEL', reply: head },
    { verb: 'GC', reply: head },
    {
      verb: 'ADD',
      refusal: { ...head, ...full, retryable: true, details: 'widen the pool [IPK_POOL_FULL]' },
    },
  ]
}

/**
 * Runs the plugin once for each thing that a runtime asks of it, against a daemon that gives a fixed answer, and returns
 * V8's cache of all that was compiled. The same bytes each time, since nothing but the bundle, the Node and its options
 * goes into it; with `--random-seed` among them.
 *
 * @throws when a run ends otherwise than it has to
 */
export async function trainCodeCache({ script, node, nodeOptions }: Trainee): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'ipkeeper-training-'))
  const cache = join(folder, 'cache')
  const socket = join(folder, 'socket')
  const stateDir = join(folder, 'state')
  await mkdir(stateDir, { mode: 0o700 })
  const trainedRun = join(import.meta.dirname, 'trained-run.ts')
  const wrapped = join(folder, 'ipkeeper.cjs')
  await writeFile(wrapped, wrapScript(await readFile(script, 'latin1')), 'latin1')
  const input = new WaitingInput(join(folder, 'stdin'))
  let lesson: Lesson | undefined
  const daemon = createServer((request, response) => {
    request.resume().on('end', () => {
      const text = JSON.stringify(lesson?.refusal ?? lesson?.reply)
      response.writeHead(lesson?.refusal ? 409 : 200, {
        [statePulse.header]: statePulse.value,
        'content-length': text.length,
      })
      response.end(text)
    })
  })
  await new Promise<void>((resolve, reject) => daemon.once('error', reject).listen(socket, resolve))
  try {
    for (lesson of lessons(stateDir)) {
      const options = [...nodeOptions, trainedRun, wrapped, cache]
      const stdin = input.open(configuration)
      const { code, said } = await run(node, options, {
        env: environment(lesson.verb, socket, stateDir),
        stdin,
      })
      closeSync(stdin)
      if (code !== (lesson.refusal ? 1 : 0))
        throw new Error(`${lesson.verb} in training ends with ${String(code)}: ${said}`)
    }
    return await readFile(cache)
  } finally {
    daemon.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const environment = (verb: Verb, socket: string, stateDir: string): NodeJS.ProcessEnv => ({
  CNI_COMMAND: verb,
  CNI_CONTAINERID: 'training',
  CNI_NETNS: '/run/netns/training',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0;K8S_POD_UID=training',
  IPKEEPER_SOCKET: socket,
  IPKEEPER_STATE_DIR: stateDir,
})

const configuration = JSON.stringify({
  cniVersion: '1.1.0',
  name: 'training',
  type: 'bridge',
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/16' }]] },
})

/** Runs a program; resolves to how it ended and what it wrote. */
function run(
  program: string,
  args: readonly string[],
  { env, stdin }: { readonly env: NodeJS.ProcessEnv; readonly stdin: number },
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: [stdin, 'pipe', 'pipe'] })
    const said: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => said.push(chunk))
    child.on('error', reject)
    child.on('close', code => {
      resolve({ code, said: Buffer.concat(said).toString() })
    })
  })
}
