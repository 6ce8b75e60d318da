import { statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FolderPulse } from '../../../ipkeeper-server/host/folder-pulse.ts'

t.test('a folder is written to when somebody asks, and not more often than needed', async t => {
  const path = join(t.testdir({ 'daemon.lock': '' }), 'daemon.lock')
  let now = 0
  const pulse = new FolderPulse(path, () => now)
  const wasTouched = (): boolean => {
    const { mtimeMs } = statSync(path)
    utimesSync(path, 0, 0)
    return mtimeMs > 0
  }
  utimesSync(path, 0, 0)
  for (const [at, touched] of [
    [0, true],
    [49, false],
    [51, true],
    [100, false],
  ] as const) {
    now = at
    t.ok(await pulse.beats())
    t.equal(wasTouched(), touched, `after ${at} ms`)
  }
})

t.test('a refusal is an answer, and many who ask at a time are answered by one', async t => {
  const pulse = new FolderPulse(join(t.testdir({}), 'none'), () => 0)
  t.strictSame(await Promise.all([pulse.beats(), pulse.beats(), pulse.beats()]), [true, true, true])
})
