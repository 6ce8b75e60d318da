import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/** A process in a network namespace of its own: what `/proc/PID/ns/net` is for podman. It ends with its stdin. */
export async function startInNewNamespace(
  t: Test,
): Promise<{ readonly path: string; readonly end: () => Promise<void> }> {
  const child = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; read line'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const end = async (): Promise<void> => {
    child.stdin.end()
    await ended
  }
  t.teardown(end)
  await once(child.stdout, 'data')
  return { path: `/proc/${child.pid}/ns/net`, end }
}
