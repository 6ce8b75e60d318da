import t from 'tap'
import {
  importLine,
  nextAfterImport,
  type ImportOutcome,
} from '../../../../ipkeeper-server/cli/commands/import-next.ts'

const none = { adopt: 0, ours: 0, conflict: 0, unfit: 0, gone: 0, elsewhere: 0, unreadable: 0 }
const line = 'ipkeeperctl import calico --file list.json'

const rows: readonly (readonly [
  what: string,
  counts: Partial<ImportOutcome['counts']>,
  how: Partial<ImportOutcome>,
  says: RegExp,
])[] = [
  [
    'before anything is adopted',
    { adopt: 2 },
    {},
    /^next: ipkeeperctl import calico --file list\.json --apply$/,
  ],
  ['also where some are in conflict', { adopt: 2, conflict: 1 }, {}, /list\.json --apply$/],
  ['all is adopted', { adopt: 2 }, { applied: true }, /^next: change "ipam\.type"/],
  [
    'all was adopted before',
    { ours: 2, gone: 3, elsewhere: 1 },
    { applied: true },
    /^next: change "ipam\.type"/,
  ],
  ['and what is left fits no pool', { ours: 2, unfit: 1 }, { applied: true }, /^next: change "ipam\.type"/],
  [
    'one is in conflict',
    { ours: 2, conflict: 1 },
    { applied: true },
    /leave "ipam\.type".* an address above could be given.*--apply$/,
  ],
  [
    'some cannot be read',
    { adopt: 2, unreadable: 2 },
    { applied: true },
    /leave "ipam\.type".* 2 addresses above/,
  ],
  [
    'it only looks, and one is in conflict',
    { conflict: 1 },
    {},
    /then: ipkeeperctl import calico --file list\.json$/,
  ],
  ['nothing was found', {}, { applied: true }, /^nothing to adopt: check that/],
  ['what was found has ended', { gone: 4 }, { applied: true }, /^nothing to adopt/],
  [
    'interrupted',
    { adopt: 1, conflict: 1 },
    { applied: true, interrupted: true },
    /to resume: .*list\.json --apply$/,
  ],
]

for (const [what, counts, how, says] of rows)
  t.test(what, t => {
    const outcome = { counts: { ...none, ...counts }, applied: false, interrupted: false, ...how }
    t.match(nextAfterImport(outcome, line), says)
    t.end()
  })

t.test('the command again, as a shell takes it', t => {
  const args = { positionals: [], options: { dir: '/a b', network: 'cbr0' }, flags: new Set(['apply']) }
  t.equal(importLine('host-local', args), "ipkeeperctl import host-local --dir '/a b' --network cbr0")
  t.end()
})
