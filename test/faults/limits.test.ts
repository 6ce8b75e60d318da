/** A process that may do little, and a machine of which parts are missing. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  configFor,
  each,
  failsProperly,
  folder,
  good,
  isQueued,
  listenFor,
  newPath,
  plugin,
  result,
  runVerb,
  succeeds,
  verbs,
  type RunOptions,
} from '../rigs/plugin-under-fault.ts'
import { isStaticPlugin, missing } from '../rigs/requirements.ts'
import type { Finished } from '../rigs/run-program.ts'

const skip = missing('executables')
const privileged = missing('executables', 'namespaces')

type By = NonNullable<RunOptions['by']>
const limited = (...limits: readonly string[]): By => ['prlimit', ...limits]
const inPrivateMounts = (script: string): By => ['unshare', '--mount', '/bin/sh', '-c', script]
const nobody: By = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

/** Node could not start: nothing on stdout, and an end that no runtime takes for a success. */
function endsWithoutAWord(t: Test, name: string, finished: Finished): void {
  t.equal(finished.stdout, '', `${name}: nothing on stdout`)
  t.not(finished.exit, 0, `${name}: not a success`)
}

t.test('file descriptors: an answer, an error, or nothing', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const numbers = [64, 32, ...Array.from({ length: 12 }, (_, n) => 28 - n), 10, 4, 1, 0]
  await each(numbers, async number => {
    for (const verb of ['ADD', 'DEL'] as const) {
      const name = `${verb} with ${number}`
      const finished = await runVerb(verb, configFor(daemon.path), { by: limited(`--nofile=${number}`) })
      if (number >= 24) succeeds(t, name, finished, verb === 'ADD' ? result : undefined)
      else if (finished.stdout === '' && finished.exit !== 0) endsWithoutAWord(t, name, finished)
      else if (finished.exit === 0) succeeds(t, name, finished, verb === 'ADD' ? result : undefined)
      else failsProperly(t, name, finished, { code: 11 })
    }
  })
})

t.test('memory, stack, time, files, threads', { skip }, async t => {
  const daemon = await listenFor(t, good)
  type End = 'answers' | 'nothing'
  const rows: readonly [name: string, by: By, withNode: End, withoutNode?: End][] = [
    ['1.3 GB of address space', limited('--as=1300000000'), 'answers'],
    ['1 GB of address space', limited('--as=1000000000'), 'nothing', 'answers'],
    ['20 MB of address space', limited('--as=20000000'), 'nothing', 'answers'],
    ['100 MB of data', limited('--data=100000000'), 'nothing', 'answers'],
    ['256 kB of stack', limited('--stack=256000'), 'answers'],
    ['no core dumps', limited('--core=0'), 'answers'],
    ['no locked memory', limited('--memlock=0'), 'answers'],
    ['no growing files', limited('--fsize=0'), 'answers'],
    ['no pending signals', limited('--sigpending=0'), 'answers'],
    ['no message queues', limited('--msgqueue=0'), 'answers'],
    ['the lowest priority', ['nice', '-n', '19'], 'answers'],
  ]
  await each(rows, async ([name, by, withNode, withoutNode = withNode]) => {
    const outcome = isStaticPlugin ? withoutNode : withNode
    for (const verb of ['ADD', 'STATUS'] as const) {
      const finished = await runVerb(verb, configFor(daemon.path), { by })
      if (outcome === 'answers')
        succeeds(t, `${verb}, ${name}`, finished, verb === 'ADD' ? result : undefined)
      else endsWithoutAWord(t, `${verb}, ${name}`, finished)
    }
  })
})

t.test('a queue that takes no DEL', { skip }, async t => {
  const aFile = newPath()
  writeFileSync(aFile, '')
  const full = newPath()
  const queue = join(full, 'deferred-dels')
  mkdirSync(queue, { recursive: true })
  for (let nth = 0; nth < 10_000; nth++) writeFileSync(join(queue, String(nth)), '')
  const rows: readonly [name: string, stateDir: string, msg: RegExp, by?: By][] = [
    ['no file may grow', newPath(), /cannot be queued in .* \(EFBIG\)/, limited('--fsize=0')],
    ['the folder is a file', aFile, /cannot be queued in .* \(ENOTDIR\)/],
    ['its parent does not exist', join(newPath(), 'state'), /cannot be queued in .* \(ENOENT\)/],
    ['below /proc', '/proc/ipkeeper', /cannot be queued in .* \(E[A-Z]+\)/],
    ['/dev/full', '/dev/full', /cannot be queued in .* \(ENOTDIR\)/],
    ['it is full', full, /is full \(10000\)/],
    ['a path that is too long', `/${'x'.repeat(5000)}`, /cannot be queued in .* \(ENAMETOOLONG\)/],
  ]
  await each(rows, async ([name, stateDir, msg, by]) => {
    const finished = await runVerb('DEL', configFor(newPath(), { stateDir }), by && { by })
    failsProperly(t, name, finished, { code: 11, msg, details: /IPK_DEL_NOT_QUEUED/ })
  })
})

t.test('a state folder that is read-only, or full', { skip: privileged }, async t => {
  const state = newPath()
  mkdirSync(state)
  const rows: readonly [name: string, mount: string, msg: RegExp][] = [
    ['read-only', `mount -t tmpfs -o ro tmpfs ${state}`, /\(EROFS\)/],
    ['full', `mount -t tmpfs -o size=16k tmpfs ${state}; head -c 1M /dev/zero >${state}/full`, /\(ENOSPC\)/],
  ]
  for (const [name, mount, msg] of rows) {
    const by = inPrivateMounts(`${mount}; exec "$0"`)
    failsProperly(t, name, await runVerb('DEL', configFor(newPath(), { stateDir: state }), { by }), {
      code: 11,
      msg,
      details: /IPK_DEL_NOT_QUEUED/,
    })
  }
})

t.test('somebody who is not root', { skip: privileged }, async t => {
  const daemon = await listenFor(t, good)
  chmodSync(folder.path, 0o711)
  chmodSync(daemon.path, 0o600)
  for (const verb of verbs) {
    const finished = await runVerb(verb, configFor(daemon.path, { stateDir: join(folder.path, 'nobody') }), {
      by: nobody,
    })
    failsProperly(t, verb, finished, {
      code: verb === 'STATUS' ? 50 : 11,
      msg: verb === 'DEL' ? /cannot be queued in .* \(EACCES\)/ : /permission denied/,
    })
  }
  t.equal(daemon.accepted(), 0)
  const noThreads = await runVerb('ADD', configFor(daemon.path), { by: ['prlimit', '--nproc=1', ...nobody] })
  endsWithoutAWord(t, 'no threads', noThreads)
})

t.test('parts of the machine are missing', { skip: privileged }, async t => {
  const daemon = await listenFor(t, good)
  const gone = newPath()
  const rows: readonly [name: string, by: By][] = [
    ['no /proc', inPrivateMounts('umount -l /proc && exec "$0"')],
    ['an empty /proc', inPrivateMounts('mount -t tmpfs -o ro tmpfs /proc && exec "$0"')],
    ['no /dev', inPrivateMounts('mount -t tmpfs -o ro tmpfs /dev && exec "$0"')],
    ['no /sys', inPrivateMounts('mount -t tmpfs -o ro tmpfs /sys && exec "$0"')],
    ['a root that is read-only', inPrivateMounts('mount -o remount,bind,ro / && exec "$0"')],
    [
      'no working directory',
      ['/bin/sh', '-c', `mkdir -p ${gone} && cd ${gone} && rmdir ${gone} && exec "$0"`],
    ],
  ]
  await each(rows, async ([name, by]) => {
    for (const verb of verbs) {
      const finished = await runVerb(verb, configFor(daemon.path), { by })
      // Its state folder too: what cannot be marked as answered is not answered.
      if (verb === 'ADD' && name.includes('read-only'))
        failsProperly(t, `${verb}, ${name}`, finished, {
          code: 11,
          msg: /cannot be noted in .*\/answered \(EROFS\)/,
          details: /IPK_ANSWER_UNMARKED/,
        })
      else succeeds(t, `${verb}, ${name}`, finished, verb === 'ADD' ? result : undefined)
    }
    const without = await runVerb('CHECK', configFor(newPath(), { timeout: 0.2 }), { by })
    failsProperly(t, `no daemon, ${name}`, without, { code: 11, msg: /there is no such socket/ })
  })
  const stateDir = newPath()
  const queued = await runVerb('DEL', configFor(newPath(), { stateDir }), { by: rows[0]?.[1] ?? [plugin] })
  isQueued(t, 'a DEL without /proc', queued, stateDir)
})
