/** What runtimes, shells and mistakes put on stdin: every kind of file, every kind of content, and no end of it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { startProcess } from '../rigs/plugin-process.ts'
import {
  configFor,
  each,
  environmentOf,
  failsProperly,
  folder,
  good,
  listenFor,
  newPath,
  plugin,
  result,
  runVerb,
  succeeds,
  verbs,
  type Expected,
} from '../rigs/plugin-under-fault.ts'
import { findProgram } from '../rigs/find-program.ts'
import { missing, optionalSkip } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'

const skip = missing('executables')

const versionDocument = { cniVersion: '1.1.0', supportedVersions }

t.test('what stdin is', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const file = newPath()
  writeFileSync(file, JSON.stringify(configFor(daemon.path)))
  const aFolder = newPath()
  mkdirSync(aFolder)
  const emptyFile = newPath()
  writeFileSync(emptyFile, '')
  /** Undefined: the configuration arrives. */
  const kinds: readonly [name: string, script: string, fault?: Expected][] = [
    ['a pipe', 'cat | exec "$0"'],
    ['a file', `exec "$0" <${file}`],
    ['a file, open for writing as well', `exec "$0" <>${file}`],
    ['a fifo', `f=$(mktemp -u ${folder.path}/XXXXXX); mkfifo $f; cat ${file} >$f & exec "$0" <$f`],
    ['closed', 'exec "$0" <&-', { code: 5, msg: 'error reading from stdin: bad file descriptor' }],
    ['a folder', `exec "$0" <${aFolder}`, { code: 5, msg: /^error reading from stdin: / }],
    ['/dev/null', 'exec "$0" </dev/null', { code: 6 }],
    ['an empty file', `exec "$0" <${emptyFile}`, { code: 6 }],
    ['/dev/zero', 'exec "$0" </dev/zero', { code: 5, msg: /more than 16777216 bytes/ }],
    ['open for writing only', `exec "$0" 0>${newPath()}`, { code: 5, msg: /^error reading from stdin: / }],
  ]
  const runs = kinds.flatMap(kind => [...verbs, 'VERSION'].map(verb => [kind, verb] as const))
  await each(runs, async ([[kind, script, fault], verb]) => {
    const name = `${verb}, ${kind}`
    const config = configFor(daemon.path)
    const finished = await runVerb(verb, config, { by: ['/bin/sh', '-c', script] })
    if (verb === 'VERSION') succeeds(t, name, finished, versionDocument)
    else if (fault) failsProperly(t, name, finished, fault)
    else succeeds(t, name, finished, verb === 'ADD' ? result : undefined)
  })
})

t.test('a socket', { skip }, async t => {
  const daemon = await listenFor(t, good)
  // What spawn makes for "pipe" is a pair of sockets.
  succeeds(t, 'ADD', await startProcess('ADD', configFor(daemon.path)).finished, result)
})

const noTerminal = findProgram('script') === undefined && `${optionalSkip}needs script (util-linux)`
t.test('a terminal', { skip: skip || noTerminal }, async t => {
  const daemon = await listenFor(t, good)
  const printed = newPath()
  // What is typed appears on the terminal, so the answer goes elsewhere.
  const finished = await runProgram('script', ['-qec', `exec ${plugin} >${printed}`, '/dev/null'], {
    input: `${JSON.stringify(configFor(daemon.path))}\n\u0004`,
    env: environmentOf('ADD'),
  })
  t.equal(finished.exit, 0)
  t.same(JSON.parse(readFileSync(printed, 'utf8')), result)
})

t.test('what is on it', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const plain = JSON.stringify(configFor(daemon.path, { timeout: 60 }))
  const inside = plain.slice(0, -1)
  const deep = 100_000
  const contents: readonly [name: string, input: string | Buffer, fault?: Expected][] = [
    ['10 MB', `${inside},"padding":"${'x'.repeat(10_000_000)}"}`],
    ['a key of 5 MB', `${inside},"${'k'.repeat(5_000_000)}":1}`],
    [
      'a million keys',
      `${inside},"more":{${Array.from({ length: 300_000 }, (_, n) => `"${n}":0`).join(',')}}}`,
    ],
    ['a list in a list, 100,000 times', `${inside},"deep":${'['.repeat(deep)}${']'.repeat(deep)}}`],
    [
      'an object in an object, 100,000 times',
      `${inside},"deep":${'{"a":'.repeat(deep)}0${'}'.repeat(deep)}}`,
    ],
    ['escaped NULs', `${inside},"nul":"a\\u0000b"}`],
    ['half a character', `${inside},"half":"a\\ud800b"}`],
    [
      'bytes that are no UTF-8, in a string',
      Buffer.concat([Buffer.from(`${inside},"x":"`), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ['blanks around it', `\r\n\t ${plain} \n`],
    ['17 MB', 'x'.repeat(17 * 1024 * 1024), { code: 5, msg: /more than 16777216 bytes/ }],
    ['17 MB of blanks', Buffer.alloc(17 * 1024 * 1024, ' '), { code: 5 }],
    ['lists without an end', '['.repeat(deep), { code: 6 }],
    ['15 MB of lists without an end', '['.repeat(15_000_000), { code: 6, msg: /a fault behind the first/ }],
    [
      '15 MB of a list without an end',
      `[${'1,'.repeat(7_500_000)}`,
      { code: 6, msg: /a fault behind the first/ },
    ],
    ['objects without an end', '{"a":'.repeat(deep), { code: 6 }],
    ['a list 100,000 deep', '['.repeat(deep) + ']'.repeat(deep), { code: 6, msg: /must be an object, not/ }],
    ['binary', Buffer.from([0, 1, 2, 0x7b, 0xff, 0, 0x80]), { code: 6 }],
    ['NUL bytes', Buffer.alloc(100_000), { code: 6 }],
    ['NULs after it', `${plain}\u0000\u0000`, { code: 6 }],
    ['a byte order mark', `\ufeff${plain}`, { code: 6 }],
    ['UTF-16', Buffer.from(plain, 'utf16le'), { code: 6 }],
    ['half of it', plain.slice(0, -5), { code: 6 }],
    ['two of them', plain + plain, { code: 6 }],
    ['YAML', 'cniVersion: 1.1.0\nname: fixed\n', { code: 6 }],
    ['a number', '7', { code: 6 }],
    ['null', 'null', { code: 7 }],
    ['nothing', '', { code: 6 }],
  ]
  await each(
    contents,
    async ([name, input, fault]) => {
      const finished = await runVerb('ADD', input)
      if (fault) failsProperly(t, name, finished, fault)
      else succeeds(t, name, finished, result)
    },
    2,
  )
})

t.test('a stdin that never ends', { skip }, async t => {
  const limits = [
    ['STATUS', 2],
    ['CHECK', 10],
    ['DEL', 10],
    ['GC', 15],
  ] as const
  const endless = async (command: string, ended: (ms: number) => void) => {
    const run = startProcess(command)
    run.child.stdin?.write('{"cniVersion":')
    const finished = await run.finished
    ended(finished.ms)
    return finished
  }
  await Promise.all([
    ...limits.map(async ([verb, seconds]) => {
      const finished = await endless(verb, ms =>
        t.ok(ms >= seconds * 1000 - 100 && ms < seconds * 1000 + 10_000, `${verb} ended after ${ms} ms`),
      )
      failsProperly(t, verb, finished, {
        code: 5,
        msg: `error reading from stdin: no end of it within ${seconds} s`,
      })
    }),
    endless('VERSION', ms => t.ok(ms < 10_000, `VERSION ended after ${ms} ms`)).then(finished => {
      succeeds(t, 'VERSION', finished, versionDocument)
    }),
  ])
})

t.test('a writer that takes its time', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const run = startProcess('ADD')
  for (const piece of JSON.stringify(configFor(daemon.path)).match(/.{1,40}/g) ?? []) {
    run.child.stdin?.write(piece)
    await delay(20)
  }
  run.child.stdin?.end()
  succeeds(t, 'ADD', await run.finished, result)
})
