import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readSource } from '../../scripts/read-source.ts'

const commit = '2c26b46b68ffc68ff99b453c1d30413413422d70'
const short = commit.slice(0, 12)

t.test('without git', t => {
  for (const [text, env, found] of [
    [`${commit} 1763769600\n`, {}, { commit: short, time: 1763769600 }],
    ['$Format:%H %ct$\n', {}, { commit: 'unknown', time: 315532800 }],
    ['$Format:%H %ct$\n', { IPKEEPER_COMMIT: short, SOURCE_DATE_EPOCH: '5' }, { commit: short, time: 5 }],
    [`${commit} 7\n`, { IPKEEPER_COMMIT: `${short}-dirty` }, { commit: `${short}-dirty`, time: 7 }],
    [`${commit} 7\n`, { IPKEEPER_COMMIT: '', SOURCE_DATE_EPOCH: '' }, { commit: short, time: 7 }],
  ] as const)
    t.strictSame(readSource(t.testdir({ '.source-commit': text }), env), found)
  t.strictSame(readSource(t.testdir({}), {}), { commit: 'unknown', time: 315532800 })
  t.throws(() => readSource(t.testdir({}), { IPKEEPER_COMMIT: 'main' }), /IPKEEPER_COMMIT=main is no commit/)
  t.throws(
    () => readSource(t.testdir({}), { SOURCE_DATE_EPOCH: 'now' }),
    /SOURCE_DATE_EPOCH=now is no number/,
  )
  t.end()
})

t.test('a checkout, one with changes, and what git archive makes of it', t => {
  const folder = t.testdir({
    checkout: { '.gitattributes': '.source-commit export-subst\n', a: '1' },
    archive: {},
  })
  const checkout = join(folder, 'checkout')
  writeFileSync(join(checkout, '.source-commit'), '$Format:%H %ct$\n')
  const git = (...words: readonly string[]): Buffer =>
    execFileSync('git', ['-C', checkout, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  const clean = readSource(checkout, {})
  t.match(clean.commit, /^[0-9a-f]{12}$/)
  execFileSync('tar', ['-x', '-C', join(folder, 'archive')], { input: git('archive', 'HEAD') })
  t.strictSame(readSource(join(folder, 'archive'), {}), clean, 'a source tarball says the same')
  writeFileSync(join(checkout, 'a'), '2')
  t.strictSame(readSource(checkout, {}), { ...clean, commit: `${clean.commit}-dirty` })
  t.end()
})
