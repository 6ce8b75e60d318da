import { chmodSync, existsSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  leftNotes,
  removeNote,
  thisProcess,
  writeNote,
  type TryNote,
} from '../../../../ipkeeper-server/diagnose/try/try-notes.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const now = Date.now()
const note = (owner: Partial<TryNote['owner']>): TryNote => ({
  namespace: 'ipkeeper-try-7-0123abcd',
  owner: { ...thisProcess(), ...owner },
  network: { name: 'net', cniVersion: '1.0.0', disableCheck: false, plugins: [{ type: 'x' }] },
  attachment: {
    ...{ containerId: 'c', netns: '/n', ifname: 'eth0', args: '', capabilities: {}, binDirs: ['/b'] },
  },
  timeoutMs: 1000,
  result: null,
})

t.test('whose note it is decides', t => {
  const hour = 3_600_000
  const rows: readonly (readonly [
    what: string,
    owner: Partial<TryNote['owner']>,
    ageMs: number,
    left: boolean,
  ])[] = [
    ['a process that runs', {}, 2 * hour, false],
    ['another process under its pid', { started: '1' }, 0, true],
    ['a pid that nobody has', { pid: 2 ** 22 + 1 }, 0, true],
    ['an earlier boot', { bootId: 'earlier' }, 0, true],
    ['another PID namespace, a while ago', { pidNamespace: 'pid:[1]' }, hour / 2, false],
    ['another PID namespace, long ago', { pidNamespace: 'pid:[1]' }, 2 * hour, true],
  ]
  for (const [what, owner, ageMs, left] of rows) {
    const state = join(t.testdir(), 'state')
    writeNote(state, note(owner))
    const path = join(state, 'try', 'ipkeeper-try-7-0123abcd.json')
    t.equal(statSync(path).mode & 0o777, 0o600)
    const written = (now - ageMs) / 1000
    utimesSync(path, written, written)
    const { notes, unusable } = leftNotes(state, now)
    t.equal(notes.length, left ? 1 : 0, what)
    if (left) t.strictSame(notes[0], note(owner))
    t.strictSame(unusable, [])
    removeNote(state, 'ipkeeper-try-7-0123abcd')
    t.notOk(existsSync(join(state, 'try')))
  }
  t.end()
})

t.test('what cannot be used is told, and nothing more', async t => {
  const folder = t.testdir({ try: { 'a.json': '', 'b.json': '{}', 'c.json': {}, 'd.txt': '' } })
  chmodSync(join(folder, 'try'), 0o700)
  symlinkSync('/etc/passwd', join(folder, 'try', 'e.json'))
  writeFileSync(join(folder, 'try', 'f.json'), JSON.stringify({ ...note({ pid: 1 }), namespace: '../x' }))
  t.strictSame(
    leftNotes(folder, now)
      .unusable.map(text => text.replace(`${folder}/try/`, ''))
      .sort(),
    [
      'a.json: it cannot be read',
      'b.json: it is no note of this version',
      'c.json: it is no small regular file',
      'e.json: it cannot be read',
      'f.json: it is no note of this version',
    ],
  )
  chmodSync(join(folder, 'try'), 0o777)
  t.strictSame(leftNotes(folder, now), { notes: [], unusable: [`${folder}/try: others can write to it`] })
  t.strictSame(leftNotes(join(folder, 'none'), now), { notes: [], unusable: [] })
  const file = join(t.testdir({ file: '' }), 'file')
  t.match(
    await thrownProblem(() => {
      writeNote(file, note({}))
    }),
    { code: 'IPK_TRY_REFUSED', hint: /--state-dir/ },
  )
})
