/** Parts that fail, hang and are interrupted; and what is written of them. */
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { collectParts, shareableReports } from '../../../../ipkeeper-server/cli/bundle/collect.ts'
import { manifestOf, manifestText, missingText } from '../../../../ipkeeper-server/cli/bundle/manifest.ts'
import { missing } from '../../../../ipkeeper-server/cli/bundle/missing-part.ts'
import { nodeWord, safeName } from '../../../../ipkeeper-server/cli/bundle/safe-name.ts'
import type { BundlePart, BundleSite } from '../../../../ipkeeper-server/cli/bundle/site.ts'
import { checkTarget, writeBundle } from '../../../../ipkeeper-server/cli/bundle/write-bundle.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const site: BundleSite = {
  ...{ socket: '/run/none', stateDir: '/state', confDir: '/nets', binDir: undefined, binDirs: [] },
  ...{ config: undefined, status: undefined, place: {}, env: {} },
}

const part = (name: string, more: Partial<BundlePart>): BundlePart => ({
  ...{ name, what: `what of ${name}`, how: `ipkeeperctl ${name}`, limit: 60_000 },
  collect: () => Promise.resolve({ files: [{ name: `${name}.txt`, text: `${name}\n` }] }),
  ...more,
})

const hangs = (): Promise<never> => new Promise(() => undefined)

const quiet = {
  ...{ signal: undefined, isSilent: false },
  ...{ onBegin: () => undefined, onEnd: () => undefined },
}

t.test('whatever becomes of a part, the others are there', async t => {
  const said: string[] = []
  const away = new Problem('IPK_DAEMON_UNREACHABLE', 'cannot reach the daemon at /run/none')
  const reports = await collectParts(site, {
    ...quiet,
    parts: [
      part('first', {}),
      part('throws', {
        collect: () => {
          throw new TypeError('x is not a function')
        },
      }),
      part('hangs', { limit: 20, collect: hangs }),
      part('away', { collect: () => Promise.reject(away) }),
      part('also-away', { collect: () => Promise.reject(away) }),
      part('absent', { collect: () => Promise.reject(missing('there is none')) }),
      part('last', {
        collect: () =>
          Promise.resolve({ files: [{ name: 'last.txt', text: 'z' }], notes: ['1 line could not be read'] }),
      }),
    ],
    onEnd: report => said.push(`${report.part.name} ${report.missing ?? 'ok'}`),
  })
  t.strictSame(said, [
    'first ok',
    'throws internal error: x is not a function',
    'hangs it took longer than 0.02 s',
    'away cannot reach the daemon at /run/none [IPK_DAEMON_UNREACHABLE]',
    'also-away cannot reach the daemon at /run/none [IPK_DAEMON_UNREACHABLE]',
    'absent there is none',
    'last ok',
  ])
  const manifest = manifestOf('n1', 0, reports, {})
  t.equal(
    missingText(manifest.parts),
    'throws (internal error: x is not a function); hangs (it took longer than 0.02 s); away, also-away (cannot reach the daemon at /run/none [IPK_DAEMON_UNREACHABLE]); absent (there is none)',
  )
  t.match(manifest, {
    ...{ node: 'n1', createdAt: '1970-01-01T00:00:00.000Z', by: /^ipkeeperctl / },
    parts: [
      {
        ...{ part: 'first', file: 'first.txt', what: 'what of first', how: 'ipkeeperctl first' },
        ...{ bytes: 6, missing: null, notes: [] },
      },
      { part: 'throws', file: null, bytes: null, missing: /not a function/ },
    ],
  })
  t.matchOnly(manifestText(manifest).split('\n'), [
    /^Support bundle of node n1, written 1970-01-01T00:00:00\.000Z by ipkeeperctl /,
    /^Passwords, .* were removed; names and addresses of pods and nodes were not\.$/,
    '',
    /^FILE +BYTES +WHAT +THE SAME BY HAND$/,
    /^first\.txt +6 +what of first +ipkeeperctl first$/,
    /^last\.txt +1 +what of last +ipkeeperctl last$/,
    '',
    /^MISSING +WHAT +WHY$/,
    /^throws +what of throws +internal error: x is not a function$/,
    /^hangs /,
    /^away /,
    /^also-away /,
    /^absent /,
    '',
    /^NOTE ON +SAYS$/,
    /^last +1 line could not be read$/,
    '',
  ])
})

t.test('a daemon that has not answered once is not waited for as long again', async t => {
  const late = new Problem('IPK_DAEMON_TIMEOUT', 'the daemon did not answer')
  const began = performance.now()
  const reports = await collectParts(site, {
    ...quiet,
    parts: [
      part('status', { asksDaemon: true, collect: () => Promise.reject(late) }),
      part('audit', { asksDaemon: true, collect: hangs }),
    ],
  })
  t.equal(reports[1]?.missing, 'the daemon did not answer within 3 s')
  t.ok(performance.now() - began < 40_000)
})

t.test('secrets of one part are in no other', async t => {
  const reports = await collectParts(site, {
    ...quiet,
    parts: [
      part('log', {
        collect: () => Promise.resolve({ files: [{ name: 'log.txt', text: '"hunter2" is no path' }] }),
      }),
      part('config', {
        collect: () => Promise.resolve({ files: [], secrets: ['hunter2'], notes: ['hunter2'] }),
      }),
      part('audit', { collect: () => Promise.reject(missing('hunter2 is no path')) }),
    ],
  })
  const clean = shareableReports(reports)
  t.equal(clean[0]?.collected.files[0]?.text, '"(removed)" is no path')
  t.equal(clean[2]?.missing, '(removed) is no path')
  t.notMatch(JSON.stringify(clean), /hunter2/)
})

t.test('Ctrl-C while a part hangs', async t => {
  const interruption = new AbortController()
  const collected = collectParts(site, {
    ...{ ...quiet, signal: interruption.signal },
    parts: [part('hangs', { collect: hangs }), part('never', {})],
    onBegin: () => {
      setImmediate(() => {
        interruption.abort()
      })
    },
    onEnd: () => t.fail('it has not ended'),
  })
  t.match(await thrownProblem(() => collected), { code: 'IPK_INTERRUPTED' })
})

t.test('what is written, and what is left where it is not', async t => {
  const folder = tempFolder(t)
  const path = folder.file('b.tar.gz')
  const reports = await collectParts(site, { ...quiet, parts: [part('first', {})] })
  const made = { manifest: manifestOf('n1', 0, reports, {}), reports }
  const left = (): readonly string[] => readdirSync(folder.path)
  const interruption = new AbortController()
  const afterWriting: typeof open = async (...args) => {
    interruption.abort()
    return await open(...args)
  }
  t.match(
    await thrownProblem(() =>
      writeBundle(path, 'b', made, interruption.signal, { open: afterWriting, rename, unlink }),
    ),
    { code: 'IPK_INTERRUPTED' },
  )
  t.strictSame(left(), [], 'interrupted while it was written')
  const full = (): Promise<never> => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
  t.match(
    await thrownProblem(() => writeBundle(path, 'b', made, undefined, { open, rename: full, unlink })),
    { code: 'IPK_REQUEST_INVALID', message: `${path} cannot be written (ENOSPC)`, hint: /free space/ },
  )
  t.strictSame(left(), [], 'a full disk')
  const meanwhile: typeof open = async (...args) => {
    writeFileSync(path, 'of somebody else')
    return await open(...args)
  }
  t.match(
    await thrownProblem(() => writeBundle(path, 'b', made, undefined, { open: meanwhile, rename, unlink })),
    { message: `${path} exists already` },
  )
  t.equal(readFileSync(path, 'utf8'), 'of somebody else')
  t.strictSame(left(), ['b.tar.gz'])
  const second = folder.file('c.tar.gz')
  writeFileSync(`${second}.unfinished`, 'x')
  t.match(await thrownProblem(() => writeBundle(second, 'c', made)), {
    hint: /c\.tar\.gz\.unfinished is being/,
  })
  t.ok(existsSync(`${second}.unfinished`), 'it is not ours')
  const third = folder.file('d.tar.gz')
  t.equal(await writeBundle(third, 'd', made), statSync(third).size)
  t.equal(statSync(third).mode & 0o777, 0o600)
  t.match(gunzipSync(readFileSync(third)).toString(), /^d\/\0[^]*MANIFEST\.txt[^]*first\.txt/)
})

t.test('targets that are refused before anything is collected', async t => {
  const folder = tempFolder(t)
  mkdirSync(folder.file('there'))
  t.match(
    await thrownProblem(() => {
      checkTarget(folder.file('there'))
    }),
    { message: /exists already$/ },
  )
  t.match(
    await thrownProblem(() => {
      checkTarget(folder.file('none/b'))
    }),
    { hint: /^there is no folder .*none: create it/ },
  )
})

t.test('names from outside', t => {
  t.equal(safeName('10-a.conflist', 0), '10-a.conflist')
  t.equal(safeName('10 a\n.conflist', 0), '10_a_.conflist~1')
  t.equal(safeName('../x', 1), '__x~2')
  t.equal(safeName('n'.repeat(255), 2), `${'n'.repeat(60)}~3`)
  t.equal(nodeWord('../n1/é'), '_n1__')
  t.equal(nodeWord('...'), 'node')
  t.end()
})
