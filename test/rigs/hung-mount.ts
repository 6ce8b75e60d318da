import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { atProcessEnd } from './finish.ts'

export interface HungMount {
  /** Whoever touches what is below it waits. */
  readonly path: string
  /** From now on they get an error (ENOTCONN), also those who wait. */
  readonly end: () => void
}

/**
 * Mounts a file system of FUSE whose server never answers, at a folder that it makes. To be ended by the test, before
 * anybody removes the folder around it.
 */
export async function mountHung(path: string): Promise<HungMount> {
  mkdirSync(path)
  const options = 'fd=9,rootmode=40000,user_id=0,group_id=0,allow_other'
  const script = `exec 9<>/dev/fuse && mount -i -t fuse -o ${options} hung "$0" && echo ready && exec sleep 600`
  const server = spawn('sh', ['-c', script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  let said = ''
  server.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await Promise.race([once(server.stdout, 'data'), ended])
  if (!said.includes('ready')) throw new Error(`${path} could not be mounted`)
  const end = (): void => {
    withdraw()
    server.kill('SIGKILL')
    spawnSync('umount', ['-l', path])
  }
  const withdraw = atProcessEnd(end)
  return { path, end }
}
