/** Whom the kernel hears answer for an address: what `ip` prints, and what is made of it. The real thing: test/main-plugin/dead-node.test.ts. */
import t from 'tap'
import { whoAnswers } from '../../../../ipkeeper-server/network/node/link-answers.ts'
import type { RunTool } from '../../../../ipkeeper-server/network/run-tool.ts'

const mac = '0a:58:00:00:00:01'
const onLink = [{ dst: '10.30.0.5', dev: 'eth0', prefsrc: '10.30.0.1' }]

interface Case {
  readonly route?: unknown
  /** What the table of neighbours has, look by look. */
  readonly neighbours?: readonly unknown[]
  readonly refuses?: string
  readonly answers?: string
}

const cases: Readonly<Record<string, Case>> = {
  'somebody answers': {
    neighbours: [[], [{ state: ['INCOMPLETE'] }], [{ lladdr: mac, state: ['REACHABLE'] }]],
    answers: mac,
  },
  'nobody does': { neighbours: [[{ state: ['INCOMPLETE'] }], [{ state: ['FAILED'] }]] },
  'an entry that is not confirmed says nothing': {
    neighbours: [[{ lladdr: mac, state: ['STALE'] }], [{ lladdr: mac, state: ['FAILED'] }]],
  },
  'behind a router': { route: [{ dst: '10.40.0.5', gateway: '10.30.0.254', dev: 'eth0' }] },
  'an address of this node': { route: [{ type: 'local', dst: '10.30.0.1', dev: 'lo' }] },
  'no route': { route: [] },
  'the kernel does not take it': { refuses: 'replace' },
}

for (const [name, { route = onLink, neighbours = [], refuses, answers }] of Object.entries(cases))
  t.test(name, async t => {
    let looks = 0
    const run: RunTool = async ({ args }) => {
      const [exit, found] = args.includes('get')
        ? [0, route]
        : args.includes('show')
          ? [0, neighbours[looks++]]
          : [refuses !== undefined && args.includes(refuses) ? 2 : 0, []]
      return await Promise.resolve({ exit, stdout: JSON.stringify(found), stderr: '' })
    }
    t.equal(await whoAnswers(run, '10.30.0.5'), answers)
    t.equal(looks, neighbours.length)
  })

t.test('where ip is missing, nothing is found out', async t => {
  t.equal(await whoAnswers(() => Promise.reject(new Error('no ip')), 'fd00:30::5'), undefined)
})
