import t from 'tap'
import {
  judgeFile,
  type CacheKnowledge,
  type KnownAttachment,
  type SeenFile,
  resultFileName,
  sandboxOfName,
  usualContainerId,
} from '../../../../ipkeeper-server/result-cache/plan/judge-file.ts'

const id = 'cd'.repeat(32)
const [boot, now] = [1_000_000, 10_000_000]
const attachment: KnownAttachment = { network: 'ours', containerId: id, ifname: 'eth0', busy: false }
const name = resultFileName(attachment)
const empty: SeenFile['content'] = {
  state: 'read',
  content: { fault: { reason: 'zero-byte', detail: 'empty' }, sandbox: {} },
}
const whole: SeenFile['content'] = { state: 'read', content: { sandbox: { containerId: id } } }
const legacy: SeenFile['content'] = { state: 'read', content: { sandbox: {} } }

const file = (changes: Partial<SeenFile> = {}): SeenFile => ({
  ...{ kind: 'results', name, network: undefined, content: empty },
  ...{ changedAt: now - 5_000, modifiedAt: now - 5_000, watchedFor: 0, restlessFor: 0 },
  ...changes,
})
const knowing = (changes: Partial<CacheKnowledge> = {}): CacheKnowledge => ({
  ...{ attachments: new Map(), containers: new Set(), recordsKnown: true },
  ...{ isOwnNetwork: network => network === 'ours', networks: new Set() },
  ...{ sandboxes: undefined, bootedAt: boot, now, orphanAge: 300_000 },
  ...changes,
})
const ourOwn = (busy = false): Partial<CacheKnowledge> => ({
  attachments: new Map([[name, { ...attachment, busy }]]),
  containers: new Set([id]),
})
const old = { changedAt: now - 300_000, modifiedAt: now - 300_000 }
const beforeBoot = { changedAt: boot - 1, modifiedAt: boot - 1 }
const others = { sandboxes: new Set(['another']) }

const cases: readonly (readonly [what: string, file: SeenFile, known: CacheKnowledge, expected: string])[] = [
  ['empty, and quiet for 5 s', file(), knowing(), 'zero-byte own'],
  ['empty, quiet for less', file({ changedAt: now - 4_000 }), knowing(), 'wait 1000'],
  ['its clock is ahead', file({ changedAt: now + 60_000 }), knowing(), 'wait 5000'],
  [
    'its clock is ahead, and it was watched',
    file({ changedAt: now + 60_000, watchedFor: 5_000 }),
    knowing(),
    'zero-byte own',
  ],
  ['whole and new: nothing to wait for', file({ changedAt: now, content: whole }), knowing(), 'good'],
  ['it changes while it is read', file({ content: { state: 'moving' } }), knowing(), 'wait 100'],
  [
    'it changes for a minute',
    file({ content: { state: 'moving' }, restlessFor: 60_000 }),
    knowing(),
    'changing own',
  ],
  [
    'it is empty, and written to for a minute',
    file({ changedAt: now, restlessFor: 60_000 }),
    knowing(),
    'changing own',
  ],
  ['of an attachment at rest', file(), knowing(ourOwn()), 'zero-byte own attached'],
  ['an ADD or DEL of it is under way', file(), knowing(ourOwn(true)), 'wait 1000'],
  ['of a network of ours without attachment', file(), knowing(), 'zero-byte own'],
  ["of another plugin's network", file({ name: `theirs-${id}-eth0` }), knowing(), 'zero-byte'],
  [
    'two attachments of one name',
    file(),
    knowing({ attachments: new Map([[name, 'several']]) }),
    'zero-byte own',
  ],
  [
    'a link',
    file({ content: { state: 'odd', reason: 'symlink', detail: '' }, changedAt: now }),
    knowing(),
    'symlink own',
  ],
  ['whole, and nobody to ask', file({ ...old, content: whole }), knowing(), 'good'],
  ['orphan', file({ ...old, content: whole }), knowing(others), 'orphan own'],
  ['orphan by its name', file({ ...old, content: legacy }), knowing(others), 'orphan own'],
  [
    'a guess at a name proves nothing',
    file({ ...old, content: legacy, name: 'net-c1-eth0' }),
    knowing(others),
    'good',
  ],
  ['not yet an orphan', file({ ...old, modifiedAt: now - 299_000, content: whole }), knowing(others), 'good'],
  ['the runtime knows it', file({ ...old, content: whole }), knowing({ sandboxes: new Set([id]) }), 'good'],
  [
    'an empty list proves nothing',
    file({ ...old, content: whole }),
    knowing({ sandboxes: new Set() }),
    'good',
  ],
  ['we know it', file({ ...old, content: whole }), knowing({ ...others, ...ourOwn() }), 'good'],
  [
    'the records are not known',
    file({ ...old, content: whole }),
    knowing({ ...others, recordsKnown: false }),
    'good',
  ],
  ['from before the boot', file({ ...beforeBoot, content: whole }), knowing(), 'stale-boot own'],
  [
    'from before the boot, and the runtime knows it',
    file({ ...beforeBoot, content: whole }),
    knowing({ sandboxes: new Set([id]) }),
    'good',
  ],
  [
    'from before the boot, and we know it',
    file({ ...beforeBoot, content: whole }),
    knowing(ourOwn()),
    'good',
  ],
  [
    'from before the boot, but touched a moment ago',
    file({ changedAt: now - 1_000, modifiedAt: boot - 1, content: whole }),
    knowing(),
    'wait 4000',
  ],
  ['empty goes before stale', file({ ...beforeBoot }), knowing(), 'zero-byte own'],
  [
    "flannel's, from before the boot",
    file({ ...beforeBoot, kind: 'flannel', name: id, content: whole }),
    knowing(),
    'stale-boot',
  ],
  [
    'a reservation of host-local in a network of ours is no file of ours',
    file({ kind: 'hostLocal', name: '10.0.0.2', network: 'ours' }),
    knowing(),
    'zero-byte',
  ],
]

t.test('what is said of a file, and when', t => {
  for (const [what, seen, known, expected] of cases) {
    const verdict = judgeFile(seen, known)
    const got =
      verdict.state === 'wait'
        ? `wait ${verdict.milliseconds}`
        : verdict.state === 'good'
          ? 'good'
          : [verdict.reason, verdict.own && 'own', verdict.attachment && 'attached'].filter(Boolean).join(' ')
    t.equal(got, expected, what)
  }
  t.end()
})

const sandboxId = 'ab'.repeat(32)

t.test('whose result a name speaks of', t => {
  const cases: readonly (readonly [
    name: string,
    networks: readonly string[],
    expected: readonly string[] | undefined,
  ])[] = [
    [`fixed-${sandboxId}-eth0`, [], ['fixed', sandboxId, 'eth0']],
    [`my-own-net-${sandboxId}-eth-1`, [], ['my-own-net', sandboxId, 'eth-1']],
    ['fixed-c1-eth0', [], ['fixed', 'c1', 'eth0']],
    ['my-net-cnitool-77-eth0', ['my', 'my-net'], ['my-net', 'cnitool-77', 'eth0']],
    ['my-net-c1-eth0', [], ['my', 'net-c1', 'eth0']],
    ['nothing', [], undefined],
    ['-c1-eth0', [], undefined],
    ['a-b', [], undefined],
    ['net-c\n1-eth0', [], undefined],
    ['net-c1-an-interface-name-that-is-too/long', [], undefined],
    ['', [], undefined],
  ]
  for (const [name, networks, expected] of cases) {
    const { network, containerId, ifname } = sandboxOfName(name, networks)
    t.strictSame(
      network === undefined ? undefined : [network, containerId, ifname],
      expected,
      JSON.stringify(name),
    )
  }
  t.end()
})

t.test('a container ID that nothing else can be taken for', t => {
  t.equal(usualContainerId(`fixed-${sandboxId}-eth0`), sandboxId)
  t.equal(usualContainerId('fixed-c1-eth0'), undefined)
  t.end()
})

t.test('the name that libcni gives', t => {
  t.equal(resultFileName({ network: 'a-b', containerId: 'c', ifname: 'eth0' }), 'a-b-c-eth0')
  t.end()
})
