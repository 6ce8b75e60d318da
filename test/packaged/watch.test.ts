/** `ipkeeperctl leases --watch` on a real terminal, and on a pipe whose reader goes away. */
import { join } from 'node:path'
import t from 'tap'
import { startOwnDaemon } from '../rigs/daemon.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { openTerminal } from '../rigs/terminal-session.ts'

const skip = missing('executables', 'terminal')
const tool = join(distFolder, 'ipkeeperctl')

t.test('a terminal: drawn again with each look, and left as it was by Ctrl-C', { skip }, async t => {
  const { daemon } = await startOwnDaemon(t)
  const session = openTerminal(`exec '${tool}' reservations --watch --interval 0.2`, {
    IPKEEPER_SOCKET: daemon.socket,
  })
  t.teardown(() => {
    session.kill()
  })
  await session.see(/every 0\.2 s: ipkeeperctl reservations --watch --interval 0\.2\s+no reservations/)
  await daemon.control('reserve', '10.22.0.50', 'shop/web-0')
  await session.see(/10\.22\.0\.50 .* shop\/web-0/)
  t.ok(session.drawn().includes('\u001b[1mADDRESS'), 'in colour')
  session.type('\u0003')
  t.equal(await session.ended, 0)
  t.ok(session.drawn().trimEnd().endsWith('\u001b[?25h\u001b[?1049l'))
})

t.test('a pipe: one document for each change, and the end with its reader', { skip }, async t => {
  const { daemon } = await startOwnDaemon(t)
  const line = `'${tool}' reservations --watch -o json --interval 0.1 --socket '${daemon.socket}' | head -1`
  const first = runProgram('bash', ['-o', 'pipefail', '-c', line], { timeoutMs: 20_000 })
  // The tool hears of the reader's end when it has something to say.
  for (const number of [1, 2, 3, 4]) {
    await daemon.control('reserve', `10.22.0.${number}`, 'shop/web-0')
    await daemon.control('unreserve', `10.22.0.${number}`)
  }
  t.match(await first, { exit: 0, stdout: /^\{"reservations":.*\}\n$/, stderr: '' })
})
