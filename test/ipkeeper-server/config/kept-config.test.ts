import { chmodSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import {
  ConfigKeeper,
  keptConfigPath,
  readKeptConfig,
  type KeptConfig,
} from '../../../ipkeeper-server/config/kept-config.ts'
import type { Problem } from '../../../shared/problem/problem.ts'
import { until } from '../../rigs/poll.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const kept: KeptConfig = { text: 'cooldown: "5s" # ü\n', loadedAt: 1_000, strict: undefined }

t.test('what was kept is read again', async t => {
  const rows: readonly KeptConfig[] = [kept, { ...kept, text: undefined }, { ...kept, strict: 'pools: []\n' }]
  for (const each of rows) {
    const folder = t.testdir({})
    const keeper = new ConfigKeeper({ stateDir: folder, onProblem: () => t.fail('a problem') })
    await keeper.keep(each)
    t.strictSame(readKeptConfig(folder), each)
    t.equal(statSync(keptConfigPath(folder)).mode & 0o7777, 0o600)
    await keeper.stop()
  }
})

t.test('nothing that was changed is believed, whichever byte', async t => {
  const folder = t.testdir({})
  t.equal(readKeptConfig(folder), undefined, 'none')
  const keeper = new ConfigKeeper({ stateDir: folder, onProblem: () => t.fail('a problem') })
  await keeper.keep(kept)
  const path = keptConfigPath(folder)
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at++) {
    const bytes = Buffer.from(whole)
    // One that is a digit or a letter still, and what JSON passes over.
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
    let read: KeptConfig | undefined
    try {
      read = readKeptConfig(folder)
    } catch (error) {
      t.equal((error as Problem).code, 'IPK_CONFIG_COPY', `byte ${at}`)
      continue
    }
    t.strictSame(read, kept, `byte ${at} says nothing`)
  }
  for (const text of ['', '{}', 'null', '[]', whole.toString().replace('"version": 1', '"version": 2')]) {
    writeFileSync(path, text)
    const problem = await thrownProblem(() => readKeptConfig(folder))
    t.match(problem, { code: 'IPK_CONFIG_COPY', message: path }, JSON.stringify(text.slice(0, 20)))
  }
})

t.test('the same is not written again, and what could not be is tried until it is', async t => {
  const folder = t.testdir({})
  const path = keptConfigPath(folder)
  const told: (string | undefined)[] = []
  const keeper = new ConfigKeeper({ stateDir: folder, kept, onProblem: problem => told.push(problem?.code) })
  t.teardown(() => keeper.stop())
  await keeper.keep({ ...kept, loadedAt: 2_000 })
  t.equal(readKeptConfig(folder), undefined, 'not written: it says that already')
  mkdirSync(path)
  const next = { ...kept, text: 'cooldown: 6s\n' }
  await keeper.keep(next)
  t.strictSame(told, ['IPK_CONFIG_COPY'])
  t.match(keeper.problem(), { message: /cannot be written/, hint: /ls -ld/ })
  rmdirSync(path)
  await until('the copy is written', () => keeper.problem() === undefined)
  t.strictSame(readKeptConfig(folder), next)
  t.strictSame(told, ['IPK_CONFIG_COPY', undefined])
  chmodSync(path, 0o400)
  await keeper.keep(kept)
  t.strictSame(readKeptConfig(folder), kept, 'replaced, whatever its mode was')
})
